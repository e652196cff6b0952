"""Reference of each component and OTTL context of a collector version, from its binary."""
