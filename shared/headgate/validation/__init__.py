"""Validating collector configurations and linting their OTTL, both by the real collector."""
