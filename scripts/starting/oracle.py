"""Asks a collector in the sandbox, for each setting of each component, what only a start shows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from headgate_engine.checker.check_process import Child
from headgate_engine.checker.errors import ProcessFailed, Refused
from headgate_engine.checker.limits import Limits
from headgate_engine.collector import by_age
from scripts.starting.attempts import WRONG, Subject

# What was started runs on, so a process answers so many questions of these.
_QUESTIONS: Final = 150
_WORN_BYTES: Final = 500 << 20
_SECONDS: Final = 10.0
# How many characters of a message tell its kind.
_BEGINNING: Final = 40
_INDEX: Final = re.compile(r"::\d+")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A value with which a component is valid and does not start, and what is told of it. An example of several."""

    component: str
    setting: str
    path: Sequence[str | int]
    value: object
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Tried:
    """Results of trying one component: `valid` of `values` values were accepted by `validate`.

    `refused` says why its settings cannot be tried, `by_itself` what a start with right settings shows.
    """

    component: str
    values: int
    valid: int
    refused: str
    by_itself: Sequence[tuple[str, str]]
    mistakes: Sequence[Mistake]


class Sandboxed:
    """A collector in the sandbox, in one process after the other."""

    def __init__(self, binary: Path) -> None:
        self._binary = binary
        self._child: Child | None = None
        self._asked = 0

    def close(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None

    def verdict(self, text: str) -> Sequence[str] | None:
        """The errors of `validate`; None if the process did not survive the text, or did not take it on."""
        try:
            answer = self._ask("validate", text)
            return [error["message"] for error in answer["errors"]]
        except (ProcessFailed, Refused):
            return None

    def start(self, text: str) -> Sequence[tuple[str, str]]:
        """The code and message of each finding of a start, or of the crash that ended the process.

        A process that fails may be worn: a fresh one is asked again.
        """
        for is_last in (False, True):
            try:
                answer = self._ask("start", text)
                return [(finding["code"], finding["message"]) for finding in answer["findings"]]
            except Refused as refused:
                return [(refused.code, refused.message)]
            except ProcessFailed as error:
                if is_last:
                    return [("crash", str(error))]
        raise AssertionError

    def _ask(self, op: str, text: str) -> Mapping[str, Any]:
        child = self._child
        if child is None or self._asked >= _QUESTIONS or child.usage.rss_bytes >= _WORN_BYTES:
            self.close()
            child = self._child = Child.start(self._binary, Limits())
            self._asked = 0
        self._asked += op == "start"
        try:
            return child.ask(op, {"yaml": text, "env": {}}, _SECONDS)
        except ProcessFailed:
            self.close()
            raise


def tried(subject: Subject, collector: Sandboxed) -> Tried:
    """Try a component with its settings, and with each wrong value at each place of them."""
    base = subject.text(subject.settings)
    refused = collector.verdict(base)
    if refused or refused is None:
        why = refused[0] if refused else "the collector does not survive it"
        return Tried(subject.name, 0, 0, why, (), ())
    by_itself = collector.start(base)
    depends = any(code == "depends_on_host" for code, _ in by_itself)
    values = valid = 0
    mistakes: dict[tuple[str, str], Mistake] = {}
    for path in subject.places():
        for value in WRONG:
            settings = subject.with_value(path, value)
            if settings is None:
                continue
            values += 1
            text = subject.text(settings)
            if collector.verdict(text) != []:
                continue
            valid += 1
            for code, message in collector.start(text):
                if (code, message) not in by_itself and (code != "depends_on_host" or not depends):
                    setting = _INDEX.sub("[]", "::".join(map(str, path)))
                    mistake = Mistake(subject.name, setting, path, value, code, message)
                    mistakes.setdefault((setting, _kind(code, message)), mistake)
    return Tried(subject.name, values, valid, "", by_itself, tuple(mistakes.values()))


def _kind(code: str, message: str) -> str:
    """The beginning of a message: what follows may repeat the value, or be in another order each time."""
    return f"{code} {message[:_BEGINNING]}"


def as_entry(result: Tried) -> Mapping[str, Any]:
    """The stored form of the results of trying a component."""
    return asdict(result)


def as_json(version: str, entries: Sequence[Mapping[str, Any]]) -> str:
    """The results that are stored beside this code."""
    return json.dumps({"version": version, "components": entries}, indent=1, ensure_ascii=False) + "\n"


def stored(version: str) -> Sequence[Mapping[str, Any]]:
    """The components of a version as they were tried last."""
    path = Path(__file__).parent / f"{version}.json"
    entries: Sequence[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["components"]
    return entries


def stored_versions() -> Sequence[str]:
    """The versions whose components were tried, the oldest first."""
    return sorted((path.stem for path in Path(__file__).parent.glob("*.json")), key=by_age)
