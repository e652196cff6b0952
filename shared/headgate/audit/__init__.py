"""Who changed what, when, and from which credential: an append-only record per organization."""
