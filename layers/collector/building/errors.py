"""The error of a build."""


class BuildError(Exception):
    """The collector cannot be built or installed. The text says why, and the way out."""
