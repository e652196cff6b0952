"""The result of a suite, cut to the size of a job's result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final, Literal, Self

from pydantic import BaseModel

from headgate_engine.collector import Signal
from headgate_engine.rules.engine import ComponentError, RunNote
from headgate_engine.rules.model import Context, Expect, Rule
from headgate_engine.rules.outputs import Difference, Differences
from headgate_engine.testing.model import MAX_RESULT_BYTES, size_in_answer

# A control character takes seven bytes in an answer. 50 tests of 20 rules, cut, are below a result at their worst.
_ROOM: Final = MAX_RESULT_BYTES - 200_000
_CUT_REASON: Final = 500
_CUT_STDERR: Final = 1_500
_CUT_DIFFERENCES: Final = 5
_CUT_FIELDS: Final = 5
_CUT_FIELD: Final = 500
_CUT_CONDITION: Final = 80
_CUT_MESSAGE: Final = 150


class RuleOutcome(BaseModel):
    """The result of one rule, with the fields that a test run's has."""

    name: str
    passed: bool
    context: Context
    condition: str
    expect: Expect
    min: int | None
    max: int | None
    matched: int
    total: int
    message: str

    @classmethod
    def of(cls, rule: Rule, verdict: object, **more: object) -> Self:
        """Each field from `more`, the verdict or the rule."""
        seen = {name: getattr(verdict, name) for name in ("passed", "matched", "total", "message")}
        return cls.model_validate(asdict(rule) | seen | more)


class TestOutcome(BaseModel):
    """The result of one test. In `Error`, `reason` says why, and the first line of `stderr`.

    `field` is the field of the test that is at fault, or `yaml`, and `line` the line in it; null if none is known.
    `differences` are those of the expected output (left) and this one (right), if the test expects one. `output` is
    there if it was asked for; with `output_left_out`, the result has no room for it: ask for that test alone. With
    `cut`, the result has no room for all of `stderr`, of the differences or of the rules' texts.
    """

    __test__ = False

    name: str
    status: Literal["Success", "Fail", "Error"]
    reason: str
    field: str | None
    line: int | None
    validation_results: list[RuleOutcome]
    # Records by signal: the sample's, and the output's.
    records: dict[Literal["in", "out"], dict[Signal, int]] | None
    differences: Differences | None
    output: str | None
    output_left_out: bool
    stderr: str
    component_errors: list[ComponentError] = []
    notes: list[RunNote] = []
    cut: bool
    seconds: float


class SuiteResult(BaseModel):
    """The result of a suite: `passed` if every test is a Success."""

    passed: bool
    collector_version: str
    tests: list[TestOutcome]


def fitted(tests: Sequence[TestOutcome], room: int = _ROOM) -> list[TestOutcome]:
    """The outcomes within `room` bytes of an answer: outputs as far as they fit, the smallest first; what is cut last.

    Each test is cut only if it has more than its share.
    """
    outputs = [test.output for test in tests]
    fitting = [test.model_copy(update={"output": None, "output_left_out": test.output is not None}) for test in tests]
    sizes = [_size(test) for test in fitting]
    share = room // max(1, len(tests))
    if sum(sizes) > room:
        fitting = [_cut(test) if size > share else test for test, size in zip(fitting, sizes, strict=True)]
        sizes = [_size(test) for test in fitting]
    left = room - sum(sizes)
    for place in sorted(range(len(tests)), key=lambda place: len(outputs[place] or "")):
        output = outputs[place]
        if output is None:
            continue
        left -= size_in_answer(json.dumps(output, ensure_ascii=False))
        if left < 0:
            break
        fitting[place] = fitting[place].model_copy(update={"output": output, "output_left_out": False})
    return fitting


def _size(outcome: TestOutcome) -> int:
    return size_in_answer(outcome.model_dump_json())


def _cut(outcome: TestOutcome) -> TestOutcome:
    rules = [
        rule.model_copy(
            update={
                "condition": _shortened(rule.condition, _CUT_CONDITION),
                "message": _shortened(rule.message, _CUT_MESSAGE),
            }
        )
        for rule in outcome.validation_results
    ]
    return outcome.model_copy(
        update={
            "validation_results": rules,
            "differences": outcome.differences and _fewer(outcome.differences),
            "reason": _shortened(outcome.reason, _CUT_REASON),
            "stderr": _shortened(outcome.stderr, _CUT_STDERR),
            "cut": True,
        }
    )


def _fewer(differences: Differences) -> Differences:
    """The first differences, without fields that are large, and without counts by path."""
    shown = [_smaller(difference) for difference in differences.differences[:_CUT_DIFFERENCES]]
    signals = {
        signal: summary.model_copy(update={"fields": [], "complete": summary.complete and not summary.fields})
        for signal, summary in differences.signals.items()
    }
    left_out = differences.left_out + len(differences.differences) - len(shown)
    return differences.model_copy(update={"differences": shown, "left_out": left_out, "signals": signals})


def _smaller(difference: Difference) -> Difference:
    shown = [field for field in difference.fields[:_CUT_FIELDS] if len(field.model_dump_json()) <= _CUT_FIELD]
    left_out = difference.fields_left_out
    if left_out >= 0:
        left_out += len(difference.fields) - len(shown)
    name = _shortened(difference.name, _CUT_MESSAGE)
    return difference.model_copy(update={"name": name, "fields": shown, "fields_left_out": left_out})


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"
