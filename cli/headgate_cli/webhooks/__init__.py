"""`headgate webhook`: who is told of events."""
