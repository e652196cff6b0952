"""The size of a suite's result: what is left out if its tests are larger than a result may be."""

import json
from typing import Any

from headgate.http.app import LARGEST_ANSWER
from headgate_engine.rules.outputs import Difference, Differences, FieldDifference, SignalSummary
from headgate_engine.testing import suite_result
from headgate_engine.testing.model import MAX_RESULT_BYTES
from headgate_engine.testing.named_test import MAX_TESTS
from headgate_engine.testing.suite_result import RuleOutcome, TestOutcome


def outcome(name: str, **changes: Any) -> TestOutcome:
    made = TestOutcome(
        name=name,
        status="Fail",
        reason="",
        field=None,
        line=None,
        validation_results=[],
        records=None,
        differences=None,
        output=None,
        output_left_out=False,
        stderr="",
        cut=False,
        seconds=1.0,
    )
    return made.model_copy(update=changes)


def largest(name: str) -> TestOutcome:
    """As large as a test can get: control characters take six bytes each in JSON."""
    wide = "\x01" * 4_096
    rule = RuleOutcome(
        name="\x01" * 200,
        passed=False,
        context="log",
        condition=wide,
        expect="any",
        min=None,
        max=None,
        matched=0,
        total=0,
        message=wide,
    )
    field = FieldDifference(path=wide, change="changed", left={"stringValue": wide}, right={"stringValue": wide})
    difference = Difference(signal="logs", change="changed", left=0, right=0, name=wide, fields=[field] * 4)
    summary = SignalSummary(left=1, right=1, same=0, changed=1, added=0, missing=0, fields=[], complete=True)
    differences = Differences(equal=False, signals={"logs": summary}, differences=[difference] * 10, left_out=0)
    return outcome(
        name,
        reason=wide,
        validation_results=[rule] * 20,
        differences=differences,
        stderr=wide * 16,
        output=wide * 10,
    )


def size(outcomes: list[TestOutcome]) -> int:
    """In bytes as a function's answer has them: as JSON in JSON."""
    document = json.dumps([one.model_dump(mode="json") for one in outcomes], ensure_ascii=False)
    return len(json.dumps(document, ensure_ascii=False).encode())


def test_fifty_tests_at_their_largest_fit_a_result() -> None:
    fitted = suite_result.fitted([largest(f"{number:080}") for number in range(MAX_TESTS)])

    assert size(fitted) < MAX_RESULT_BYTES
    assert {(one.status, one.cut, len(one.validation_results)) for one in fitted} == {("Fail", True, 20)}
    assert {one.output is None for one in fitted} == {one.output_left_out for one in fitted} == {True, False}
    differences = fitted[0].differences
    assert differences is not None
    assert (len(differences.differences), differences.left_out) == (5, 5)
    assert differences.differences[0].fields_left_out == 4


def test_an_output_of_quotation_marks_counts_as_an_answer_has_it() -> None:
    """OTLP/JSON is full of them, and each takes four bytes in the end."""
    fitted = suite_result.fitted([outcome("a", output='""' * 950_000)])

    assert size(fitted) < LARGEST_ANSWER
    assert fitted[0].output_left_out


def test_what_fits_is_not_cut() -> None:
    small = [outcome("a", stderr="x" * 60_000, output="y"), outcome("b")]

    assert suite_result.fitted(small) == small


def test_only_tests_that_take_more_than_their_share_are_cut() -> None:
    fitted = suite_result.fitted([largest("a"), *(outcome(f"{n}", stderr="x" * 2_500) for n in range(9))], 200_000)

    assert [one.cut for one in fitted] == [True] + [False] * 9
    assert fitted[1].stderr == "x" * 2_500


def test_the_smallest_outputs_are_kept() -> None:
    sizes = [5_000, 100, 90_000, 200]
    fitted = suite_result.fitted([outcome(f"{n}", output="x" * length) for n, length in enumerate(sizes)], 20_000)

    assert [(len(one.output or ""), one.output_left_out) for one in fitted] == [
        (5_000, False),
        (100, False),
        (0, True),
        (200, False),
    ]
