"""Collector configurations and their numbered versions, drafts and published ones."""
