"""Events for receivers: written with the change that causes them, sent within minutes."""
