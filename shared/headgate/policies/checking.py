"""One check of a text: the verdict, and with it lint and policies where they are asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from headgate.checker import Asker
from headgate.foundation.caller import Caller
from headgate.foundation.errors import Invalid, Unavailable
from headgate.policies import service as policies
from headgate.policies.model import PolicyResult, Text
from headgate.settings import settings
from headgate.validation import service as validation
from headgate.validation.model import YAML_IN_BODY, LintResult, NotChecked, ValidationResult

_Result = TypeVar("_Result", LintResult, PolicyResult)

# API Gateway gives up after 30 s. The last part begins before _SECONDS, and has _SHORTEST then.
_SECONDS: Final = 22.0
_SECONDS_OF_ONE: Final = 10.0
_SHORTEST: Final = 2.0


@dataclass(frozen=True, slots=True)
class Part(Generic[_Result]):
    """A part that was asked for: its result, or why there is none. It never takes the verdict away."""

    result: _Result | None
    problem: Invalid | Unavailable | None


@dataclass(frozen=True, slots=True)
class Checked:
    """`lint` and `policies` are None if they were not asked for."""

    verdict: ValidationResult
    lint: Part[LintResult] | None
    policies: Part[PolicyResult] | None


def check(
    caller: Caller, yaml: str, version: str | None, env: Mapping[str, str], *, with_lint: bool, with_policies: bool
) -> Checked:
    """The verdict, and the parts that are asked for, one question after the other. Raises what `validate` does."""
    ends = time.monotonic() + _SECONDS
    asker = Asker.of(caller)
    verdict = validation.validate(yaml, version, env, asker=asker)
    text = Text(yaml, version or settings().collector_version, env, YAML_IN_BODY, ("body", "version"))
    return Checked(
        verdict,
        _part(lambda left: validation.lint_yaml(yaml, version, asker=asker, timeout=left), ends) if with_lint else None,
        _part(lambda left: policies.check(caller, text, left), ends) if with_policies else None,
    )


def _part(ask: Callable[[float], _Result], ends: float) -> Part[_Result]:
    left = ends - time.monotonic()
    try:
        if left <= 0:
            raise NotChecked("The check took too long; this part was not checked, try again")
        return Part(ask(max(_SHORTEST, min(_SECONDS_OF_ONE, left))), None)
    except (Invalid, Unavailable) as problem:
        return Part(None, problem)
