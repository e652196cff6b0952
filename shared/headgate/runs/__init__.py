"""Pipeline tests: a sample through a pipeline of a real collector, and rules on what comes out."""
