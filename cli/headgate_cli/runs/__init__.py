"""`test`: pipeline tests, from a sample to the result of each rule."""
