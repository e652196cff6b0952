"""Validation rules: what a pipeline's output has to look like, kept with a version, a set for each pipeline."""
