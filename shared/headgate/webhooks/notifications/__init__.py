"""From what happened to who is told: the sweep of each minute, and what it reads of the concepts."""
