"""What the tests of a configuration notice: `test coverage`."""
