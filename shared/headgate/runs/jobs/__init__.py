"""Jobs: many cases in one task, each a sample through a pipeline of a real collector, and one document on them."""
