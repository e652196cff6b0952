"""Reports of agents about themselves and their hosts, and the keys that prove who reports."""
