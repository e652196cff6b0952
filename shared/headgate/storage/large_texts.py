"""Texts of up to a megabyte beside a table: compressed in the item where they fit well, else in S3 by their hash."""

import hashlib
import zlib
from dataclasses import dataclass
from typing import Final

from headgate.settings import settings
from headgate.storage import aws, objects
from headgate.storage.items import Item, Value

# DynamoDB's limit is 400 KB for an item, names and all; a read costs by the 4 KB.
_LARGEST_IN_ITEM: Final = 300_000


@dataclass(frozen=True, slots=True)
class Blob:
    """How an item holds a text: attributes to merge into it."""

    attributes: dict[str, Value]


def keep(text: str, prefix: str) -> Blob:
    """Make `text` ready to be put in an item; one that is too large for it is written to S3 `<prefix>/<sha256>` now.

    An object that no item comes to name is harmless: it is named by its content.
    """
    content = text.encode()
    packed = zlib.compress(content, 6)
    if len(packed) <= _LARGEST_IN_ITEM:
        return Blob({"content": packed})
    key = f"{prefix}/{hashlib.sha256(content).hexdigest()}"
    aws.s3().put_object(Bucket=settings().bucket, Key=key, Body=packed)
    return Blob({"content_key": key})


def read(item: Item) -> str:
    """The text of an item that was written with `keep`, byte for byte."""
    packed = item.get("content")
    if not isinstance(packed, bytes):
        packed = objects.read(str(item["content_key"]))
    return zlib.decompress(packed).decode()
