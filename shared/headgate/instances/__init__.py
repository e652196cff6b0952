"""Collector instances: what they last said, what they are to run, and how many are in which state."""
