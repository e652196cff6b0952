"""Builds the collector of this folder, and installs official releases next to it. It needs only Python."""
