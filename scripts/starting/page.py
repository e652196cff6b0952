"""docs/starting.md: the stage `start`, and what trying every component has shown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

PATH: Final = Path("docs/starting.md")
TEXT: Final = Path(__file__).parent / "page.md"
_MARK: Final = "<!-- Generated from collector {version} by `python -m scripts.starting`. Do not edit. -->"
_LONGEST: Final = 160


def content(
    version: str, entries: Sequence[Mapping[str, Any]], others: Mapping[str, Sequence[Mapping[str, Any]]]
) -> str:
    """The page, with the tables of a version, and the mistakes that other versions have beside them."""
    text = TEXT.read_text(encoding="utf-8").strip()
    mistakes = _mistakes(entries)
    by_itself = [(entry["component"], code, message) for entry in entries for code, message in entry["by_itself"]]
    untried = [(entry["component"], entry["refused"]) for entry in entries if entry["refused"]]
    values = sum(entry["values"] for entry in entries)
    valid = sum(entry["valid"] for entry in entries)
    counts = (
        f"{len(entries) - len(untried)} processors, connectors and extensions of {version} were tried with {values:,} "
        f"values at the places of their schemas; `validate` accepts {valid:,} of these texts."
    )
    known = {_kind(mistake) for mistake in mistakes}
    beside = [
        (version_beside, mistake)
        for version_beside, tried in others.items()
        for mistake in _mistakes(tried)
        if _kind(mistake) not in known
    ]
    tables = [
        ("| Setting | Value | `code` | Message |", [_mistake(item) for item in mistakes]),
        (
            "| Component | `code` | Message |",
            [_row(f"`{name}`", f"`{code}`", _cell(said)) for name, code, said in by_itself],
        ),
        (
            "| Version | Setting | Value | `code` | Message |",
            [f"| {version_beside} {_mistake(mistake)}" for version_beside, mistake in beside],
        ),
        ("| Component | Why |", [_row(f"`{name}`", _cell(why)) for name, why in untried]),
    ]
    filled = text.replace("{counts}", counts)
    for name, (head, rows) in zip(("{mistakes}", "{by_itself}", "{others}", "{untried}"), tables, strict=True):
        filled = filled.replace(
            name, "\n".join([head, "|---" * (head.count("|") - 1) + "|", *rows]) if rows else "None."
        )
    return f"{_MARK.format(version=version)}\n\n{filled}\n"


def _mistakes(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [mistake for entry in entries for mistake in entry["mistakes"]]


def _kind(mistake: Mapping[str, Any]) -> tuple[str, str, str]:
    """The setting and code of a mistake, for which a renamed component is the same."""
    return mistake["component"].replace("_", ""), mistake["setting"], mistake["code"]


def _mistake(mistake: Mapping[str, Any]) -> str:
    setting = f"{mistake['component']}::{mistake['setting']}"
    value = json.dumps(mistake["value"], ensure_ascii=False)
    return _row(f"`{setting}`", f"`{value}`", f"`{mistake['code']}`", _cell(mistake["message"]))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    line = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
