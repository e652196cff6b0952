"""Signatures with this deployment's own key."""

import hashlib
import hmac
from functools import cache

from headgate.identity import signing_key_store


def sign(purpose: str, message: bytes) -> bytes:
    """A 16-byte HMAC-SHA256 of `message`, valid for this deployment and `purpose` only."""
    return hmac.digest(signing_key(), purpose.encode() + b"\0" + message, hashlib.sha256)[:16]


def verify(purpose: str, message: bytes, signature: bytes) -> bool:
    """Whether `sign` made the signature."""
    return hmac.compare_digest(sign(purpose, message), signature)


@cache
def signing_key() -> bytes:
    """The deployment's key, read once in a process."""
    return signing_key_store.get_or_create()
