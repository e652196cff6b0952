"""The signature of a host's message: a header of our supervisor, over the body and what it came with.

Written by layers/supervisor/internal/identity. The body has the instance's uid and the message's sequence number.
"""

from __future__ import annotations

import base64
import re
from typing import Final

from headgate.instances.reported.host_key import HostKey, SignatureInvalid

HEADER: Final = "x-host-signature"
_PURPOSE: Final = "headgate-host-message-v1"
# Version, key, start and number of the message, signature; 2 ** 53 has sixteen digits.
_FORM: Final = re.compile(r"v1\.([A-Za-z0-9_-]{43})\.([1-9][0-9]{0,15})\.([1-9][0-9]{0,15})\.([A-Za-z0-9_-]{86})")


def verified(header: str, token_hash: str, deployment_id: str, body: bytes) -> HostKey:
    """The key that signed the message, and the message's place. Raises SignatureInvalid."""
    parts = _FORM.fullmatch(header)
    if parts is None:
        raise SignatureInvalid
    # Imported here: with the first signed message, not in every cold start.
    from nacl.exceptions import BadSignatureError
    from nacl.signing import VerifyKey

    key, start, number, signature = parts.groups()
    signed = "\n".join((_PURPOSE, token_hash, deployment_id, f"{start}.{number}", "")).encode() + body
    public = _decoded(key)
    try:
        VerifyKey(public).verify(signed, _decoded(signature))
    except BadSignatureError as error:
        raise SignatureInvalid from error
    return HostKey(public, int(start), int(number))


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
