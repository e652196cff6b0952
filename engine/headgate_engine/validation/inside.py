"""The configuration inside of another text, such as a ConfigMap: what is asked of it, and its places in that text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final, TypeVar

from headgate_engine.validation.model import Finding, ValidationResult

_SECTION: Final = re.compile(r"^[\"']?(?:receivers|processors|exporters|connectors|extensions)[\"']? *:", re.MULTILINE)
"""A section of components, which a text around a configuration does not have at its first level."""
NOTHING: Final = (
    "There is no configuration of a collector in this text, so nothing was checked: name the file that has one, or the "
    "resource or values around it"
)
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Inside:
    """A configuration inside of the text `around`, under `path`, from a line and column of that text on.

    `yaml` is what is asked about. If it stands `in_place`, its lines and columns are those of the text around it. It
    does not if that text has it with escapes: then its beginning is the place of everything in it.
    """

    path: str
    line: int
    column: int
    yaml: str
    around: str
    in_place: bool

    def placed(self, answer: _Answer, *, with_column: bool = True) -> _Answer:
        """An answer about the configuration, with the places of the text around it."""
        place = {"line": self.line, "column": self.column if with_column else None, "fix": None}
        placed: _Answer = answer if self.in_place else _moved(answer, place)
        return placed

    def written(self, changed: str) -> str:
        """The whole text, with another configuration of as many lines, each as far to the right as before."""
        lines = self.around.split("\n")
        for at, (before, after) in enumerate(zip(self.yaml.split("\n"), changed.split("\n"), strict=True)):
            if before != after:
                indent = len(before) - len(before.lstrip(" "))
                end = "\r" if lines[at].endswith("\r") else ""
                lines[at] = f"{lines[at][:indent]}{after[indent:]}{end}"
        return "\n".join(lines)

    def without(self) -> str:
        """The whole text without the configuration, and with as many lines; empty if that cannot be known."""
        if not self.in_place:
            # A quoted configuration usually ends its line. If it does not, the rest of the text cannot be read.
            lines = self.around.splitlines(keepends=True)
            before, value = "".join(lines[: self.line - 1]), "".join(lines[self.line - 1 : self.line])
            if value[self.column - 1 : self.column] not in ('"', "'"):
                return ""
            return f"{before}{value[: self.column - 1]}\n{''.join(lines[self.line :])}"
        lines = self.around.split("\n")
        for at, line in enumerate(self.yaml.split("\n")):
            if line.strip():
                lines[at] = lines[at][: len(line) - len(line.lstrip(" "))]
        return "\n".join(lines)


def _moved(answer: Any, place: Mapping[str, int | None]) -> Any:
    """The answer with all of its places at one, and so without fixes, which have places of their own."""
    if isinstance(answer, list):
        return [_moved(entry, place) for entry in answer]
    if not is_dataclass(answer) or isinstance(answer, type):
        return answer
    parts = {part.name: _moved(getattr(answer, part.name), place) for part in fields(answer)}
    return replace(answer, **{name: place.get(name, part) for name, part in parts.items()})


def may_hold(yaml: str) -> bool:
    """True if the text may be one around a configuration: only its verdict says whether it is."""
    return not _SECTION.search(yaml)


def others(verdict: ValidationResult) -> list[Finding]:
    """The warnings about further configurations in a text, of which the first is checked."""
    return [warning for warning in verdict.warnings if warning.code == "wrapped_configuration"]


def configuration(verdict: ValidationResult, yaml: str) -> Inside | None:
    """The configuration inside of a text; None if the text is one itself, or has none."""
    part = verdict.wrapped
    if part is None:
        return None
    column = next((error.column for error in verdict.errors if error.code == "wrapped_configuration"), None) or 1
    around, lines = ([line.rstrip("\r") for line in text.split("\n")] for text in (yaml, part.yaml.rstrip("\n")))
    # A mapping begins in the line of the answer, a block of text in the next one.
    for before in (part.line - 1, part.line):
        written = around[before : before + len(lines)]
        if len(written) == len(lines) and all(map(str.endswith, written, lines)):
            indented = (" " * (len(whole) - len(line)) + line for whole, line in zip(written, lines, strict=True))
            placed = "\n" * before + "\n".join(indented) + "\n"
            return Inside(part.path, part.line, column, placed, yaml, in_place=True)
    return Inside(part.path, part.line, column, part.yaml, yaml, in_place=False)
