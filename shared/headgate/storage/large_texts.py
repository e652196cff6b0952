"""Texts of up to a megabyte of an item: compressed in the item if they are small enough, else in S3 by their hash."""

import hashlib
import zlib
from typing import Final

from headgate.storage import objects
from headgate.storage.items import Item

# DynamoDB's limit is 400 KB for an item, names and all; a read costs by the 4 KB.
_LARGEST_IN_ITEM: Final = 300_000


def write(text: str, folder: str, *, largest: int = _LARGEST_IN_ITEM) -> Item:
    """The attributes that hold `text`, for the item to have. A large one is written to S3 `<folder>/<sha256>` now.

    `largest` is the most that the item has room for, compressed. An object that no item comes to name is harmless: it
    is named by its content.
    """
    content = text.encode()
    compressed = zlib.compress(content, 6)
    if len(compressed) <= largest:
        return {"content": compressed}
    key = f"{folder}/{hashlib.sha256(content).hexdigest()}"
    objects.write(key, compressed)
    return {"content_key": key}


def read(item: Item) -> str:
    """The text of an item with the attributes of `write`, byte for byte."""
    compressed = item.get("content")
    if not isinstance(compressed, bytes):
        compressed = objects.read(str(item["content_key"]))
    return zlib.decompress(compressed).decode()


def digest(item: Item) -> str:
    """The SHA-256 of the text, in hexadecimal; no request."""
    compressed = item.get("content")
    if isinstance(compressed, bytes):
        return hashlib.sha256(zlib.decompress(compressed)).hexdigest()
    return str(item["content_key"]).rpartition("/")[2]
