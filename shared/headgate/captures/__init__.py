"""Captures: a bounded sample of what passes a component of a host's collector, without secrets."""
