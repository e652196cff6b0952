"""Measuring coverage on the server: one job for each configuration."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from headgate_cli.api import Api, Entity, ServerError, entities, optional, text
from headgate_cli.errors import Failed, NotAuthenticated, Unreachable
from headgate_cli.output import say, status_line
from headgate_cli.suites.run import parts, refusal, request
from headgate_cli.suites.select import Suite
from headgate_cli.untrusted import one_line

PATH: Final = "/testing/coverage"
_FINAL: Final = ("Done", "Error")
# All requests of a credential share a limit of 60 a minute.
_SECONDS: Final = 2.0
_SECONDS_A_JOB: Final = 1.1
# As many as the server executes at once.
_MOST_JOBS: Final = 10
# An hour, as for a run.
_MOST_SECONDS: Final = 3_600.0
_TOO_LARGE: Final = (
    "its tests are too large for one request: push it, and measure the version, or some tests with --test"
)


@dataclass(slots=True)
class Measured:
    """The coverage of one configuration: the server's result, or the problem why there is none."""

    suite: Suite
    problem: str = ""
    job: str = ""
    result: Entity = field(default_factory=dict)

    @property
    def score(self) -> float | None:
        """In percent; None if no change of an output was tried."""
        score = self.result.get("score")
        return float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None

    @property
    def is_whole(self) -> bool:
        """Whether it was measured with every test."""
        return not self.problem and all(test.get("usable") is True for test in entities(self.result, "tests"))

    def mutants(self, outcome: str) -> list[Entity]:
        """The changes with that outcome."""
        return [mutant for mutant in entities(self.result, "mutants") if optional(mutant, "outcome") == outcome]


def run(
    api: Api, suites: Sequence[Suite], more: Mapping[str, object], done: Callable[[Measured], None]
) -> list[Measured]:
    """Measure the suites; `more` is added to each request. Calls `done` for each, in their order, once it has ended.

    Raises NotAuthenticated, Unreachable, and KeyboardInterrupt after a message.
    """
    measured = [Measured(suite, problem=suite.problem.message if suite.problem else "") for suite in suites]
    begun = time.monotonic()
    shown = 0
    try:
        waiting = [one for one in measured if not one.problem]
        open_: list[Measured] = []
        while True:
            while waiting and len(open_) < _MOST_JOBS:
                one = waiting.pop(0)
                _start(api, one, more)
                open_ += [] if one.problem else [one]
            while shown < len(measured) and not any(one is measured[shown] for one in [*open_, *waiting]):
                status_line("")
                done(measured[shown])
                shown += 1
            if not open_ and not waiting:
                return measured
            seconds = time.monotonic() - begun
            status_line(f"{shown} of {len(measured)} configurations measured  {seconds:.0f} s")
            if seconds > _MOST_SECONDS:
                jobs = one_line(", ".join(one.job for one in open_))
                raise Failed(f"the measuring has not ended in an hour ({jobs}): try again later")
            time.sleep(max(_SECONDS, len(open_) * _SECONDS_A_JOB))
            open_ = [one for one in open_ if not _has_ended(api, one)]
    except KeyboardInterrupt:
        status_line("")
        started = [one.job for one in measured if one.job]
        if started:
            say(f"The measuring continues on the server ({one_line(', '.join(started))}); its result is not shown here")
        raise
    finally:
        status_line("")


def _start(api: Api, one: Measured, more: Mapping[str, object]) -> None:
    tests = list(parts(one.suite))
    if len(tests) > 1:
        one.problem = _TOO_LARGE
        return
    try:
        one.job = text(api.create(PATH, {**request(one.suite, tests[0]), **more}), "id")
    except (NotAuthenticated, Unreachable):
        raise
    except ServerError as error:
        one.problem = refusal(error, tests[0])
    except Failed as error:
        one.problem = error.message


def _has_ended(api: Api, one: Measured) -> bool:
    try:
        answer = api.get(f"{PATH}/{one.job}")
    except (NotAuthenticated, Unreachable):
        raise
    except Failed as error:
        one.problem = error.message
        return True
    if answer.get("status") not in _FINAL:
        return False
    result = answer.get("result")
    if isinstance(result, Mapping):
        one.result = result
    else:
        one.problem = optional(answer, "reason") or "it ended without a result"
    return True
