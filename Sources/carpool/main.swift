print("carpool")
