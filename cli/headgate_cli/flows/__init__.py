"""`flow`: the gallery."""
