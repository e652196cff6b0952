"""What another collector version would change for a configuration, asked of both versions before anything is moved."""
