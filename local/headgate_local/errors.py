"""Reasons why the local service does not start."""


class CannotStart(Exception):
    """A problem that a person must solve first. Its text is one line: what is wrong, where, and the way out."""
