"""Asks a collector's check process what it takes, and unpacks its answer."""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib
from collections.abc import Mapping
from typing import Final

from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import NoChecker, NotInstalled, Refused
from headgate_engine.checker.messages import MAX_BYTES
from headgate_engine.errors import Unavailable
from headgate_engine.reference.model import ReferenceNotPossible, ReferenceUnavailable
from headgate_engine.validation.model import CollectorVersionNotInstalled

_SECONDS: Final = 20.0


_UNKNOWN_OP: Final = "unknown_op"


_UNKNOWN_FORM: Final = "The collector told what it takes in an unknown form; build it again"


class UnknownForm(ReferenceUnavailable):
    """The check process answered something else than what was asked."""

    def __init__(self) -> None:
        super().__init__(_UNKNOWN_FORM)


def asked(op: str, fields: Mapping[str, object], version: str, *, asker: Asker) -> Mapping[str, object]:
    """Ask that version's check process, and return its answer.

    Raises CollectorVersionNotInstalled and ReferenceNotPossible, about the parameter `version`, and
    ReferenceUnavailable on an outage.
    """
    by_default = version == asker.default_version
    try:
        return asker.ask(op, fields, version=version, timeout=_SECONDS)
    except Refused as refused:
        if refused.code == _UNKNOWN_OP and not by_default:
            raise ReferenceNotPossible(
                f"Collector {version} was built before it could tell what it takes: have it built again, or choose "
                "another version"
            ) from refused
        raise ReferenceUnavailable(f"The collector could not tell what it takes ({refused.code})") from refused
    except Unavailable as error:
        if isinstance(error, NotInstalled) and not by_default:
            raise CollectorVersionNotInstalled(error.detail, at=("query", "version")) from error
        if isinstance(error, NoChecker) and not by_default:
            raise ReferenceNotPossible(
                f"Collector {version} is an official release, which cannot tell what it takes: choose a version that "
                "the list of collector versions shows with `can.lint`"
            ) from error
        raise ReferenceUnavailable(f"{error.detail}; what the collector takes is not known") from error


def unpacked(answer: Mapping[str, object]) -> tuple[str, bytes, bytes]:
    """The digest, the compressed and the plain text of an answer that holds one. Raises UnknownForm."""
    digest, compressed = answer.get("digest"), answer.get("gzip")
    if not isinstance(digest, str) or not isinstance(compressed, str):
        raise UnknownForm
    try:
        content = base64.b64decode(compressed, validate=True)
        text = plain(content)
    except (ValueError, binascii.Error) as error:
        raise UnknownForm from error
    if hashlib.sha256(text).hexdigest() != digest:
        raise UnknownForm
    return digest, content, text


def plain(compressed: bytes) -> bytes:
    """The text in a gzip member of at most MAX_BYTES. Raises ValueError."""
    reader = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        text = reader.decompress(compressed, MAX_BYTES)
    except zlib.error as error:
        raise ValueError("not gzip") from error
    if not reader.eof or reader.unused_data:
        raise ValueError("too large, or not one whole member")
    return text
