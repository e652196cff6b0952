"""Comparisons: the same tests on two sides, and what differs in what comes out."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal

from pydantic import BaseModel, JsonValue, ValidationError

from headgate_engine.answers import read
from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import NoChecker, Refused
from headgate_engine.collector import Signal
from headgate_engine.errors import Invalid
from headgate_engine.rules import outputs
from headgate_engine.rules.engine import ComponentError, RunNote
from headgate_engine.rules.outputs import ComparisonFailed, Differences, Incomparable, RecordCounts, RunPeriod
from headgate_engine.testing.model import LONGEST, Case, CaseResult, Unworkable
from headgate_engine.testing.named_test import NamedTest, of_text, to_text
from headgate_engine.testing.samples import require_small
from headgate_engine.testing.services import by_service
from headgate_engine.upgrades.model import InspectedComponent

SideName = Literal["left", "right"]
# A result may have 4 MB: the differences of all tests, at most twice this, and what the collectors said.
_DIFFERENCES: Final = 1 << 20
_LONGEST_STDERR: Final = 2_000
_LONGEST_REASON: Final = 1_000
_LONGEST_SERVICE: Final = 200
_MOST_SERVICES: Final = 20
# A step has 60 s, some of which the questions about the collectors' starts need.
_COMPARING_SECONDS: Final = 20.0
_TOO_LONG: Final = "the outputs of the tests before took too long to compare; compare fewer tests, or smaller samples"


class ComparisonSide(BaseModel):
    """One of the two that are compared. Tests without feature gates of their own run with its gates."""

    yaml: str
    collector_version: str
    configuration_id: str | None = None
    version_number: int | None = None
    feature_gates: Sequence[str] = ()


class Test(BaseModel):
    """A test, as `suites.model.to_text` writes it."""

    __test__ = False

    name: str
    text: str


class ComparisonRequest(BaseModel):
    """A comparison. Without `ignore`, a test's own paths are ignored, or the default ones."""

    left: ComparisonSide
    right: ComparisonSide
    tests: list[Test]
    ignore: list[str] | None = None


class ComparedSide(BaseModel):
    """A compared side: a stored version, or a text if it has no id."""

    collector_version: str
    configuration_id: str | None
    version_number: int | None


class SideOutcome(BaseModel):
    """A test on one side. `refused`: it cannot be run there; `reason` says why, and `line` where."""

    status: Literal["ran", "refused", "error"]
    reason: str
    line: int | None
    records_in: int | None
    stderr: str
    component_errors: list[ComponentError] = []
    notes: list[RunNote] = []
    seconds: float


class ServiceSaving(BaseModel):
    """The reduction of one service's output on the right side, by the name in its resources."""

    service: str
    left_records: int
    right_records: int
    left_bytes: int
    right_bytes: int
    words: str


class Saving(BaseModel):
    """The reduction of the output on the right side, for the same sample of `records_in` records.

    Bytes are those of the output as OTLP/JSON, which is longer than what exporters send, on both sides alike. `words`
    says it all in a sentence. `services` are those that put out less, the largest saving first, 20 at most.
    """

    records_in: int
    left_records: int
    right_records: int
    left_bytes: int
    right_bytes: int
    words: str
    services: list[ServiceSaving] = []


class ComparedTest(BaseModel):
    """A test on both sides. `not_compared`: it did not run on one of them, or there is too much; `reason` says why.

    A side that does not have the pipeline puts nothing out.
    """

    name: str
    target_pipeline: str
    signal_type: Signal
    status: Literal["equal", "differs", "not_compared"]
    reason: str
    left: SideOutcome
    right: SideOutcome
    differences: Differences | None
    saving: Saving | None = None


class LoggedMessage(BaseModel):
    """A warning or an error that a collector logs while it starts; `component` is `processors::batch`, or empty."""

    level: Literal["warn", "error"]
    component: str
    message: str


class StartDifferences(BaseModel):
    """Start messages of only one collector, and how many both log. `left_out` more are not listed."""

    left: list[LoggedMessage]
    right: list[LoggedMessage]
    same: int
    left_out: int


class ComparisonResult(BaseModel):
    """A comparison's result. `compared` is false if a test is `not_compared`; `equal` if every test is `equal`.

    `signals` counts the records of all tests. `starts` is there if the collector versions differ.
    """

    equal: bool
    compared: bool
    left: ComparedSide
    right: ComparedSide
    signals: dict[Signal, RecordCounts]
    tests: list[ComparedTest]
    starts: StartDifferences | None


class BadIgnoredPath(Invalid):
    """A path of `ignore` that no record can have."""

    code = "bad_path"
    at = ("body", "ignore")


def require_paths(ignore: Sequence[str], *, asker: Asker) -> None:
    """Raises BadIgnoredPath, Unavailable."""
    try:
        outputs.compare("", "", ignore=ignore, asker=asker)
    except Incomparable as refused:
        raise BadIgnoredPath(refused.message) from refused


