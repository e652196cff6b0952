"""What can go wrong, said in one line."""


class BuildError(Exception):
    """The collector cannot be had; the text says why and what would help."""
