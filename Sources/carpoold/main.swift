print("carpoold")
