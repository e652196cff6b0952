"""Getting a session: in a browser that this command waits for, or with a code pasted from any browser."""
