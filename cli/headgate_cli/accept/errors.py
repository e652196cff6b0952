"""Errors by which a check ends that does not pass."""


class Broken(Exception):
    """The server does not keep the promise; the message says what it did instead."""


class CheckSkipped(Exception):
    """The check could not be made here; the message says why."""
