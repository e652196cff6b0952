"""`validate` and `lint`: what is wrong with files, and where."""
