"""The state that follows from what an instance reported and is to run."""
