"""What happened that somebody may have to know: written with the change, sent within minutes."""
