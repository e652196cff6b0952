"""Texts that the tables hold sealed, in an archive: closed by a key that follows from that of the archive's seal.

A key of KMS opens nothing in another account or region. Who has an archive without the key of its seal learns neither
the address nor the secret of a webhook.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING, Final

from headgate.storage import items, sealed

if TYPE_CHECKING:
    from nacl.secret import SecretBox

    from headgate.storage.items import Item

NAMES: Final = ("target", "secret")
"""Attributes of a webhook that are sealed in the table."""
# It signs for a day after a new one was made, and is not worth a place in an archive.
_BEFORE: Final = ("previous_secret", "previous_until")


def for_archive(webhook: Item, key: bytes) -> Item:
    """The webhook as an archive has it; two calls of KMS. Raises Unsealable."""
    box, webhook_id = _box(key), items.text(webhook, "webhook_id")
    texts = {name: sealed.unseal(_content(webhook, name), webhook_id=webhook_id) for name in NAMES}
    lasting = {name: value for name, value in webhook.items() if name not in _BEFORE}
    return lasting | {name: bytes(box.encrypt(text.encode())) for name, text in texts.items()}


def for_table(webhook: Item, key: bytes) -> Item:
    """The webhook as this deployment's table has it; two calls of KMS. Raises ValueError if it does not open."""
    webhook_id = items.text(webhook, "webhook_id")
    return webhook | {name: sealed.seal(text, webhook_id=webhook_id) for name, text in opened(webhook, key).items()}


def opened(webhook: Item, key: bytes) -> dict[str, str]:
    """The texts in a webhook of an archive. Raises ValueError if the key is not the one that closed them."""
    from nacl.exceptions import CryptoError

    box = _box(key)
    try:
        return {name: box.decrypt(_content(webhook, name)).decode() for name in NAMES}
    except CryptoError as error:
        raise ValueError("a webhook's address or secret does not open with the key of the seal") from error


def _content(webhook: Item, name: str) -> bytes:
    content = webhook.get(name)
    if not isinstance(content, bytes):
        raise TypeError(f"the attribute {name} is not binary")
    return content


def _box(key: bytes) -> SecretBox:
    # Imported here, because nothing else of an export or import needs it.
    from nacl.secret import SecretBox

    return SecretBox(hmac.digest(key, b"webhooks", hashlib.sha256))
