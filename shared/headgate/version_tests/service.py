"""A version's tests and evidence, for those that know that the caller may see the version, or that have no caller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from headgate.foundation.errors import FieldError
from headgate.storage import table
from headgate.storage.retry import retried
from headgate.storage.table import Write
from headgate.version_tests import store
from headgate.version_tests.model import Content, Evidence, Recorded, VersionTests, same_gates, text_digest
from headgate_engine.threads import Threads

NO_TESTS: Final = "no_tests"
"""The code of what is missing where a version has no tests."""
NOT_PASSED: Final = "test_not_passed"
"""The code where a test of the version as it is ended otherwise."""
_PLACE: Final = ("tests",)
_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class Proof:
    """The evidence of a version's tests: `missing` has the reasons why they do not count as passed.

    `still_so` is for a transaction that depends on it, which fails unless tests and evidence are still these.
    """

    missing: Sequence[FieldError]
    still_so: Sequence[Write]


@dataclass(frozen=True, slots=True)
class TestedText:
    """The text, collector and feature gates that a version's tests run with."""

    text_sha256: str
    collector_version: str
    feature_gates: Sequence[str]


def subject(yaml: str, collector_version: str, feature_gates: Sequence[str]) -> TestedText:
    """The text, collector and feature gates that tests of a version with this text run with."""
    return TestedText(text_digest(yaml), collector_version, feature_gates)


def of_version(configuration_id: str, n: int) -> VersionTests:
    """One read."""
    return store.tests(configuration_id, n)


def with_evidence(configuration_id: str, n: int) -> tuple[VersionTests, Recorded]:
    """One read of both."""
    return store.tests_and_evidence(configuration_id, n)


def content(text: str) -> Content:
    """The stored content of a test, by its hash."""
    return store.content(text)


def text(content: Content) -> str:
    """Returns the content of a test; a GET if it is large."""
    return store.text(content)


def texts(contents: Sequence[Content]) -> list[str]:
    """Returns the content of tests, in their order; a GET for each large one, several at once."""
    with Threads(_AT_ONCE) as threads:
        return list(threads.map(store.text, contents))


def save(configuration_id: str, n: int, before: VersionTests, after: VersionTests, *conditions: Write) -> None:
    """One transaction. Raises LostRace if a condition does not hold, or the tests are no longer as in `before`."""
    store.save(configuration_id, n, before, after, *conditions)


def carried(configuration_id: str, n: int, to: int) -> list[Write]:
    """For the transaction that makes the version `to`: it gets the tests of version `n`; one read."""
    return store.carried(configuration_id, n, store.tests(configuration_id, n), to)


def deleting(configuration_id: str, n: int) -> list[Write]:
    """For the transaction that deletes the version, with its tests and evidence."""
    return store.deleting(configuration_id, n)


@retried
def record(
    configuration_id: str,
    n: int,
    evidence: Evidence,
    ending: Write | None = None,
    refusal: Exception | None = None,
    beside: Sequence[Write] = (),
) -> None:
    """Keep what a suite of all of the version's tests came to, with `ending` and `beside` in the same transaction.

    Raises Contention, and `refusal` if the condition of `ending` does not hold.
    """
    before = store.evidence(configuration_id, n)
    after = before.add(evidence)
    writes = [*([ending] if ending else []), *beside]
    refusals = {0: refusal} if ending and refusal else {}
    if after is not before:
        writes.append(store.recording(configuration_id, n, before, after))
    if writes:
        table.transact(writes, refusals)


def proof(configuration_id: str, n: int, subject: TestedText) -> Proof:
    """Look up whether the version passed its tests, as all of it is now; one read. Nothing is run."""
    tests, recorded = store.tests_and_evidence(configuration_id, n)
    missing = [*_missing(tests, recorded, subject)]
    conditions = [
        store.unchanged(configuration_id, n, tests),
        store.evidence_unchanged(configuration_id, n, recorded),
    ]
    return Proof(missing, conditions)


def is_current(evidence: Evidence, tests: VersionTests, subject: TestedText) -> bool:
    """True if the evidence is of the version and its tests as they are now."""
    return evidence.tests_sha256 == tests.sha256 and not [*_changes(evidence, subject)]


def _missing(tests: VersionTests, recorded: Recorded, subject: TestedText) -> Iterator[FieldError]:
    if not tests.tests:
        yield FieldError(_PLACE, "This version has no tests", code=NO_TESTS)
        return
    if not recorded.entries:
        yield FieldError(_PLACE, "No suite of all tests of this version has ended yet", code="tests_not_run")
        return

    def differs(evidence: Evidence) -> Sequence[FieldError]:
        return [*_differences(evidence, tests, subject)]

    # The one that is nearest tells the most; of several, the newest.
    nearest = min(recorded.entries, key=lambda each: len(differs(each)))
    yield from differs(nearest)
    if not differs(nearest):
        for test in nearest.tests:
            if test.status != "Success":
                message = f"The test {test.name} ended with {test.status}"
                yield FieldError((*_PLACE, test.name), message, code=NOT_PASSED)


def _differences(evidence: Evidence, tests: VersionTests, subject: TestedText) -> Iterator[FieldError]:
    """The reason why the evidence does not count."""
    yield from _changes(evidence, subject)
    if evidence.tests_sha256 != tests.sha256:
        yield FieldError(_PLACE, "The tests have changed since they were run", code="tests_changed")
    if evidence.first_build:
        message = f"The tests were run while collector {evidence.collector_version} was being built: run them again"
        yield FieldError(_PLACE, message, code="other_collector")


def _changes(evidence: Evidence, subject: TestedText) -> Iterator[FieldError]:
    """Differences between the version and the state in which its tests were run."""
    if evidence.text_sha256 != subject.text_sha256:
        yield FieldError(_PLACE, "The text has changed since its tests were run", code="text_changed")
    if evidence.collector_version != subject.collector_version:
        versions = evidence.collector_version, subject.collector_version
        message = "The tests were run on collector {}; this version is for {}".format(*versions)
        yield FieldError(_PLACE, message, code="other_collector")
    if not same_gates(evidence.feature_gates, subject.feature_gates):
        ran, now = (", ".join(gates) or "none" for gates in (evidence.feature_gates, subject.feature_gates))
        message = f"The tests were run with other feature gates: {ran}; this version has {now}"
        yield FieldError(_PLACE, message, code="other_feature_gates")
