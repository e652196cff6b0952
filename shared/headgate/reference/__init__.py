"""Reference: what each component of a collector build takes, and what OTTL offers in each context."""
