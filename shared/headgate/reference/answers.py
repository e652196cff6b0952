"""Asks a collector's check process, and remembers its answers: they are the same for the life of a build."""

from __future__ import annotations

import base64
import binascii
import hashlib
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from headgate import checker
from headgate.checker import Asker, NoChecker, NotInstalled, Refused
from headgate.foundation.errors import Unavailable
from headgate.reference.model import ReferenceNotPossible, ReferenceUnavailable
from headgate.settings import settings
from headgate_engine.checker.messages import MAX_BYTES
from headgate_engine.validation.model import CollectorVersionNotInstalled

Known = TypeVar("Known")

ASKER: Final = Asker("reference", "reference")
"""Asks in nobody's name, so in a process that reads nobody's text: one that has could lie to everyone else."""
_SECONDS: Final = 20.0
_PATIENCE_SECONDS: Final = 10.0
# A version that is built again has other answers.
_FRESH_SECONDS: Final = 300.0
_UNKNOWN_OP: Final = "unknown_op"
_UNKNOWN_FORM: Final = "The collector told what it takes in an unknown form; build it again"


class UnknownForm(ReferenceUnavailable):
    """The check process answered something else than what was asked."""

    def __init__(self) -> None:
        super().__init__(_UNKNOWN_FORM)


@dataclass(slots=True)
class _Place(Generic[Known]):
    """What is known of one key, and the lock of whoever asks for it."""

    asking: threading.Lock = field(default_factory=threading.Lock)
    fresh_until: float = 0.0
    known: Known | None = None


class Answers(Generic[Known]):
    """Thread-safe. At most `most` answers; the one that was used longest ago goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._places: OrderedDict[tuple[str, ...], _Place[Known]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[str, ...], ask: Callable[[], Known]) -> Known:
        """The answer for the key, asked for again after some minutes. During an outage it is the last one.

        One thread asks, and those that have an answer do not wait for the next. Raises what `ask` raises, and
        ReferenceUnavailable for whoever has waited too long for another thread.
        """
        with self._lock:
            place = self._places.setdefault(key, _Place())
            self._places.move_to_end(key)
        if not place.asking.acquire(timeout=0 if place.known is not None else _PATIENCE_SECONDS):
            if place.known is None:
                raise ReferenceUnavailable("The collector is being asked what it takes, and has not answered yet")
            return place.known
        try:
            if place.known is None or time.monotonic() >= place.fresh_until:
                place.known = self._asked(key, place, ask)
                place.fresh_until = time.monotonic() + _FRESH_SECONDS
            return place.known
        finally:
            place.asking.release()

    def _asked(self, key: tuple[str, ...], place: _Place[Known], ask: Callable[[], Known]) -> Known:
        try:
            answer = ask()
        except ReferenceUnavailable:
            if place.known is not None:
                return place.known
            self._forget(key, place)
            raise
        except BaseException:
            # Versions that a stranger makes up would push out those that there are.
            self._forget(key, place)
            raise
        with self._lock:
            while len(self._places) > self._most:
                self._places.popitem(last=False)
        return answer

    def _forget(self, key: tuple[str, ...], place: _Place[Known]) -> None:
        with self._lock:
            if self._places.get(key) is place:
                del self._places[key]

    def forget(self) -> None:
        """Ask for everything again."""
        with self._lock:
            self._places.clear()


def asked(op: str, fields: Mapping[str, object], version: str) -> Mapping[str, object]:
    """What that version's check process answers.

    Raises CollectorVersionNotInstalled and ReferenceNotPossible, about the parameter `version`, and
    ReferenceUnavailable on an outage.
    """
    by_default = version == settings().collector_version
    try:
        return checker.call(op, fields, asker=ASKER, version=version, timeout=_SECONDS)
    except Refused as refused:
        if refused.code == _UNKNOWN_OP and not by_default:
            raise ReferenceNotPossible(
                f"Collector {version} was built before it could tell what it takes: have it built again, or choose "
                "another version"
            ) from refused
        raise ReferenceUnavailable(f"The collector could not tell what it takes ({refused.code})") from refused
    except Unavailable as error:
        if isinstance(error, NotInstalled) and not by_default:
            raise CollectorVersionNotInstalled(error.detail, "version", "query") from error
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
