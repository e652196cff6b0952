"""Fleet tokens: derived from the server's signing key, so that an install command can show one that is not stored.

docs/fleets-explained.md says why.
"""

import base64
from datetime import datetime
from typing import Final

from headgate.fleets.model import FleetToken
from headgate.foundation.hashing import hash_of
from headgate.identity import signing
from headgate.identity.model import NotAuthenticated

PREFIX: Final = "ft_"
# The prefix, and 32 bytes in unpadded base64url.
_LENGTH: Final = 46
_ID_LENGTH: Final = 16


def value_of(holder: str, generation: int) -> str:
    """The token of a fleet, or a group's own, by its id: `ft_` and 256 bits in unpadded base64url."""
    message = f"{holder}\0{generation}".encode()
    # A signature is 128 bits; two for different purposes are independent of each other.
    secret = signing.sign("fleet-token-1", message) + signing.sign("fleet-token-2", message)
    return PREFIX + base64.urlsafe_b64encode(secret).decode().rstrip("=")


def hash_at(holder: str, generation: int) -> str:
    """The hash under which the token of that generation is stored."""
    return hash_of(value_of(holder, generation))


def id_of(token_hash: str) -> str:
    """A label that tells tokens apart: the beginning of the hash, from which the token cannot be computed."""
    return token_hash[:_ID_LENGTH]


def current_id(holder: str, generation: int) -> str:
    """The id of the token of that generation."""
    return id_of(hash_at(holder, generation))


def hash_of_credential(credential: str) -> str:
    """The hash by which a presented token is looked up. Raises NotAuthenticated if it does not look like a token."""
    if not credential.isascii() or len(credential) != _LENGTH or not credential.startswith(PREFIX):
        raise NotAuthenticated
    return hash_of(credential)


def require_found(token: FleetToken | None) -> FleetToken:
    """Raises NotAuthenticated if the token does not exist."""
    if token is None:
        raise NotAuthenticated
    return token


def require_valid(token: FleetToken | None, fleet_id: str, at: datetime) -> FleetToken:
    """The token. Raises NotAuthenticated if the token does not exist, is another fleet's or has expired."""
    token = require_found(token)
    if token.fleet_id != fleet_id or (token.expires_at is not None and token.expires_at <= at):
        raise NotAuthenticated
    return token
