"""The change of a push: a file, its tests, and its configuration on the server."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from headgate_cli.checks.checked import TextToCheck
from headgate_cli.configurations.folder import Folder, digest
from headgate_cli.configurations.lookup import Latest
from headgate_cli.output import diff, say
from headgate_cli.suites.sync import TestChanges
from headgate_cli.untrusted import one_line


@dataclass(frozen=True, slots=True)
class PushedChange:
    """A file, its text, and its configuration on the server; `latest` is None if it is not there yet.

    `collector_version` and `gates` are those that were asked for, or empty. `tests` is None if the tests on the server
    stay as they are.
    """

    folder: Folder
    file: str
    text: str
    name: str
    latest: Latest | None
    collector_version: str = ""
    tests: TestChanges | None = None
    gates: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        return str(self.folder.path / self.file)

    @property
    def saves(self) -> bool:
        """True if a version is added: for another text, or to a published one for another collector or other tests."""
        return self.latest is None or self.latest.yaml != self.text or (self.alters and not self.is_draft)

    @property
    def alters(self) -> bool:
        """True if what goes with the text changes: the collector version, its gates or the tests."""
        return self.moves or self.regates or bool(self.tests and self.tests.changes)

    @property
    def moves(self) -> bool:
        """True if another collector version was asked for than the latest version has."""
        now = self.latest.collector_version if self.latest else ""
        return bool(self.collector_version) and self.collector_version != now

    @property
    def regates(self) -> bool:
        """True if other feature gates were asked for than the latest version has."""
        return bool(self.gates) and self.gates != (self.latest.feature_gates if self.latest else ())

    @property
    def checked(self) -> TextToCheck:
        """The text with the collector that validates it."""
        version, gates = (self.latest.collector_version, self.latest.feature_gates) if self.latest else ("", ())
        return TextToCheck(self.text, self.collector_version or version, self.gates or gates)

    @property
    def is_draft(self) -> bool:
        """True if the latest version on the server is not published yet."""
        return self.latest is None or self.latest.published != self.latest.version


def conflicts(change: PushedChange) -> bool:
    """True if the server's latest text, or a test, differs from what was last pulled or pushed here."""
    return _text_conflicts(change) or bool(change.tests and change.tests.conflicts)


def _text_conflicts(change: PushedChange) -> bool:
    entry, latest = change.folder.entries.get(change.file), change.latest
    if entry is None or latest is None or entry.id != latest.id or latest.yaml == change.text:
        return False
    # Compare texts, not numbers: a draft changes without a new number.
    return digest(latest.yaml) != entry.sha256


def say_conflict(conflict: PushedChange) -> None:
    if _text_conflicts(conflict):
        _say_text_conflict(conflict)
    if conflict.tests and conflict.tests.conflicts:
        _say_test_conflicts(conflict.tests)


def _say_test_conflicts(tests: TestChanges) -> None:
    for name in tests.conflicts:
        gone = "" if name in tests.there else "was deleted on the server since the last pull or push here"
        there = gone or "was changed on the server since the last pull or push here"
        if name in tests.delete:
            there = f"is on the server, and not in {one_line(str(tests.folder))}"
        say(f"{one_line(str(tests.folder))}: the test {one_line(name)} {there}")
    say("Get what is on the server with `headgate config pull`, or replace it by what is here with --force")


def _say_text_conflict(conflict: PushedChange) -> None:
    entry, latest = conflict.folder.entries[conflict.file], conflict.latest
    assert latest is not None
    path = one_line(conflict.path)
    changed = f"{path}: version {latest.version} on the server differs from what was last pulled or pushed here"
    if digest(conflict.text) == entry.sha256:
        say(f"{changed}, and the file is unchanged: get it with `headgate config pull`")
        return
    say(
        f"{changed} (version {entry.version}). Compare them with\n"
        f"  headgate config diff {one_line(latest.id)} --file {one_line(shlex.quote(conflict.path))}\n"
        "copy what you need from it into the file, and push with --force"
    )


def show(changes: Sequence[PushedChange], *, publish: bool) -> None:
    for change in changes:
        label, path, too = one_line(change.name), one_line(change.path), published_too(publish)
        collector = collector_too(change)
        if change.latest is None:
            diff("", change.text, ("/dev/null", path))
            say(f"{path}: would become a new configuration {label}{collector}{too}")
        elif change.saves:
            diff(change.latest.yaml, change.text, (f"{label} v{change.latest.version}", path))
            say(f"{path}: would become {label} v{change.latest.version + 1}{collector}{too}")
        elif change.moves or change.regates:
            say(f"{path}: would stay {label} v{change.latest.version}{collector}{too}")
        elif publish and change.is_draft:
            say(f"{path}: {label} v{change.latest.version} would be published")
        elif not (change.tests and change.tests.changes):
            say(f"{path}: no change")
        if change.tests:
            _show_tests(change.tests)


def _show_tests(tests: TestChanges) -> None:
    folder = one_line(str(tests.folder))
    for test in tests.put:
        say(f"{one_line(test.file)}: would be saved{'' if test.name in tests.there else ' as a new test'}")
    for name in tests.delete:
        say(f"{folder}: the test {one_line(name)} would be deleted on the server")


def collector_too(change: PushedChange) -> str:
    collector = f", for collector {change.collector_version}" if change.moves else ""
    return collector + (f", with the feature gates {', '.join(map(one_line, change.gates))}" if change.regates else "")


def published_too(publish: bool) -> str:
    return ", published" if publish else ""
