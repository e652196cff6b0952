"""The credential in the header Authorization."""


def credential(authorization: str) -> str:
    """Returns what the scheme Bearer names, empty for another scheme and without a header."""
    scheme, _, named = authorization.partition(" ")
    return named.strip() if scheme.lower() == "bearer" else ""
