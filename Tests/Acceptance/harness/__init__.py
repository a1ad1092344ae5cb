"""What starts the programs under test and speaks to them."""
