"""Coverage: what could be taken out of a configuration without a test that notices it.

The collector's program makes the mutants, judges the outputs of the tests on them, and scores. This carries them.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import NoChecker, NotInstalled, Refused
from headgate_engine.errors import Unavailable
from headgate_engine.rules.model import Context, Expect
from headgate_engine.testing.model import LONGEST, MAX_CASES, Case, CaseResult, Unworkable
from headgate_engine.testing.named_test import NamedTest, to_document
from headgate_engine.testing.suite import RequestedTest

# How many mutants a job makes unless its request says otherwise, and at most.
MUTANTS: Final = 40
MAX_MUTANTS: Final = 100
# The program bounds what it validates for one question, so that a large text takes several for few mutants.
_QUESTIONS: Final = 5
# Outputs that one question judges together, in characters.
_PART: Final = 4_000_000
_ORIGINAL, _AGAIN = "original", "again"
_Answer = TypeVar("_Answer", bound=BaseModel)


class CoverageFailed(Unavailable):
    """The checker cannot answer a question of a coverage job just now."""

    code = "sandbox_failed"


class CoverageRequest(BaseModel):
    """A coverage job: the text, the collector, the tests, and how many mutants at most."""

    yaml: str
    collector_version: str
    tests: list[RequestedTest]
    max_mutants: int


class Noticed(BaseModel):
    """The cause that ended a mutant: a rule of a test by its name, the expected output, or a run that ends in error."""

    test: str
    rule: str


class SuggestedRule(BaseModel):
    """A rule that was tried: in that test it passes on the configuration as it is, and fails with the change."""

    test: str
    name: str
    context: Context
    condition: str
    expect: Expect
    min: int | None
    max: int | None


class Mutant(BaseModel):
    """A change of one place. Line and column are the place in the text, from 1.

    `killed`: a test noticed it. `survived`: it changes an output, and no test noticed. `unreached`: the output is the
    same with every sample. `would_notice` says what the tests lack.
    """

    id: str
    kind: str
    component: str
    line: int
    column: int
    description: str
    outcome: Literal["killed", "survived", "unreached"]
    noticed_by: list[Noticed]
    would_notice: str
    suggested_rule: SuggestedRule | None


class TestScore(BaseModel):
    """A test's part in the coverage. `usable`: it passes without a change, each time; else `reason` says why not.

    `steady` is false if two runs without a change put out different records: then a change of the output may be chance.
    """

    __test__ = False

    name: str
    usable: bool
    reason: str
    steady: bool
    killed: int


class CoverageResult(BaseModel):
    """The share of a configuration that its tests notice.

    `score` is the percentage of killed among the killed and survived, null with a `reason` if there are none.
    `places` are all at which something can be changed; `not_loaded` those where the collector would not load it, and
    `left_out` those that were not tried. Nothing is changed in the `untested_pipelines`: no test runs them.
    """

    score: float | None
    reason: str
    killed: int
    survived: int
    unreached: int
    places: int
    not_loaded: int
    left_out: int
    untested_pipelines: list[str]
    tests: list[TestScore]
    mutants: list[Mutant]


class _Made(BaseModel):
    """A mutant, as the program makes it."""

    id: str
    kind: str
    component: str
    pipelines: list[str]
    line: int
    column: int
    description: str
    would_notice: str
    yaml: str


class _Making(BaseModel):
    mutants: list[_Made]
    places: int
    refused: int
    left_out: int
    next: int | None
    untested: list[str]


class _Judged(BaseModel):
    usable: bool
    reason: str
    steady: bool
    verdicts: list[JsonValue]


def request_of(
    yaml: str, tests: Sequence[tuple[str, NamedTest]], *, collector_version: str, max_mutants: int
) -> JsonValue:
    """The request of a coverage job."""
    asked = CoverageRequest(
        yaml=yaml,
        collector_version=collector_version,
        tests=[RequestedTest(name=name, says=to_document(test)) for name, test in tests],
        max_mutants=max_mutants,
    )
    document: JsonValue = asked.model_dump(mode="json")
    return document


def cases(request: JsonValue, asker: Asker) -> Sequence[Case]:
    """Each test twice on the text as it is, then on every mutant that its run reaches."""
    asked = CoverageRequest.model_validate(request)
    tests = _tests(asked)
    texts = [(name, run, asked.yaml) for name in tests for run in (_ORIGINAL, _AGAIN)]
    making = _Questions(asked, asker).mutants(tests)
    texts += [(name, mutant.id, mutant.yaml) for mutant in making.mutants for name in _reaching(mutant, tests)]
    return [tests[name].case(_id(name, run), text, asked.collector_version, judged=False) for name, run, text in texts]


def conclude(begun: datetime, request: JsonValue, results: Sequence[CaseResult], asker: Asker) -> JsonValue:
    """The score, and what became of each mutant."""
    asked = CoverageRequest.model_validate(request)
    questions = _Questions(asked, asker)
    tests = _tests(asked)
    making = questions.mutants(tests)
    by_id = {result.case.id: result for result in results}
    ran: JsonValue = {"from": begun.isoformat(), "until": (begun + LONGEST).isoformat()}
    judged: list[JsonValue] = []
    for name, test in tests.items():
        ids = [mutant.id for mutant in making.mutants if name in _reaching(mutant, tests)]
        runs = _Runs(name, test, {run: by_id[_id(name, run)] for run in (_ORIGINAL, _AGAIN, *ids)}, ran)
        judged.append({"name": name, **questions.judged(runs).model_dump(mode="json")})
    document: JsonValue = questions.score(making, judged).model_dump(mode="json")
    return document


def _tests(asked: CoverageRequest) -> Mapping[str, NamedTest]:
    return {test.name: test.test() for test in asked.tests}


def _id(test: str, run: str) -> str:
    return f"{test}/{run}"


def _reaching(mutant: _Made, tests: Mapping[str, NamedTest]) -> list[str]:
    return [name for name, test in tests.items() if test.target_pipeline in mutant.pipelines]


class _Runs:
    """A test with its runs: of the text as it is, and of mutants by their ids."""

    def __init__(self, name: str, test: NamedTest, results: Mapping[str, CaseResult], ran: JsonValue) -> None:
        self.name = name
        self._test = test
        self._results = results
        self._ran = ran

    def parts(self) -> Iterator[dict[str, object]]:
        """Questions about mutants, each with outputs of some size together. One at least."""
        # One question has the runs of the text as it is, and those of some mutants.
        size, part = 0, list[dict[str, object]]()
        for run, result in self._results.items():
            if run in (_ORIGINAL, _AGAIN):
                continue
            if part and size + len(result.output) > _PART:
                yield self._question(part)
                size, part = 0, []
            size += len(result.output)
            part.append({"id": run, **self._run(run)})
        yield self._question(part)

    def _question(self, mutants: list[dict[str, object]]) -> dict[str, object]:
        test = self._test
        return {
            # Those of a run are known once it is prepared; where that failed, no rule can be compiled.
            "signals": list(self._results[_ORIGINAL].signals) or [test.signal_type],
            "rules": [rule.attributes() for rule in test.rules],
            "expected": test.expected,
            "ignore": None if test.ignore is None else list(test.ignore),
            "original": self._run(_ORIGINAL),
            "again": self._run(_AGAIN),
            "mutants": mutants,
        }

    def _run(self, run: str) -> dict[str, object]:
        result = self._results[run]
        return {"status": result.status, "reason": result.reason, "output": result.output, "ran": self._ran}


class _Questions:
    """Asks the program of the job's collector version, or the default one's if that version has none."""

    def __init__(self, asked: CoverageRequest, asker: Asker) -> None:
        self._asked = asked
        self._asker = asker
        self._version = asked.collector_version

    def mutants(self, tests: Mapping[str, NamedTest]) -> _Making:
        """Make as many mutants as are asked for and as there is room for. Raises Unworkable, Unavailable."""
        room = (MAX_CASES - 2 * len(tests)) // len(tests)
        most = min(self._asked.max_mutants, room)
        pipelines = sorted({test.target_pipeline for test in tests.values()})
        env = {name: value for test in tests.values() for name, value in test.stand_ins.env.items()}
        making = _Making(mutants=[], places=0, refused=0, left_out=0, next=0, untested=[])
        for _ in range(_QUESTIONS):
            if making.next is None or len(making.mutants) >= most:
                break
            question = {
                "yaml": self._asked.yaml,
                "env": env,
                "pipelines": pipelines,
                "max": most - len(making.mutants),
                "after": making.next,
            }
            more = self._ask("mutants", question, _Making)
            more.mutants, more.refused = making.mutants + more.mutants, making.refused + more.refused
            making = more
        making.mutants.sort(key=lambda mutant: (mutant.line, mutant.column, mutant.id))
        return making

    def judged(self, runs: _Runs) -> _Judged:
        """Judge the mutants by a test. Raises Unworkable, Unavailable."""
        whole: _Judged | None = None
        for question in runs.parts():
            part = self._ask("mutants_judge", question, _Judged)
            if whole is not None:
                part.verdicts = whole.verdicts + part.verdicts
            whole = part
            if not part.usable:
                break
        if whole is None:
            raise ValueError("a test has one question at least")
        return whole

    def score(self, making: _Making, judged: Sequence[JsonValue]) -> CoverageResult:
        """Raises Unworkable, Unavailable."""
        question = {
            "mutants": [mutant.model_dump(exclude={"yaml"}) for mutant in making.mutants],
            "tests": judged,
            **making.model_dump(exclude={"mutants", "next"}),
        }
        return self._ask("mutants_score", question, CoverageResult)

    def _ask(self, op: str, question: Mapping[str, object], answer_type: type[_Answer]) -> _Answer:
        try:
            answer = self._asker.ask(op, question, version=self._version)
            return answer_type.model_validate(answer)
        except (NoChecker, NotInstalled):
            if self._version == self._asker.default_version:
                raise
            self._version = self._asker.default_version
            return self._ask(op, question, answer_type)
        except Refused as refused:
            raise Unworkable(refused.message) from refused
        except ValidationError as error:
            raise CoverageFailed("The coverage of the tests could not be judged: the answer is not valid") from error
