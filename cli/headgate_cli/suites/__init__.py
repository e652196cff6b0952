"""`test suite`: the tests of a configuration, in files and on the server."""
