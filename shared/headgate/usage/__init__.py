"""Where configurations are used, and what that forbids."""
