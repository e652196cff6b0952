"""What needs somebody now, gathered from the other concepts. Nothing of it is stored."""
