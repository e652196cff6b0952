"""`test`: pipeline tests, from a sample to the verdict of each rule."""
