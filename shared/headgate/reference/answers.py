"""Asks a collector's check process, and remembers its answers: they are the same for the life of a build."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from headgate.checker import Asker
from headgate_engine.reference.model import ReferenceUnavailable

Known = TypeVar("Known")

ASKER: Final = Asker("reference", "reference")
"""Asks in nobody's name, so in a process that reads nobody's text: one that has could lie to everyone else."""
_PATIENCE_SECONDS: Final = 10.0
# A version that is built again has other answers.
_FRESH_SECONDS: Final = 300.0


@dataclass(slots=True)
class _Place(Generic[Known]):
    """The remembered answer of one key, and the lock of whoever asks for it."""

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
