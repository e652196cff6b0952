"""Headgate's domain: one folder per concept, plain Python; only `http/` knows a web framework."""
