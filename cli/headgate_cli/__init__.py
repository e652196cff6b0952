"""The command line of Headgate. It talks HTTP and knows nothing of the server's code."""

# Written in pyproject.toml too, which a test compares: asking the installed package takes a quarter of a start.
VERSION = "0.1.0"
