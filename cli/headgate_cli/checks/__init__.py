"""`validate` and `lint`: the errors in files, with their places."""
