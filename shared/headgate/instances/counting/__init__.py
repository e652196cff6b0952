"""Counters of instances by state, and a rollout's counts on one of them."""