def request_of(
    left: ComparisonSide, right: ComparisonSide, tests: Mapping[str, NamedTest], ignore: Sequence[str] | None
) -> JsonValue:
    """The request of a comparison. Raises SampleTooLarge."""
    for test in tests.values():
        require_small(test.as_sample())
    asked = ComparisonRequest(
        left=left,
        right=right,
        tests=[Test(name=name, text=to_text(replace(test, rules=(), expected=None))) for name, test in tests.items()],
        ignore=None if ignore is None else list(ignore),
    )
    document: JsonValue = asked.model_dump(mode="json")
    return document


def cases(request: JsonValue, _asker: Asker) -> Sequence[Case]:
    """Each test on both sides."""
    asked = ComparisonRequest.model_validate(request)
    return [_case(name, side, test) for test in asked.tests for name, side in _sides(asked).items()]


def conclude(begun: datetime, request: JsonValue, results: Sequence[CaseResult], asker: Asker) -> JsonValue:
    """The differences, test by test."""
    asked = ComparisonRequest.model_validate(request)
    by_id = {result.case.id: result for result in results}
    comparing = _Comparing(asked, RunPeriod(begun, begun + LONGEST), asker)
    tests = [
        comparing.test(test, by_id[_id("left", test.name)], by_id[_id("right", test.name)]) for test in asked.tests
    ]
    result = ComparisonResult(
        equal=all(test.status == "equal" for test in tests),
        compared=all(test.status != "not_compared" for test in tests),
        left=_compared(asked.left),
        right=_compared(asked.right),
        signals=_signals(tests),
        tests=tests,
        starts=_starts(asked, results, asker),
    )
    document: JsonValue = result.model_dump(mode="json")
    return document


def _sides(asked: ComparisonRequest) -> Mapping[SideName, ComparisonSide]:
    return {"left": asked.left, "right": asked.right}


def _id(side: SideName, test: str) -> str:
    return f"{side}/{test}"


def _case(name: SideName, side: ComparisonSide, named: Test) -> Case:
    test = of_text(named.text).gated(side.feature_gates)
    return test.case(_id(name, named.name), side.yaml, side.collector_version, judged=False)


def _compared(side: ComparisonSide) -> ComparedSide:
    return ComparedSide.model_validate(side.model_dump(exclude={"yaml", "feature_gates"}))


class _Comparing:
    """Compares the outputs of tests, within the bounds that they have together."""

    def __init__(self, asked: ComparisonRequest, ran: RunPeriod, asker: Asker) -> None:
        self._asked = asked
        self._ran = ran
        self._asker = asker
        self._bytes = _DIFFERENCES // len(asked.tests)
        self._deadline = time.monotonic() + _COMPARING_SECONDS

    def test(self, test: Test, left: CaseResult, right: CaseResult) -> ComparedTest:
        """Raises Unworkable, Unavailable."""
        own = of_text(test.text).ignore
        ignore = self._asked.ignore if self._asked.ignore is not None else None if own is None else list(own)
        reason, differences = _why_not(left, right), None
        if not reason and time.monotonic() > self._deadline:
            reason = _TOO_LONG
        if not reason:
            try:
                differences = self._differences(left.output, right.output, ignore).whole()
            except Incomparable as refused:
                reason = refused.message
        status: Literal["equal", "differs", "not_compared"] = "not_compared"
        if differences is not None:
            status = "equal" if differences.equal and not _lacks_pipeline(left, right) else "differs"
            reason = _lacks_pipeline(left, right)
        return ComparedTest(
            name=test.name,
            target_pipeline=left.case.target_pipeline,
            signal_type=left.case.signal_type,
            status=status,
            reason=reason[: 2 * _LONGEST_REASON],
            left=_outcome(left),
            right=_outcome(right),
            differences=differences,
            saving=_saving(left, right, differences),
        )

    def _differences(self, left: str, right: str, ignore: Sequence[str] | None) -> Differences:
        return outputs.compare(
            left,
            right,
            asker=self._asker,
            ignore=ignore,
            left_ran=self._ran,
            right_ran=self._ran,
            max_bytes=self._bytes,
        )


def _saving(left: CaseResult, right: CaseResult, differences: Differences | None) -> Saving | None:
    """The reduction on the right side; None without a comparison, a counted sample or a smaller output."""
    if left.records_in is None or differences is None:
        return None
    counts = differences.signals.values()
    records = sum(count.left for count in counts), sum(count.right for count in counts)
    sizes = len(left.output.encode()), len(right.output.encode())
    if records[1] >= records[0] and sizes[1] >= sizes[0]:
        return None
    sample = f"{left.records_in:,} record{'' if left.records_in == 1 else 's'}"
    sentence = f"{_change(*records, 'records')} and {_change(*sizes, 'bytes')} of OTLP/JSON come out"
    return Saving(
        records_in=left.records_in,
        left_records=records[0],
        right_records=records[1],
        left_bytes=sizes[0],
        right_bytes=sizes[1],
        words=f"of the same sample of {sample}, {sentence}",
        services=_by_service(left.output, right.output),
    )


