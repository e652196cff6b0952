"""Operations of the collector's checker for pipeline tests: `prepare`, `compile` and `evaluate`.

The checker is that of the collector version that runs. An official release has none, and a version may not be installed
any more: the default collector's answers in its place.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, Field, JsonValue, StringConstraints, ValidationError

from headgate_engine.answers import read
from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import NOT_IN_BUILD, NoChecker, NotInstalled, Refused
from headgate_engine.collector import Signal
from headgate_engine.errors import FieldError, Invalid, Unavailable
from headgate_engine.rules.model import Rule
from headgate_engine.validation import inside
from headgate_engine.validation.model import TOO_COSTLY, YAML_IN_BODY, ComponentNotInBuild, TooCostly
from headgate_engine.wire.stand_ins import StandIns

Format = Literal["raw", "otlp"]
_Answer = TypeVar("_Answer")
# For the whole output. A part has 8 s by the checker's own clock, and is killed after 10 s.
_EVALUATION_SECONDS = 25.0
_PART_CHARACTERS = 2_000_000
_PART_SECONDS = 10.0


class SandboxFailed(Unavailable):
    """The checker cannot answer a question of a pipeline test just now."""

    code = "sandbox_failed"


class RunRefused(Exception):
    """The configuration is valid, but a test does not run it: it would need something outside the test."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Unpreparable(Exception):
    """Something wrong with what is to be run. `field` is the field of the request."""

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
    """Telemetry to test with. `is_otlp` when it came as a JSON value, so that it cannot be raw log lines.

    `format` and `name`, the path of the file with raw lines, are what the caller said of it.
    """

    text: str
    is_otlp: bool
    format: Format | None = None
    name: str | None = None


class Prepared(BaseModel):
    """The input of a run: the collector's configuration and sample, and the signals that rules can test.

    `nothing_out` is why nothing may have come out, if nothing does; it may be empty. A collector that has read its
    input and then done nothing for `idle_milliseconds` puts nothing more out; 0 if only the run's end tells.
    `feature_gates` are set beside those of the request.
    """

    signals: list[Signal]
    collector_yaml: str
    input: str
    records: int
    notes: list[str]
    nothing_out: str = ""
    idle_milliseconds: int = Field(0, ge=0)
    feature_gates: list[str] = []


class RuleVerdict(BaseModel):
    """The result of one rule; `message` says what was seen, `note` what its writer may not expect of its condition."""

    matched: int
    total: int
    passed: bool
    message: str
    note: str = ""


class _Problem(BaseModel):
    field: Annotated[str, StringConstraints(pattern="^[a-z_]{1,40}$")]
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
    verdicts: list[RuleVerdict]
    records: dict[Signal, int]


class ComponentError(BaseModel):
    """A complaint of a run's component in its log: the first message of this kind, and how often it came.

    `record` is the number of the first record that it is about, from 1; null where the component does not tell.
    """

    component: str
    count: int
    message: str
    record: int | None


class RunNote(BaseModel):
    """A note on a run, with a stable code."""

    code: str
    message: str


class Said(BaseModel):
    """The words of a run: its standard error, and the parts of it that have a form."""

    stderr: str
    component_errors: list[ComponentError] = []
    notes: list[RunNote] = []


class Results(BaseModel):
    """The results of rules, in their order, and how many records of each signal there were."""

    verdicts: list[RuleVerdict]
    records: dict[Signal, int]


def signals_of(
    yaml: str,
    pipeline: str,
    signal_type: Signal,
    *,
    asker: Asker,
    version: str | None = None,
    yaml_at: tuple[str, ...] = YAML_IN_BODY,
) -> list[Signal]:
    """The signals of that pipeline's output that rules can test: its own, and those that its connectors turn it into.

    Raises Unpreparable, RunRefused, TooCostly about `yaml_at` in the request, ComponentNotInBuild, Unavailable.
    """
    question = {"yaml": yaml, "target_pipeline": pipeline, "signal_type": signal_type}
    return _prepare(question, _Judge(version, asker), yaml_at).signals


def prepare(
    yaml: str,
    pipeline: str,
    signal_type: Signal,
    sample: Sample,
    *,
    asker: Asker,
    version: str | None = None,
    yaml_at: tuple[str, ...] = YAML_IN_BODY,
    duration_seconds: int = 0,
    feature_gates: Sequence[str] = (),
    stand_ins: StandIns | None = None,
) -> Prepared:
    """Make a run ready. Raises what `signals_of` does. A note says so if another version's checker answered.

    Notes on what waits for longer than the run need its duration. An official release has no checker, so its feature
    gates are judged by itself, when it starts.
    """
    judge = _Judge(version, asker)
    question = {
        "yaml": yaml,
        "target_pipeline": pipeline,
        "signal_type": signal_type,
        "sample": sample.text,
        "sample_is_otlp": sample.is_otlp,
        "sample_format": sample.format or "",
        "sample_name": sample.name or "",
        "feature_gates": list(feature_gates),
        "duration_seconds": duration_seconds,
        **(stand_ins or StandIns()).question(),
    }
    prepared = _prepare(question, judge, yaml_at)
    if judge.why_replaced:
        prepared.notes.append(
            f"collector {judge.version} prepared this run and evaluates its rules: {judge.why_replaced}"
        )
    return prepared


