"""Signatures with this deployment's own key, and signed values as text."""

import base64
import binascii
import hashlib
import hmac
from functools import cache

from headgate.identity import signing_key_store


def sign(purpose: str, message: bytes) -> bytes:
    """A 16-byte HMAC-SHA256 of `message`, valid for this deployment and `purpose` only."""
    return hmac.digest(signing_key(), purpose.encode() + b"\0" + message, hashlib.sha256)[:16]


def verify(purpose: str, message: bytes, signature: bytes) -> bool:
    """True if `sign` made the signature."""
    return hmac.compare_digest(sign(purpose, message), signature)


@cache
def signing_key() -> bytes:
    """The deployment's key, read once in a process."""
    return signing_key_store.get_or_create()


def encode(content: bytes) -> str:
    """Encode as base64url (RFC 4648, 5), with padding."""
    return base64.urlsafe_b64encode(content).decode()


def decode(text: str) -> bytes:
    """The bytes that `encode` was given. Raises ValueError for other texts."""
    try:
        return base64.b64decode(text, altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError("not base64url") from error
