"""The hash under which a credential is stored and looked up."""

import hashlib


def hash_of(value: str) -> str:
    """SHA-256 in hex. A credential's 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(value.encode()).hexdigest()