def require_compilable(
    signals: Sequence[Signal], rules: Sequence[Rule], *, asker: Asker, version: str | None = None
) -> None:
    """Raises Invalid, naming each rule that the OTTL parser refuses and quoting it, and Unavailable."""
    if not rules:
        return
    request = {"signals": list(signals), "rules": _plain(rules)}
    answer = _ask("compile", request, _Compilation, _Judge(version, asker))
    if answer.refusals:
        refused = [_field_error(refusal, rules[refusal.index].name) for refusal in answer.refusals]
        raise Invalid(refused[0].message, refused)


def evaluate(
    signals: Sequence[Signal],
    rules: Sequence[Rule],
    output: str,
    *,
    asker: Asker,
    version: str | None = None,
    log: str = "",
) -> Results:
    """Evaluate the rules on recorded output and on the collector's log, and count the output's records.

    Raises Unavailable if that takes too long.

    A large output is sent in parts; each continues with the tallies of the part before.
    """
    results = Results(verdicts=[], records=dict.fromkeys(signals, 0))
    judge = _Judge(version, asker)
    deadline = time.monotonic() + _EVALUATION_SECONDS
    tallies: list[dict[str, JsonValue]] | None = None
    for part in parts(output, _PART_CHARACTERS):
        request = {"signals": list(signals), "rules": _plain(rules), "documents": part, "tallies": tallies}
        request |= {"log": log} if tallies is None and log else {}
        timeout = min(_PART_SECONDS, max(0.1, deadline - time.monotonic()))
        answer = _ask("evaluate", request, _Evaluation, judge, timeout)
        tallies, results.verdicts = answer.tallies, answer.verdicts
        for signal, count in answer.records.items():
            results.records[signal] = results.records.get(signal, 0) + count
    return results


def tell(said: Mapping[str, object], *, asker: Asker) -> Said:
    """Ask for the words of a run; `said` are the fields of the operation `tell`. Raises Unavailable."""
    return _ask("tell", said, Said, _Judge(None, asker))


def _field_error(refusal: _Refusal, rule_name: str) -> FieldError:
    return FieldError(("body", "rules", refusal.index, refusal.field), f"rule '{rule_name}': {refusal.message}")


def parts(text: str, size: int) -> Iterator[str]:
    """The text in parts of whole lines, each of up to `size` characters or one longer line. At least one part."""
    start = 0
    while len(text) - start > size:
        end = text.rfind("\n", start, start + size) + 1 or text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end
    yield text[start:]


class _Judge:
    """The checker that is asked: that of a version, or the default one's if it has none."""

    def __init__(self, version: str | None, asker: Asker) -> None:
        self.version = version or asker.default_version
        self.why_replaced = ""
        self.asker = asker

    def call(self, op: str, request: Mapping[str, object], timeout: float | None) -> dict[str, object]:
        try:
            return self.asker.ask(op, request, version=self.version, timeout=timeout)
        except (NoChecker, NotInstalled) as error:
            if self.version == self.asker.default_version:
                raise
            why = "is not installed" if isinstance(error, NotInstalled) else "is an official release, without a checker"
            self.why_replaced = f"{self.version} {why}"
            # From here on the same one, so that the tallies of a large output are of one checker.
            self.version = self.asker.default_version
            return self.call(op, {**request, "feature_gates": []} if op == "prepare" else request, timeout)


def _prepare(question: Mapping[str, object], judge: _Judge, yaml_at: tuple[str, ...]) -> Prepared:
    answer = _ask("prepare", question, _Preparation, judge, yaml_at=yaml_at)
    if answer.problem is not None:
        message = f"{answer.problem.message}{_way_out(str(question['yaml']), judge)}"
        raise Unpreparable(answer.problem.field, message, answer.problem.line)
    if answer.prepared is None:
        raise RunRefused(answer.refusal)
    return answer.prepared


def _way_out(yaml: str, judge: _Judge) -> str:
    """Say where the configuration is if the text is one around it; empty for others."""
    if not inside.may_hold(yaml):
        return ""
    # Imported here, because most runs do without it, and begin sooner.
    from headgate_engine.validation import service as validation

    try:
        held = validation.validate(yaml, judge.version, asker=judge.asker).wrapped
    except (Invalid, Unavailable):
        return ""
    return f"; its configuration is under {held.path}: take it out with `headgate config import`" if held else ""


def _ask(
    op: str,
    request: Mapping[str, object],
    kind: type[_Answer],
    judge: _Judge,
    timeout: float | None = None,
    yaml_at: tuple[str, ...] = YAML_IN_BODY,
) -> _Answer:
    try:
        return read(kind, judge.call(op, request, timeout))
    except Refused as refused:
        if refused.code == TOO_COSTLY and op != "evaluate":
            raise TooCostly(refused.message, at=yaml_at) from refused
        if refused.code == NOT_IN_BUILD:
            raise ComponentNotInBuild(refused.message, judge.version) from refused
        raise SandboxFailed(f"The testing sandbox failed: {refused.message}") from refused
    except ValidationError as error:
        raise SandboxFailed("The testing sandbox gave an answer that is not valid") from error


def _plain(rules: Sequence[Rule]) -> list[dict[str, object]]:
    return [asdict(rule) for rule in rules]
