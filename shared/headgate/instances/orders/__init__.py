"""Orders of people to one host, and their results."""
