"""`instance`: one host, what it runs and what happened on it."""
