"""Operations on the tests of a version, with the permissions that each requires."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from headgate.configurations import service as configurations
from headgate.configurations.model import Version
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.settings import settings
from headgate.runs.suites.model import NoTests, TestsNotFound
from headgate.storage.retry import retried, retry
from headgate.version_tests import service as version_tests
from headgate.version_tests.model import BadTestName, Evidence, ListedTest, NoSuchTest, Verdict, VersionTests
from headgate_engine.testing.named_test import NAME, NamedTest, of_text, to_text


@dataclass(frozen=True, slots=True)
class Shown:
    """Evidence, and whether it is of the version as it is now: its text, tests, collector and feature gates."""

    evidence: Evidence
    current: bool


@dataclass(frozen=True, slots=True)
class PastOutcome:
    """The outcome of a test in one suite, and whether that suite was of the version as it is now."""

    __test__ = False
    status: Verdict
    collector_version: str
    finished_at: datetime
    current: bool


@dataclass(frozen=True, slots=True)
class TestsOverview:
    """A version's tests by name, and the evidence of their suites, newest first."""

    tests: VersionTests
    evidence: Sequence[Shown]

    def history(self, name: str) -> Sequence[PastOutcome]:
        """Outcomes of a test in the newest suite of each text, tests, collector and feature gates, newest last."""
        suites = sorted(self.evidence, key=lambda shown: shown.evidence.finished_at)
        return [
            PastOutcome(verdict.status, suite.evidence.collector_version, suite.evidence.finished_at, suite.current)
            for suite in suites
            for verdict in suite.evidence.tests
            if verdict.name == name
        ]


@dataclass(frozen=True, slots=True)
class Selection:
    """Tests with what they run: a text, on its version's collector with its feature gates, or on the default one.

    `tests_sha256` is there if they are all tests of a stored version.
    """

    yaml: str
    collector_version: str
    feature_gates: Sequence[str]
    published: bool
    tests: Sequence[tuple[str, NamedTest]]
    tests_sha256: str | None = None
    configuration_id: str | None = None
    n: int | None = None


def overview(caller: Caller, configuration_id: str, n: int) -> TestsOverview:
    """Two reads. Raises ConfigurationNotFound, VersionNotFound."""
    version = configurations.get_version(caller, configuration_id, n)
    return overview_of(configuration_id, version)


def overview_of(configuration_id: str, version: Version) -> TestsOverview:
    """The overview of a version that the caller may see; one read."""
    tests, recorded = version_tests.with_evidence(configuration_id, version.n)
    subject = version_tests.subject(version.yaml or "", version.collector_version, version.feature_gates)
    return TestsOverview(
        tests, [Shown(each, version_tests.is_current(each, tests, subject)) for each in recorded.entries]
    )


def get(caller: Caller, configuration_id: str, n: int, name: str) -> tuple[ListedTest, NamedTest]:
    """One test; two reads, and a GET if it is large. Raises ConfigurationNotFound, VersionNotFound, NoSuchTest."""
    configurations.get_version_without_text(caller, configuration_id, n)
    listed = version_tests.of_version(configuration_id, n).named(name)
    if listed is None:
        raise NoSuchTest
    return listed, of_text(version_tests.text(listed.content))


def tests_of(configuration_id: str, n: int) -> dict[str, NamedTest]:
    """All tests of a version that the caller is known to see, by name; one read, and a GET for each large test."""
    listed = version_tests.of_version(configuration_id, n).tests
    texts = version_tests.texts([each.content for each in listed])
    return {each.name: of_text(text) for each, text in zip(listed, texts, strict=True)}


def select(caller: Caller, configuration_id: str, n: int, names: Sequence[str] | None) -> Selection:
    """The cases of a suite of a version: the tests of these names, or all; two reads, and a GET for each large test.

    Raises ConfigurationNotFound, VersionNotFound, NoTests, TestsNotFound.
    """
    version = configurations.get_version(caller, configuration_id, n)
    stored = version_tests.of_version(configuration_id, n)
    if not stored.tests:
        raise NoTests(n)
    required = None if names is None else set(names)
    chosen = [test for test in stored.tests if required is None or test.name in required]
    unknown = [(place, name) for place, name in enumerate(names or ()) if stored.named(name) is None]
    if unknown:
        raise TestsNotFound(n, unknown)
    texts = version_tests.texts([each.content for each in chosen])
    return Selection(
        yaml=version.yaml or "",
        collector_version=version.collector_version,
        feature_gates=version.feature_gates,
        published=version.status == "published",
        tests=[
            (each.name, of_text(text).gated(version.feature_gates)) for each, text in zip(chosen, texts, strict=True)
        ],
        tests_sha256=stored.sha256 if len(chosen) == len(stored.tests) else None,
        configuration_id=configuration_id,
        n=n,
    )


def of_given_text(yaml: str, tests: Sequence[tuple[str, NamedTest]]) -> Selection:
    """The cases of a suite of a text that is not stored."""
    return Selection(yaml, settings().collector_version, (), published=False, tests=tests)


def put(
    caller: Caller, configuration_id: str, n: int, name: str, test: NamedTest, if_match: frozenset[str] | None
) -> ListedTest:
    """Add a test to a draft or replace one, by its name. It is not run, and its rules are not compiled.

    Raises ConfigurationNotFound, VersionNotFound, NotTheOwner, VersionIsPublished, BadTestName, NameTakenInOtherCase,
    TooManyTests, TestsTooLarge, TestChanged.
    """
    if not NAME.fullmatch(name):
        raise BadTestName
    at = clock.now()
    configurations.changing_draft(caller, configuration_id, n, at)
    listed = ListedTest(
        name=name,
        target_pipeline=test.target_pipeline,
        signal_type=test.signal_type,
        rules=len(test.rules),
        expects_output=test.expected is not None,
        content=version_tests.content(to_text(test)),
        updated_at=at,
        updated_by=caller.principal,
    )

    def once() -> ListedTest:
        draft = configurations.changing_draft(caller, configuration_id, n, at)
        before = version_tests.of_version(configuration_id, n)
        before.require_match(name, if_match)
        there = before.named(name)
        if there is not None and there.content == listed.content:
            return there
        version_tests.save(configuration_id, n, before, before.put(listed), *draft)
        return listed

    return retry(once)


@retried
def delete(caller: Caller, configuration_id: str, n: int, name: str, if_match: frozenset[str] | None) -> None:
    """Delete a test of a draft.

    Raises ConfigurationNotFound, VersionNotFound, NotTheOwner, VersionIsPublished, NoSuchTest, TestChanged.
    """
    draft = configurations.changing_draft(caller, configuration_id, n, clock.now())
    before = version_tests.of_version(configuration_id, n)
    after = before.without(name)
    before.require_match(name, if_match)
    version_tests.save(configuration_id, n, before, after, *draft)