def _by_service(left: str, right: str) -> list[ServiceSaving]:
    before, after = by_service(left), by_service(right)
    savings = []
    for service, (records, size) in before.items():
        records_after, size_after = after.get(service, (0, 0))
        if records_after < records or size_after < size:
            words = f"{_change(records, records_after, 'records')} and {_change(size, size_after, 'bytes')}"
            savings.append(
                ServiceSaving(
                    service=service[:_LONGEST_SERVICE],
                    left_records=records,
                    right_records=records_after,
                    left_bytes=size,
                    right_bytes=size_after,
                    words=words,
                )
            )
    return sorted(savings, key=lambda saving: saving.right_bytes - saving.left_bytes)[:_MOST_SERVICES]


def _change(before: int, after: int, unit: str) -> str:
    """`500 instead of 1,000 records (-50 %)`."""
    if after == before:
        return f"{after:,} {unit} as before"
    share = f" ({100 * (after - before) / before:+.0f} %)" if before else ""
    return f"{after:,} instead of {before:,} {unit}{share}"


def _lacks_pipeline(left: CaseResult, right: CaseResult) -> str:
    """The reason why only one side has the pipeline; empty if both have it."""
    for name, side, opposite in (("left", left, right), ("right", right, left)):
        if side.status == "refused" and side.field == "target_pipeline" and opposite.status == "ran":
            return f"{name}: {side.reason}"
    return ""


def _why_not(left: CaseResult, right: CaseResult) -> str:
    """The reason why there is no comparison; empty if there is one."""
    if _lacks_pipeline(left, right):
        return ""
    if left.status != "ran" and right.status != "ran" and left.reason == right.reason:
        return left.reason
    reasons = [f"{name}: {side.reason}" for name, side in (("left", left), ("right", right)) if side.status != "ran"]
    return "; ".join(reasons)


def _outcome(result: CaseResult) -> SideOutcome:
    return SideOutcome(
        status=result.status,
        reason=result.reason[:_LONGEST_REASON],
        line=result.line,
        records_in=result.records_in,
        stderr=result.stderr[:_LONGEST_STDERR],
        component_errors=list(result.component_errors),
        notes=list(result.notes),
        seconds=round(result.seconds, 1),
    )


def _signals(tests: Sequence[ComparedTest]) -> dict[Signal, RecordCounts]:
    totals: dict[Signal, RecordCounts] = {}
    for test in tests:
        for signal, counts in (test.differences.signals if test.differences else {}).items():
            total = totals.setdefault(signal, RecordCounts(left=0, right=0, same=0, changed=0, added=0, missing=0))
            for field in RecordCounts.model_fields:
                setattr(total, field, getattr(total, field) + getattr(counts, field))
    return totals


def _starts(asked: ComparisonRequest, results: Sequence[CaseResult], asker: Asker) -> StartDifferences | None:
    """Messages that only one of two collector versions logs at its start; None for one version. Raises Unavailable."""
    if asked.left.collector_version == asked.right.collector_version:
        return None
    request: dict[str, object] = {
        name: {
            "logs": [result.log for result in results if result.case.id.startswith(_id(name, "")) and result.log],
            **_built(side, asker),
        }
        for name, side in _sides(asked).items()
    }
    try:
        return StartDifferences.model_validate(asker.ask("compare_starts", request))
    except Refused as refused:
        raise Unworkable(f"what the collectors log could not be compared: {refused.message}") from refused
    except ValidationError as error:
        raise ComparisonFailed("What the collectors log could not be compared: the answer is not valid") from error


def _built(side: ComparisonSide, asker: Asker) -> dict[str, object]:
    """Logs of the whole configuration's components while they are built, and the components with a new name.

    A test replaces some of them. Nothing of a collector without a checker. Raises Unavailable.
    """
    version = None if side.collector_version == asker.default_version else side.collector_version
    try:
        answer = asker.ask("inspect", {"yaml": side.yaml, "env": {}}, version=version)
        components = read(list[InspectedComponent], answer.get("components"))
    except (Refused, NoChecker):
        return {}
    except ValidationError as error:
        raise ComparisonFailed(f"Collector {side.collector_version} answered in an unknown form") from error
    built = [
        {"level": line.level, "component": component.component_path, "message": line.message}
        for component in components
        for line in component.logs
    ]
    renamed = [
        {"component": component.component_path, "type": component.type, "to": component.renamed_to}
        for component in components
        if component.renamed_to
    ]
    return {"built": built, "renamed": renamed}
