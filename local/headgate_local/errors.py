"""Why the local service does not start, told in one line."""


class CannotStart(Exception):
    """Something that a person has to put right first. Its text is one line: what, where, and the way out."""
