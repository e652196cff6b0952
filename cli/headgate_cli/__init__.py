"""The command line of Headgate. It talks HTTP and knows nothing of the server's code."""
