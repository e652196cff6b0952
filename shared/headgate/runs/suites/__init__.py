"""Tests of a version by name, what each says, and the suites that run them."""
