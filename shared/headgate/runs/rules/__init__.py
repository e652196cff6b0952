"""Validation rules: conditions on a pipeline's output, stored with a version, one set for each pipeline."""
