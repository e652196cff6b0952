"""Signed values that show who may try: whoever has the mail, or a browser in which the account was signed in before.

Strangers have neither, so that what strangers try never counts against the owner
(docs/identity.md).
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Final

from headgate.identity import signing

# As long as Cognito's code.
RESET_LIFETIME: Final = timedelta(hours=1)
_TIME_BYTES: Final = 5


def of_mail(address: str, at: datetime) -> str:
    """The value in the link of a mail to the address."""
    time = int(at.timestamp()).to_bytes(_TIME_BYTES)
    return signing.encode(time + signing.sign("reset", time + address.encode()))


def is_of_mail(proof: str, address: str, at: datetime) -> bool:
    """True if the code was mailed to the address within the last hour."""
    try:
        content = signing.decode(proof)
    except ValueError:
        return False
    time, signature = content[:_TIME_BYTES], content[_TIME_BYTES:]
    age = at.timestamp() - int.from_bytes(time)
    return signing.verify("reset", time + address.encode(), signature) and age <= RESET_LIFETIME.total_seconds()


def of_browser(address: str) -> str:
    """The value that a browser keeps after the account signed in there, or got a new password."""
    name = secrets.token_urlsafe(16)
    return f"{name}.{signing.sign('browser', f'{name} {address}'.encode()).hex()}"


def known_browser(proof: str, address: str) -> str | None:
    """The browser's name; None if the account was never signed in there."""
    name, _, signature = proof.partition(".")
    try:
        good = signing.verify("browser", f"{name} {address}".encode(), bytes.fromhex(signature))
    except ValueError:
        return None
    return name if good else None
