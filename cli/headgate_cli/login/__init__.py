"""`login`, `logout`, `whoami`: signing in with a browser, with a pasted code or with a token."""
