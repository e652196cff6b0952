"""`headgate apply`: an organization that is equal to a folder."""
