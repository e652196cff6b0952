"""What an instance is to run, what it is offered for it, and how that ended."""
