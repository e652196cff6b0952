"""`headgate policy`: which policies count, and an organization's own rules."""
