"""The key of an archive's seal: derived from the deployment's signing key, another one for each archive.

The deployment that exported an archive computes the key again. Another one has it from the operator, who saw it at the
export. Whoever has an archive and its key can change the archive.
"""

import base64
import binascii
import hashlib
import hmac
from typing import Final

from headgate.backup.archive import Header, Seal
from headgate.foundation import errors
from headgate.identity import signing

_PREFIX: Final = "seal_"
_BYTES: Final = 32


class BadSealKey(errors.Invalid):
    """The text is not a key of a seal."""

    detail = "The seal's key is not one: an export printed it, it begins with `seal_`"


class OtherSeal(errors.Invalid):
    """The key is not the one that the archive was sealed with."""

    detail = (
        "The archive was not sealed with this key: it is another archive's, or somebody changed the archive. "
        "`seal-key` prints the key again where it was exported"
    )


class NotSealedHere(errors.Invalid):
    """Another deployment exported the archive, or somebody changed it."""

    detail = "The archive was not sealed by this deployment, or somebody changed it: it has no key here"


def key_of(header: Header) -> bytes:
    """The key with which this deployment seals an archive with this header."""
    message = "\0".join((header.organization_id, header.exported_at, header.nonce)).encode()
    # A signature is 128 bits; two for different purposes are independent of each other.
    return signing.sign("archive-seal-1", message) + signing.sign("archive-seal-2", message)


def mac(key: bytes, digest: str) -> str:
    """Authenticate the seal of an archive with that digest."""
    return hmac.digest(key, digest.encode(), hashlib.sha256).hex()


def fits(key: bytes, seal: Seal) -> bool:
    return hmac.compare_digest(mac(key, seal.digest), seal.mac)


def shown(key: bytes) -> str:
    """The key as text, for the operator to keep apart from the archive."""
    return _PREFIX + base64.urlsafe_b64encode(key).decode().rstrip("=")


def read(text: str) -> bytes:
    """The key that `shown` printed. Raises BadSealKey."""
    try:
        key = base64.b64decode(text.removeprefix(_PREFIX) + "=", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise BadSealKey from None
    if not text.startswith(_PREFIX) or len(key) != _BYTES:
        raise BadSealKey
    return key
