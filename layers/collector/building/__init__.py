"""Builds the collector of this folder, and installs official releases beside it. Needs nothing but Python."""
