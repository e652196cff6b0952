"""One check of a text: the verdict, and with it lint, policies and pipelines where they are asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from headgate.checker import Asker
from headgate.foundation.caller import Caller
from headgate.foundation.errors import Invalid, Unavailable
from headgate.policies import service as policies
from headgate.settings import settings
from headgate.validation import verdicts
from headgate_engine.policies.model import PolicyResult, Text
from headgate_engine.validation import service as validation
from headgate_engine.validation.model import YAML_IN_BODY, Graph, LintResult, NotChecked, ValidationResult

_Result = TypeVar("_Result", LintResult, PolicyResult, Graph)

# API Gateway gives up after 30 s. The last part begins before _SECONDS, and has _SHORTEST then.
_SECONDS: Final = 22.0
_SECONDS_OF_ONE: Final = 10.0
_SHORTEST: Final = 2.0
# The last of several texts begins before this: its check may then take as long as that of one text.
_SECONDS_OF_MANY: Final = 8.0


@dataclass(frozen=True, slots=True)
class Part(Generic[_Result]):
    """A part that was asked for: its result, or why there is none. It never takes the verdict away."""

    result: _Result | None
    problem: Invalid | Unavailable | None


@dataclass(frozen=True, slots=True)
class Checked:
    """Parts are None if they were not asked for."""

    verdict: ValidationResult
    lint: Part[LintResult] | None
    policies: Part[PolicyResult] | None
    graph: Part[Graph] | None


@dataclass(frozen=True, slots=True)
class Request:
    """A text, the collector version that checks it (None for the default one), and values for its `${env:NAME}`."""

    yaml: str
    version: str | None
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Parts:
    """What is asked for beside the verdict."""

    lint: bool = False
    policies: bool = False
    graph: bool = False


def check_all(caller: Caller, requests: Sequence[Request], parts: Parts) -> Iterator[Checked | Invalid | Unavailable]:
    """`check` for each, in order, or the error of one that was not checked, also because no time was left."""
    begun = time.monotonic()
    for request in requests:
        if time.monotonic() - begun > _SECONDS_OF_MANY:
            yield NotChecked("The texts before it took too long; this one was not checked, send it again")
            continue
        try:
            yield check(caller, request, parts, ends=begun + _SECONDS)
        except (Invalid, Unavailable) as problem:
            yield problem


def check(caller: Caller, request: Request, parts: Parts, *, ends: float | None = None) -> Checked:
    """The verdict, and the parts that are asked for, one question after the other. Raises what `validate` does.

    No part begins after `ends`, by the monotonic clock.
    """
    yaml, version, env = request.yaml, request.version, request.env
    ends = ends or time.monotonic() + _SECONDS
    asker = Asker.of(caller)
    verdict = validation.validate(yaml, version, env, asker=asker)
    if not env:
        verdicts.remember(caller.organization_id, yaml, verdict)
    text = Text(yaml, version or settings().collector_version, env, YAML_IN_BODY, ("body", "version"))
    return Checked(
        verdict,
        _part(parts.lint, lambda left: validation.lint_yaml(yaml, version, asker=asker, timeout=left), ends),
        _part(parts.policies, lambda left: policies.check(caller, text, left), ends),
        _part(parts.graph, lambda left: validation.graph(yaml, version, env, asker=asker, timeout=left), ends),
    )


def _part(asked: bool, ask: Callable[[float], _Result], ends: float) -> Part[_Result] | None:
    if not asked:
        return None
    left = ends - time.monotonic()
    try:
        if left <= 0:
            raise NotChecked("The check took too long; this part was not checked, try again")
        return Part(ask(max(_SHORTEST, min(_SECONDS_OF_ONE, left))), None)
    except (Invalid, Unavailable) as problem:
        return Part(None, problem)
