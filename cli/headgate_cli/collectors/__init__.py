"""`collector list`: the collector versions of the server."""
