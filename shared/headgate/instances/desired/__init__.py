"""The desired version of an instance, its offers, and their results."""
