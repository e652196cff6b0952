"""`headgate capture`."""
