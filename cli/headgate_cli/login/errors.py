"""Why there is no session."""


class LoginFailed(Exception):
    """Denied, timed out, used already, or the server could not be reached: exit code 3."""


class CodeMistyped(Exception):
    """The pasted value fails its own check, and nothing was sent: a usage error, exit code 2."""
