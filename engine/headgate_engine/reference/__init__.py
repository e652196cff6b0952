"""What each component and OTTL context of a collector version takes, as its binary tells it."""
