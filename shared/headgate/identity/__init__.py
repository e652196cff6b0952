"""Callers: organizations, service accounts, their tokens, and the permissions of a credential."""
