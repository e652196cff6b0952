"""One check of a text: the verdict, and with it lint, policies and pipelines where they are asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

from headgate_engine.checker.asker import Asker
from headgate_engine.errors import Invalid, Unavailable
from headgate_engine.policies import engine, judging
from headgate_engine.policies.model import NotAConfiguration, PolicyChoices, PolicyResult
from headgate_engine.validation import inside, starting, together
from headgate_engine.validation import service as validation
from headgate_engine.validation.findings import ListedFinding, Source, listed
from headgate_engine.validation.grouping import merged
from headgate_engine.validation.model import (
    CheckRequest,
    Graph,
    LintResult,
    NotChecked,
    StartResult,
    ValidationResult,
)
from headgate_engine.validation.together import Ends

_Result = TypeVar("_Result", LintResult, PolicyResult, Graph, StartResult)

# API Gateway gives up after 30 s. The last part begins before SECONDS, and no answer is waited for _LONGER after that.
SECONDS: Final = 22.0
_SECONDS_OF_ONE: Final = 10.0
_LONGER: Final = 4.0


@dataclass(frozen=True, slots=True)
class CheckPart(Generic[_Result]):
    """A part that was asked for: its result, or why there is none. It never takes the verdict away."""

    result: _Result | None
    problem: Invalid | Unavailable | None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Parts are None if they were not asked for."""

    verdict: ValidationResult
    lint: CheckPart[LintResult] | None
    policies: CheckPart[PolicyResult] | None
    graph: CheckPart[Graph] | None
    start: CheckPart[StartResult] | None
    ends: Ends

    def findings(self) -> list[ListedFinding]:
        """Everything that was found, in the order of the text, each mistake once."""
        parts: Mapping[Source, CheckPart[Any] | None] = {
            "lint": self.lint,
            "policy": self.policies,
            "start": self.start,
        }
        not_checked = [(source, part.problem.detail) for source, part in parts.items() if part and part.problem]
        lint = self.lint.result if self.lint else None
        policies = self.policies.result if self.policies else None
        start = self.start.result if self.start else None
        return [*merged(listed(self.verdict, lint, policies, not_checked, self.ends, start))]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a check beside the verdict."""

    lint: bool = False
    policies: bool = False
    graph: bool = False
    start: bool = False


def check(
    request: CheckRequest, parts: Parts, settings: PolicyChoices, *, asker: Asker, ends: float | None = None
) -> CheckResult:
    """The verdict, and the parts that are asked for, policies by these settings. Raises what `validate` does.

    No part begins after `ends`, by the monotonic clock; all has ended soon after it.
    """
    ends = ends or time.monotonic() + SECONDS
    asker = asker.gated(request.feature_gates).until(ends + _LONGER)
    text = replace(request, version=request.version or asker.default_version)
    yaml, version, env, files = text.yaml, text.version, text.env, text.files
    names = [name for name in ("lint", "policies", "graph") if getattr(parts, name)]
    places: Ends = {}
    if names:
        asker, places = together.asked(engine.question(text, settings), names, text.version, asker=asker)
    verdict = validation.validate(yaml, version, env, files=files, asker=asker)
    held = inside.configuration(verdict, yaml)
    if held:
        text, asker = replace(text, yaml=held.yaml), replace(asker, answers={})
        if names:
            asker, places = together.asked(engine.question(text, settings), names, version, asker=asker)

    def lint(left: float) -> LintResult:
        return validation.lint_configuration(yaml, version, verdict, held, asker=asker, timeout=left)

    def judge(left: float) -> PolicyResult:
        if verdict.no_configuration:
            raise NotAConfiguration(inside.NOTHING, at=text.loc)
        result = judging.judge(settings, text, asker=asker, timeout=left)
        return held.placed(result) if held else result

    def start(left: float) -> StartResult:
        inner = replace(verdict, errors=verdict.wrapped.errors) if verdict.wrapped else verdict
        result = starting.start(text, inner, asker=asker, timeout=left)
        return held.placed(result) if held else result

    def graph(left: float) -> Graph:
        # Clients link pipelines to the places of their components.
        shown = text.yaml if held and held.in_place else yaml
        return validation.graph(shown, version, env, files, asker=asker, timeout=left)

    return CheckResult(
        verdict,
        _part(parts.lint, lint, ends),
        _part(parts.policies, judge, ends),
        _part(parts.graph, graph, ends),
        _part(parts.start, start, ends),
        places if held is None or held.in_place else {},
    )


def _part(asked: bool, ask: Callable[[float], _Result], ends: float) -> CheckPart[_Result] | None:
    if not asked:
        return None
    left = ends - time.monotonic()
    try:
        if left <= 0:
            raise NotChecked("The check took too long; this part was not checked, try again")
        return CheckPart(ask(_SECONDS_OF_ONE), None)
    except (Invalid, Unavailable) as problem:
        return CheckPart(None, problem)
