"""A version's tests, the evidence of their suites, and which changes are allowed.

What a test says is a text here, known by its SHA-256: `headgate.runs.suites` reads it.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Final, Literal

from headgate.foundation import errors
from headgate.foundation.principal import Principal
from headgate_engine.collector import Signal
from headgate_engine.testing.named_test import MAX_TESTS

MAX_BYTES: Final = 12 << 20
"""Limit on the bytes of all tests of a version together, so that a suite of them fits a job."""
MAX_EVIDENCE: Final = 10
"""Number of remembered suites, each for a text, tests and collector version."""

Verdict = Literal["Success", "Fail", "Error"]


class NoSuchTest(errors.NotFound):
    """The version has no test of that name."""

    code = "test_not_found"
    detail = "No such test; list the version's tests for their names"


class BadTestName(errors.InvalidAt):
    """A test is a file in a folder, so its name is one."""

    code = "bad_test_name"
    at = ("path", "name")

    def __init__(self) -> None:
        super().__init__(
            "This must be 1 to 80 of the letters A to Z and a to z, digits, `.`, `_` and `-`, "
            "and begin with a letter or a digit"
        )


class TooManyTests(errors.Conflict):
    """The version has as many tests as it may have."""

    code = "too_many_tests"
    detail = f"A version has {MAX_TESTS} tests at most; delete one first"


class TestsTooLarge(errors.Conflict):
    """The version's tests would exceed the limit together."""

    __test__ = False
    code = "tests_too_large"
    detail = f"All tests of a version have {MAX_BYTES >> 20} MB at most together; shorten a sample, or delete one first"


class NameTakenInOtherCase(errors.Conflict):
    """In a folder on some systems, both would be the same file."""

    code = "test_name_taken"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is a test '{name}', whose name differs in case only; use that name, or another one")


class TestChanged(errors.PreconditionFailed):
    """`If-Match` names an earlier state of the test."""

    __test__ = False
    code = "test_changed"

    def __init__(self, etag: str | None) -> None:
        now = "it does not exist" if etag is None else f"its ETag is now {etag}"
        super().__init__(f"The test has changed since; {now}")


@dataclass(frozen=True, slots=True)
class Content:
    """The place of a test's text: in its list, if it is small, else in the object of that key. `size` is in bytes."""

    sha256: str
    size: int
    compressed: bytes | None
    key: str | None


@dataclass(frozen=True, slots=True)
class ListedTest:
    """A test in the list of its version."""

    name: str
    target_pipeline: str
    signal_type: Signal
    rules: int
    expects_output: bool
    content: Content
    updated_at: datetime
    updated_by: Principal

    @property
    def etag(self) -> str:
        return f'"{self.content.sha256}"'


@dataclass(frozen=True)
class VersionTests:
    """All tests of a version by name. `revision` counts their changes and is 0 if there was none."""

    tests: tuple[ListedTest, ...] = ()
    revision: int = 0

    @cached_property
    def sha256(self) -> str:
        """The content of all tests, by name."""
        return digest([(test.name, test.content.sha256) for test in self.tests])

    def named(self, name: str) -> ListedTest | None:
        return next((test for test in self.tests if test.name == name), None)

    def put(self, test: ListedTest) -> "VersionTests":
        """With the test added or replaced. Raises NameTakenInOtherCase, TooManyTests, TestsTooLarge."""
        others = [each for each in self.tests if each.name != test.name]
        same = next((each.name for each in others if each.name.lower() == test.name.lower()), None)
        if same is not None:
            raise NameTakenInOtherCase(same)
        if len(others) >= MAX_TESTS:
            raise TooManyTests
        if sum(each.content.size for each in (*others, test)) > MAX_BYTES:
            raise TestsTooLarge
        return VersionTests(tuple(sorted([*others, test], key=lambda each: each.name)), self.revision + 1)

    def without(self, name: str) -> "VersionTests":
        """Raises NoSuchTest."""
        if self.named(name) is None:
            raise NoSuchTest
        return VersionTests(tuple(test for test in self.tests if test.name != name), self.revision + 1)

    def require_match(self, name: str, if_match: frozenset[str] | None) -> None:
        """Raises TestChanged if the request's `If-Match` names another state of the test."""
        test = self.named(name)
        if if_match is None:
            return
        if test is None or if_match.isdisjoint(("*", test.etag)):
            raise TestChanged(None if test is None else test.etag)


@dataclass(frozen=True, slots=True)
class TestVerdict:
    """The outcome of one test of a suite."""

    __test__ = False
    name: str
    status: Verdict


@dataclass(frozen=True, slots=True)
class Evidence:
    """The outcome of a suite of all of a version's tests, with its text, tests, collector and feature gates."""

    job_id: str
    text_sha256: str
    tests_sha256: str
    collector_version: str
    tests: tuple[TestVerdict, ...]
    finished_at: datetime
    first_build: bool = False
    """True if the first program of a collector that was being built may have run them: then they do not count."""
    feature_gates: tuple[str, ...] = ()
    """Those of the version, with which its tests were run."""

    @property
    def passed(self) -> bool:
        return all(test.status == "Success" for test in self.tests)

    def is_of(self, evidence: "Evidence") -> bool:
        """True if both are of the same text, tests, collector and feature gates."""
        return _subject(self) == _subject(evidence)


@dataclass(frozen=True, slots=True)
class Recorded:
    """The evidence of a version, newest first. `revision` counts its changes and is 0 if there is none."""

    entries: tuple[Evidence, ...] = ()
    revision: int = 0

    def add(self, evidence: Evidence) -> "Recorded":
        """With the evidence, instead of older evidence of the same; the oldest above the limit is left out.

        Recording the same suite again changes nothing, and a suite that ended earlier does not replace a later one.
        """
        if any(each.job_id == evidence.job_id for each in self.entries):
            return self
        same = next((each for each in self.entries if each.is_of(evidence)), None)
        if same is not None and same.finished_at > evidence.finished_at:
            return self
        remembered = [each for each in self.entries if each is not same]
        entries = sorted([evidence, *remembered], key=lambda each: each.finished_at, reverse=True)[:MAX_EVIDENCE]
        return replace(self, entries=tuple(entries), revision=self.revision + 1)


def digest(tests: Sequence[tuple[str, str]]) -> str:
    """The SHA-256 of tests by their names and the SHA-256 of what each says."""
    listed = json.dumps(sorted(tests), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(listed.encode()).hexdigest()


def text_digest(text: str) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def same_gates(some: Sequence[str], others: Sequence[str]) -> bool:
    """True if two lists of feature gates mean the same to a collector: order and a `+` do not matter."""
    return _plain(some) == _plain(others)


def _plain(gates: Sequence[str]) -> frozenset[str]:
    return frozenset(gate.removeprefix("+") for gate in gates)


def _subject(evidence: Evidence) -> tuple[str, str, str, bool, frozenset[str]]:
    return (
        evidence.text_sha256,
        evidence.tests_sha256,
        evidence.collector_version,
        evidence.first_build,
        _plain(evidence.feature_gates),
    )
