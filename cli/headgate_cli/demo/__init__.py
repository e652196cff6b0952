"""`headgate demo`: an organization filled with examples, and emptied of them again."""
