"""Policies: what is valid in a configuration and still wrong, and what an organization makes of it."""
