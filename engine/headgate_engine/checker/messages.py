"""The messages to and from the checker's function, and the limits on what a collector sends.

An answer comes from where untrusted text is read, so its size and depth are checked before it is parsed. The code that
asked checks its shape.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Mapping
from typing import Final, TypeAlias, cast

Message: TypeAlias = Mapping[str, object]

PROTOCOL: Final = 1
"""The messages between an engine and a check process; the process states its protocol's number first.

It rises when an engine could misread an answer (layers/collector/internal/operation/operation.go).
"""
LARGEST_INVOCATION: Final = 5_000_000
"""In bytes. AWS carries 6 MB, in either direction."""
MAX_BYTES: Final = 32 << 20
"""The largest size of an unpacked message, in bytes."""
DEEPEST: Final = 64
_MAX_BRACKETS: Final = 2_000_000
_COMPRESSED_FROM: Final = 32_768
_FAST: Final = 3

# An unclosed string matches up to the end of the text. Searching its end again from each quote takes quadratic time.
_STRINGS: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_NOT_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_SQUARE: Final = bytes.maketrans(b"{}", b"[]")


class Malformed(Exception):
    """A message that is too large, too deep, or not JSON. The text says which, without quoting it."""


class TooLarge(Malformed):
    """A message that is too large."""


def parsed(text: bytes) -> Message:
    """The JSON object that `text` holds. Raises Malformed, also if it is deeper than `DEEPEST`."""
    _require_shallow(text)
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed("what is not JSON") from error
    if not isinstance(message, dict):
        raise Malformed("what is not an object")
    return cast("Message", message)


def packed(message: Message) -> dict[str, object]:
    """The message as it is sent: itself, or `{"gz": …}` if it is large."""
    text = json.dumps(message, separators=(",", ":")).encode()
    if len(text) < _COMPRESSED_FROM:
        return dict(message)
    return {"gz": base64.b64encode(zlib.compress(text, _FAST)).decode()}


def size(envelope: Message) -> int:
    """In bytes, as it is sent."""
    return len(json.dumps(envelope).encode())


def unpacked(envelope: Message) -> Message:
    """The message that `packed` was given. Raises Malformed."""
    compressed = envelope.get("gz")
    if compressed is None:
        return envelope
    if not isinstance(compressed, str):
        raise Malformed("an envelope without a text")
    try:
        reader = zlib.decompressobj()
        text = reader.decompress(base64.b64decode(compressed, validate=True), MAX_BYTES)
    except (ValueError, binascii.Error, zlib.error) as error:
        raise Malformed("what cannot be unpacked") from error
    if not reader.eof:
        raise TooLarge(f"more than {MAX_BYTES} bytes" if reader.unconsumed_tail else "a part of a message")
    return parsed(text)


def _require_shallow(text: bytes) -> None:
    brackets = _STRINGS.sub(b"", text).translate(_SQUARE, _NOT_BRACKETS)
    if len(brackets) > _MAX_BRACKETS:
        raise Malformed("too many lists and objects")
    # Each turn takes away the lists and objects that hold no others, so as many turns as levels leave nothing.
    for _ in range(DEEPEST):
        brackets = brackets.replace(b"[]", b"")
    if b"[]" in brackets or len(brackets) > DEEPEST:
        raise Malformed(f"what is nested deeper than {DEEPEST} levels")
