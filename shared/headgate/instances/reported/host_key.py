"""A host's key, and why a message may not change what is stored under its uid.

docs/decisions/0205-a-hosts-key.md has the reasons.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final

from headgate.foundation import errors

_FINGERPRINT: Final = 16


class Refused(errors.Forbidden):
    """The message is not of the host that has this uid. Nothing that is stored changes."""


class SignatureInvalid(Refused):
    """The message has a signature, and not one of this body, token and group by the key that it names."""

    code = "signature_invalid"
    detail = "The signature of this message does not fit it: nothing was changed"


class SignatureMissing(Refused):
    code = "signature_missing"
    detail = (
        "The messages of this instance are signed with its host's key, and this one is not. Install the host again "
        "with a new command, or let a person allow another host to take the instance's place"
    )


class MessageRepeated(Refused):
    """A message with this number, or a later one, was here already."""

    code = "message_repeated"
    detail = "A message with this signed number, or a later one, has arrived before: nothing was changed"


class HostCutOff(Refused):
    code = "host_cut_off"

    def __init__(self) -> None:
        super().__init__("A person has cut this host off; `headgate instance let-in` ends that")


@dataclass(frozen=True, slots=True)
class HostKey:
    """A host's Ed25519 public key, and the place of its newest message.

    `start` grows with each start of its supervisor, `number` with each message of a start. As with counters, a change
    of the number alone is not stored.
    """

    public: bytes
    start: int
    number: int = field(compare=False)

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.public)


class KeyInvalid(ValueError):
    """These bytes are not an Ed25519 public key."""


def sealed_for(public: bytes, content: bytes) -> bytes:
    """A sealed box that only the host with that key opens. Raises KeyInvalid."""
    # Imported here: few requests need it, and not every cold start.
    from nacl.exceptions import CryptoError
    from nacl.public import SealedBox
    from nacl.signing import VerifyKey

    try:
        return SealedBox(VerifyKey(public).to_curve25519_public_key()).encrypt(content)
    except CryptoError as error:
        raise KeyInvalid from error


def fingerprint(public: bytes) -> str:
    """A label of the key for people: the beginning of its SHA-256, in hex."""
    return hashlib.sha256(public).hexdigest()[:_FINGERPRINT]
