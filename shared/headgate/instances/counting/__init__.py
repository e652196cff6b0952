"""How many instances are in which state, and what a rollout counts on one of them."""
