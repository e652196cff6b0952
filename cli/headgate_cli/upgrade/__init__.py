"""`upgrade`: what another collector version changes, the renames that it wants, and the version that breaks a file."""
