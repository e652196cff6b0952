"""Keeps secrets out of what a run writes: those that it was given, those that it got, and what looks like one."""

from __future__ import annotations

import html
import json
import re
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from headgate_cli.responses import HttpAnswer

HIDDEN: Final = "[credential]"
# Credentials of this service, wherever they come from, also the beginning of one that was cut; and links' signatures.
_SHAPED: Final = re.compile(r"\b(?:sv|ss|ft|whsec)_[A-Za-z0-9+/=_-]{8,}|(?<=ignature=)[^&\s\"'\\]{8,}")
# Where an answer has a secret, whatever it looks like.
_FIELDS: Final = ("token", "secret", "password", "value")
# So many letters in a row of a secret are hidden: a message may have cut it at either end.
_PART: Final = 12
_LEAST: Final = 4
_LONGEST: Final = 4_096
# A server may not make a run remember without end.
_MOST: Final = 2_000


class SecretRedaction:
    """Secrets that no report may contain. `learn` is called by threads."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._lock = threading.Lock()
        # Parts of secrets, by their length.
        self._parts: dict[int, set[str]] = {}
        self._known: set[str] = set()
        for secret in secrets:
            self._add(secret)

    def learn(self, answer: HttpAnswer) -> None:
        """Remember the secrets in an answer, in whichever fields it has them."""
        learned = {match[0] for match in _SHAPED.finditer(answer.content.decode(errors="replace"))}
        learned |= {secret for secret in _secrets(answer.entity()) if len(secret) >= _PART}
        with self._lock:
            for secret in learned:
                if len(self._known) < _MOST:
                    self._add(secret)

    def __call__(self, text: str) -> str:
        """The text with what is secret hidden, also if it is escaped or cut."""
        hidden = bytearray(len(text))
        for match in _SHAPED.finditer(text):
            hidden[match.start() : match.end()] = b"\1" * len(match[0])
        with self._lock:
            for length, parts in self._parts.items():
                for start in range(len(text) - length + 1):
                    if text[start : start + length] in parts:
                        hidden[start : start + length] = b"\1" * length
        return "".join(_pieces(text, hidden))

    def _add(self, secret: str) -> None:
        self._known.add(secret)
        for form in {secret, json.dumps(secret)[1:-1], repr(secret)[1:-1], html.escape(secret), quote(secret, safe="")}:
            if _LEAST <= len(form) <= _LONGEST:
                length = min(len(form), _PART)
                parts = self._parts.setdefault(length, set())
                parts.update(form[start : start + length] for start in range(len(form) - length + 1))


def _secrets(value: object, name: str = "") -> Iterator[str]:
    """The texts in the fields that are for secrets, at any depth."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from _secrets(entry, str(key))
    elif isinstance(value, list):
        for entry in value:
            yield from _secrets(entry, name)
    elif isinstance(value, str) and name in _FIELDS:
        yield value


def _pieces(text: str, hidden: bytearray) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = hidden.find(not hidden[start], start)
        end = len(text) if end < 0 else end
        yield HIDDEN if hidden[start] else text[start:end]
        start = end
