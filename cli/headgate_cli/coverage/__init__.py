"""Coverage of a configuration by its tests: `test coverage`."""
