"""`component`, `schema` and `ottl`: what a collector version takes."""
