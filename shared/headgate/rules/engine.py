"""Asking the collector's checker what concerns pipeline tests: `prepare`, `compile` and `evaluate`."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Literal, TypeVar

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from headgate import checker
from headgate.checker import Asker
from headgate.foundation.collector import Signal
from headgate.foundation.errors import FieldError, Invalid, Unavailable
from headgate.rules.model import Rule
from headgate.validation.model import TOO_COSTLY, YAML_IN_BODY, TooCostly

_Answer = TypeVar("_Answer")
# In all; each part has 8 s by the checker's own clock, and 10 s until it is killed.
_EVALUATION_SECONDS = 25.0
_PART_CHARACTERS = 2_000_000
_PART_SECONDS = 10.0


class SandboxFailed(Unavailable):
    """The checker cannot answer what concerns tests just now."""

    code = "sandbox_failed"


class RunRefused(Exception):
    """A configuration that is not wrong, but that is not run: it would need something outside it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Unpreparable(Exception):
    """Something wrong with what is to be run. `field` is `yaml`, `target_pipeline`, `signal_type` or `sample`."""

    def __init__(self, field: str, message: str, line: int | None) -> None:
        super().__init__(message)
        self.field = field
        self.message = message
        self.line = line

    def as_invalid(self, yaml_at: tuple[str, ...] = YAML_IN_BODY) -> Invalid:
        """For a request whose body has that field, and whose text is at `yaml_at`."""
        loc = yaml_at if self.field == "yaml" else ("body", self.field)
        return Invalid(self.message, [FieldError(loc, self.message, line=self.line)])


@dataclass(frozen=True, slots=True)
class Sample:
    """Telemetry to test with. `is_otlp` when it came as a JSON value, so that it cannot be raw log lines."""

    text: str
    is_otlp: bool


class Prepared(BaseModel):
    """A run made ready: the collector's configuration and input, and what signals can be judged."""

    signals: list[Signal]
    collector_yaml: str
    input: str
    records: int
    notes: list[str]


class Verdict(BaseModel):
    """What came of one rule; `message` says what was seen."""

    matched: int
    total: int
    passed: bool
    message: str


class _Problem(BaseModel):
    field: Literal["yaml", "target_pipeline", "signal_type", "sample"]
    message: str
    line: int | None = None


class _Preparation(BaseModel):
    problem: _Problem | None
    refusal: str
    prepared: Prepared | None


class _Refusal(BaseModel):
    index: int
    field: str
    message: str


class _Compilation(BaseModel):
    refusals: list[_Refusal]


class _Evaluation(BaseModel):
    tallies: list[dict[str, JsonValue]]
    verdicts: list[Verdict]
    records: dict[Signal, int]


class Judgement(BaseModel):
    """What came of rules, in their order, and how many records of each signal there were."""

    verdicts: list[Verdict]
    records: dict[Signal, int]


def signals_of(
    yaml: str, pipeline: str, signal_type: Signal, *, asker: Asker, yaml_at: tuple[str, ...] = YAML_IN_BODY
) -> list[Signal]:
    """The signals in which that pipeline's output can be judged: its own, and those that its connectors turn it into.

    Raises Unpreparable, RunRefused, TooCostly about `yaml_at` in the request, Unavailable.
    """
    return _prepare(yaml, pipeline, signal_type, None, asker, yaml_at).signals


def prepare(
    yaml: str,
    pipeline: str,
    signal_type: Signal,
    sample: Sample,
    *,
    asker: Asker,
    yaml_at: tuple[str, ...] = YAML_IN_BODY,
) -> Prepared:
    """Make a run ready. Raises Unpreparable, RunRefused, TooCostly about `yaml_at` in the request, Unavailable."""
    return _prepare(yaml, pipeline, signal_type, sample, asker, yaml_at)


def require_compilable(signals: Sequence[Signal], rules: Sequence[Rule], *, asker: Asker) -> None:
    """Raises Invalid, naming each rule that the OTTL parser refuses and quoting it, and Unavailable."""
    if not rules:
        return
    answer = _ask("compile", {"signals": list(signals), "rules": _plain(rules)}, _compilations(), asker)
    if answer.refusals:
        places = [
            FieldError(("body", "rules", one.index, one.field), f"rule '{rules[one.index].name}': {one.message}")
            for one in answer.refusals
        ]
        raise Invalid(places[0].message, places)


def evaluate(signals: Sequence[Signal], rules: Sequence[Rule], output: str, *, asker: Asker) -> Judgement:
    """Judge recorded output, and count it. Raises Unavailable when that came to no end in time.

    A large output goes in parts, each going on from the tallies of the one before.
    """
    judged = Judgement(verdicts=[], records=dict.fromkeys(signals, 0))
    deadline = time.monotonic() + _EVALUATION_SECONDS
    tallies: list[dict[str, JsonValue]] | None = None
    for part in parts(output, _PART_CHARACTERS):
        request = {"signals": list(signals), "rules": _plain(rules), "documents": part, "tallies": tallies}
        timeout = min(_PART_SECONDS, max(0.1, deadline - time.monotonic()))
        answer = _ask("evaluate", request, _evaluations(), asker, timeout)
        tallies, judged.verdicts = answer.tallies, answer.verdicts
        for signal, count in answer.records.items():
            judged.records[signal] = judged.records.get(signal, 0) + count
    return judged


def parts(text: str, size: int) -> Iterator[str]:
    """The text in parts of whole lines, of up to `size` characters or one line; at least one, if only an empty one."""
    start = 0
    while len(text) - start > size:
        end = text.rfind("\n", start, start + size) + 1 or text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end
    yield text[start:]


def _prepare(
    yaml: str, pipeline: str, signal_type: Signal, sample: Sample | None, asker: Asker, yaml_at: tuple[str, ...]
) -> Prepared:
    answer = _ask(
        "prepare",
        {
            "yaml": yaml,
            "target_pipeline": pipeline,
            "signal_type": signal_type,
            "sample": sample.text if sample else None,
            "sample_is_otlp": sample.is_otlp if sample else False,
        },
        _preparations(),
        asker,
        yaml_at=yaml_at,
    )
    if answer.problem is not None:
        raise Unpreparable(answer.problem.field, answer.problem.message, answer.problem.line)
    if answer.prepared is None:
        raise RunRefused(answer.refusal)
    return answer.prepared


def _ask(
    op: str,
    request: Mapping[str, object],
    answers: TypeAdapter[_Answer],
    asker: Asker,
    timeout: float | None = None,
    yaml_at: tuple[str, ...] = YAML_IN_BODY,
) -> _Answer:
    try:
        return answers.validate_python(checker.call(op, request, asker=asker, timeout=timeout))
    except checker.Refused as refused:
        if refused.code == TOO_COSTLY and op != "evaluate":
            raise TooCostly(refused.message, yaml_at) from refused
        raise SandboxFailed(f"The testing sandbox failed: {refused.message}") from refused
    except ValidationError as error:
        raise SandboxFailed("The testing sandbox gave no proper answer") from error


def _plain(rules: Sequence[Rule]) -> list[dict[str, object]]:
    return [asdict(rule) for rule in rules]


@cache
def _preparations() -> TypeAdapter[_Preparation]:
    return TypeAdapter(_Preparation)


@cache
def _compilations() -> TypeAdapter[_Compilation]:
    return TypeAdapter(_Compilation)


@cache
def _evaluations() -> TypeAdapter[_Evaluation]:
    return TypeAdapter(_Evaluation)
