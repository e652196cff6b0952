"""The content of a test, and its one form as a text."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast, get_args

from pydantic import JsonValue

from headgate_engine import errors
from headgate_engine.answers import read
from headgate_engine.collector import Signal
from headgate_engine.rules.engine import Format, Sample
from headgate_engine.rules.model import Rule
from headgate_engine.testing.model import Case
from headgate_engine.wire.stand_ins import StandIns

DURATION_SECONDS: Final = 5
MAX_TESTS: Final = 50
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", re.ASCII)


class SignalNotKnown(errors.Invalid):
    """The pipeline is not of a signal that tests know."""

    code = "signal_not_known"
    at = ("body", "target_pipeline")
    detail = f"Tests are for pipelines of {', '.join(get_args(Signal))}, such as `logs` or `logs/audit`"


@dataclass(frozen=True, slots=True)
class NamedTest:
    """A sample through one pipeline, and what has to come out: rules, an expected output, or both.

    `expected` is OTLP/JSON, one document a line, and empty if nothing may come out. `ignore` has the paths that are not
    compared, None for the comparison's own default. Variables of its stand-ins are stored and shown with it.
    """

    target_pipeline: str
    signal_type: Signal
    sample: str
    sample_format: Format | None = None
    sample_name: str | None = None
    duration_seconds: int = DURATION_SECONDS
    feature_gates: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    expected: str | None = None
    ignore: tuple[str, ...] | None = None
    stand_ins: StandIns = field(default_factory=StandIns)

    def gated(self, feature_gates: Sequence[str]) -> "NamedTest":
        """The same test, which runs with these gates if it names none itself."""
        return self if self.feature_gates else replace(self, feature_gates=tuple(feature_gates))

    def as_sample(self) -> Sample:
        return Sample(self.sample, is_otlp=False, format=self.sample_format, name=self.sample_name)

    def case(self, case_id: str, yaml: str, collector_version: str, *, judged: bool = True) -> Case:
        """A run of the test on a text. Without `judged` its rules are left out."""
        return Case(
            id=case_id,
            yaml=yaml,
            target_pipeline=self.target_pipeline,
            signal_type=self.signal_type,
            sample=self.as_sample(),
            collector_version=collector_version,
            duration_seconds=self.duration_seconds,
            feature_gates=self.feature_gates,
            rules=self.rules if judged else (),
            judged=judged,
            stand_ins=self.stand_ins,
        )


def signal_of(pipeline: str) -> Signal:
    """The signal of a pipeline's id: `logs` of `logs/audit`. Raises SignalNotKnown."""
    signal = pipeline.partition("/")[0]
    if signal not in get_args(Signal):
        raise SignalNotKnown
    return cast("Signal", signal)


def to_document(test: NamedTest) -> dict[str, JsonValue]:
    """The content of the test, without empty fields."""
    fields: dict[str, object] = {
        "target_pipeline": test.target_pipeline,
        "signal_type": test.signal_type,
        "sample": test.sample,
        "sample_format": test.sample_format,
        "sample_name": test.sample_name,
        "duration_seconds": test.duration_seconds,
        "feature_gates": list(test.feature_gates) or None,
        "rules": [rule.attributes() for rule in test.rules] or None,
        "expected": test.expected,
        "ignore": None if test.ignore is None else list(test.ignore),
        **test.stand_ins.question(),
    }
    return cast("dict[str, JsonValue]", {name: value for name, value in fields.items() if value is not None})


def of_document(fields: Mapping[str, JsonValue]) -> NamedTest:
    """The test that `to_document` described."""
    return read(NamedTest, {**fields, "stand_ins": StandIns.among(fields)})


def to_text(test: NamedTest) -> str:
    """JSON with sorted names and without what is not given, so that tests that say the same are the same text.

    docs/testing.md describes it: the command line computes its SHA-256 too.
    """
    return json.dumps(to_document(test), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def of_text(text: str) -> NamedTest:
    """The test that `to_text` wrote."""
    return of_document(cast("Mapping[str, JsonValue]", json.loads(text)))
