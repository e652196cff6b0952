"""`rules`: the saved rules of a version, in files."""
