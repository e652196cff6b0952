"""Fleet tokens: made from the deployment's signing key, so that an install can show one that is kept nowhere.

docs/decisions/0013-fleet-tokens-by-derivation.md says why.
"""

import base64
from typing import Final

from headgate.identity import signing

PREFIX: Final = "ft_"


def value_of(fleet_id: str, generation: int) -> str:
    """The fleet's token: `ft_` and 256 bits in unpadded base64url."""
    message = f"{fleet_id}\0{generation}".encode()
    # A signature is 128 bits; two of different purposes are independent of each other.
    secret = signing.sign("fleet-token-1", message) + signing.sign("fleet-token-2", message)
    return PREFIX + base64.urlsafe_b64encode(secret).decode().rstrip("=")
