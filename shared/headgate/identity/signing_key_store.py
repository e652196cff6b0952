"""The deployment's signing key in the identity table."""

import contextlib
import secrets

from headgate.identity import keys
from headgate.storage import table
from headgate.storage.table import ConditionFailed, identity


def get_or_create() -> bytes:
    """The deployment's own 256-bit secret, which the first to need it creates; one read, and one write once ever."""
    item = identity.get(keys.signing_key())
    if item is None:
        with contextlib.suppress(ConditionFailed):
            table.write(identity.put_new(keys.signing_key() | {"secret": secrets.token_bytes(32)}))
        item = identity.get(keys.signing_key()) or {}
    secret = item.get("secret")
    if not isinstance(secret, bytes):
        raise TypeError("the signing key in the identity table is not binary")
    return secret
