"""What an agent reports of itself and its host, and who may report as it."""
