"""The checks, a module for each section of the report."""
