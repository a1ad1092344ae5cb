"""Starts the programs under test, and talks to them."""
