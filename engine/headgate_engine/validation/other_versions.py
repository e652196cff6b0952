"""Knowledge of other installed collector versions about a key that a text's version does not know."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from pydantic import ValidationError

from headgate_engine.answers import read
from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import Refused
from headgate_engine.collector import VERSION, by_age
from headgate_engine.errors import Unavailable
from headgate_engine.validation.model import Cause, Finding, ValidationResult, WrappedConfiguration

_ABOUT_KEYS: Final = ("unknown_key", "ignored_key")
# What a message ends with where the release's own history tells nothing: a word of similar letters, or nothing.
_GUESS: Final = re.compile(r'; did you mean "[^"]*"\?$')
_HISTORY: Final = re.compile(r"; (?:[^;]*, and )?(?:collectors know it from|it was removed in|use )[^;]*$")
_MOST_VERSIONS: Final = 3
_MOST_KEYS: Final = 50
_MOST_NAMED: Final = 3
_SECONDS: Final = 3.0
# A version that could not be asked is left alone for so long.
_REST_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class KeyInVersion:
    """A version's knowledge of a key. `component` is False if its build lacks the component."""

    component: bool
    known: bool
    beside: Sequence[str]


def explained(result: ValidationResult, *, asker: Asker) -> ValidationResult:
    """The result, in which messages about unknown keys name the version that knows them, rather than a similar word.

    Versions that cannot be asked are passed over.
    """
    lists = [part for part in (result, result.wrapped) if part]
    paths = {
        _path(finding): None
        for part in lists
        for finding in (*part.errors, *part.warnings)
        if finding.code in _ABOUT_KEYS and _is_open(finding)
    }
    words = _words([*paths][:_MOST_KEYS], result.version, asker) if paths else {}
    if not words:
        return result
    return replace(_explained(result, words), wrapped=result.wrapped and _explained(result.wrapped, words))


_Path = tuple[str, ...]
_Part = TypeVar("_Part", ValidationResult, WrappedConfiguration)
# The words for the message, and the same as data.
_Told = tuple[str, Cause]


def _explained(part: _Part, words: Mapping[_Path, _Told]) -> _Part:
    errors, warnings = ([_with(finding, words) for finding in each] for each in (part.errors, part.warnings))
    return replace(part, errors=errors, warnings=warnings)


def _path(finding: Finding) -> _Path:
    return tuple(finding.component_path.split("::"))


def _is_open(finding: Finding) -> bool:
    return not _HISTORY.search(finding.message)


def _with(finding: Finding, words: Mapping[_Path, _Told]) -> Finding:
    more = words.get(_path(finding)) if finding.code in _ABOUT_KEYS and _is_open(finding) else None
    if not more:
        return finding
    message, cause = more
    return replace(finding, message=f"{_GUESS.sub('', finding.message)}; {message}", cause=cause)


def _words(paths: Sequence[_Path], version: str, asker: Asker) -> dict[_Path, _Told]:
    """The knowledge of the nearest other versions, the newer ones first."""
    words: dict[_Path, _Told] = {}
    for neighbour in _nearest(version, asker):
        left = [path for path in paths if path not in words]
        for path, setting in zip(left, _asked(left, neighbour, asker), strict=False):
            if setting.known:
                words[path] = _told(path, setting, neighbour, version, asker)
    return words


def _told(path: _Path, setting: KeyInVersion, neighbour: str, version: str, asker: Asker) -> _Told:
    if by_age(neighbour) > by_age(version):
        return f"collector {neighbour} knows it, and {version} does not yet", Cause("newer_release", [path[-1]])
    here = next(iter(_asked([path], version, asker)), None)
    new = sorted(set(here.beside) - set(setting.beside)) if here else []
    names = ", ".join(new) if 0 < len(new) <= _MOST_NAMED else ""
    instead = f"; new in its place: {names}" if names else ""
    message = f"collector {neighbour} knows it, and {version} does not any more{instead}"
    return message, Cause("removed", [path[-1]], names)


def _nearest(version: str, asker: Asker) -> list[str]:
    try:
        installed = asker.collectors.installed(asker=asker)
    except Unavailable:
        return []
    others = [candidate for candidate in installed if candidate != version and VERSION.fullmatch(candidate)]
    newer = sorted((candidate for candidate in others if by_age(candidate) > by_age(version)), key=by_age)
    older = sorted((candidate for candidate in others if by_age(candidate) < by_age(version)), key=by_age, reverse=True)
    return [*newer, *older][:_MOST_VERSIONS]


_resting: dict[str, float] = {}


def _asked(paths: Sequence[_Path], version: str, asker: Asker) -> Sequence[KeyInVersion]:
    """Ask a version about each key; empty if it cannot be asked."""
    if not paths or _resting.get(version, 0.0) > time.monotonic():
        return ()
    try:
        answer = asker.ask("settings", {"paths": [list(path) for path in paths]}, version=version, timeout=_SECONDS)
        return read(list[KeyInVersion], answer.get("settings"))
    except (Refused, Unavailable, ValidationError):
        # An official release, a program from before this question, or an outage.
        _resting[version] = time.monotonic() + _REST_SECONDS
        return ()
