"""The errors of a login."""


class LoginFailed(Exception):
    """The login was denied, timed out or used before, or the server could not be reached: exit status 3."""


class CodeMistyped(Exception):
    """The pasted code fails its checksum, and nothing was sent: a usage error, exit status 2."""
