"""`config`: configurations and their versions, and folders of files that are in step with them."""
