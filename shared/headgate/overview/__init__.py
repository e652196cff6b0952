"""The overview: everything that needs somebody now, gathered from the other concepts and not stored."""
