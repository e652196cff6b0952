"""Running suites on the server, side by side: each configuration's tests as one job, or several if they are large."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from headgate_cli.api import Api, Entity, ServerError, entities, optional, text
from headgate_cli.errors import Failed, NotAuthenticated, Unreachable
from headgate_cli.output import say, status_line
from headgate_cli.suites.files import FileTest
from headgate_cli.suites.select import Suite
from headgate_cli.untrusted import one_line

PATH: Final = "/testing/suites"
FINAL: Final = ("Success", "Fail", "Error", "Done")
# A request's body is at most 1 MB, with room for what JSON adds.
_LARGEST_BODY: Final = 1_000_000
_TOO_LARGE: Final = 413
# All requests of a credential share a limit of 60 a minute.
_POLLS_AT_FIRST: Final = 10
_SECONDS_AT_FIRST: Final = 1.0
_SECONDS_LATER: Final = 4.0
_SECONDS_A_JOB: Final = 1.1
# As many as the server executes at once: with more, results would be asked for less often.
_MOST_JOBS: Final = 10
# An hour, as for a run.
_MOST_SECONDS: Final = 3_600.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one test: `answer` is the server's; None, with `problem`, if it did not run."""

    name: str
    test: FileTest | None
    answer: Entity | None = None
    problem: str = ""

    @property
    def status(self) -> str:
        return optional(self.answer, "status") if self.answer else "Error"

    @property
    def passed(self) -> bool:
        return self.status == "Success"


@dataclass(slots=True)
class Ran:
    """A suite that was run, test by test in the order of the suite. `problem` is why nothing of it could be run."""

    suite: Suite
    outcomes: list[Outcome] = field(default_factory=list)
    problem: str = ""
    collector_version: str = ""
    jobs: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not self.problem and bool(self.outcomes) and all(outcome.passed for outcome in self.outcomes)


@dataclass(slots=True)
class _Job:
    """A job under way: which suite, and which of its tests."""

    ran: Ran
    tests: Sequence[FileTest]
    id: str = ""


def run(api: Api, suites: Sequence[Suite], more: Mapping[str, object], done: Callable[[Ran], None]) -> list[Ran]:
    """Run the suites; `more` is added to each request. Calls `done` for each suite, in their order, once it has ended.

    A suite that the server refuses has a problem; the others run. Raises NotAuthenticated, Unreachable, and
    KeyboardInterrupt after a message.
    """
    ran = [Ran(suite, problem=suite.problem.message if suite.problem else "") for suite in suites]
    waiting = [_Job(one, tests) for one in ran if not one.problem for tests in parts(one.suite)]
    under_way: list[_Job] = []
    shown = rounds = 0
    begun = time.monotonic()
    try:
        while True:
            while waiting and len(under_way) < _MOST_JOBS:
                job = waiting.pop(0)
                if _start(api, job, more):
                    under_way.append(job)
            unfinished = {id(job.ran) for job in (*under_way, *waiting)}
            while shown < len(ran) and id(ran[shown]) not in unfinished:
                status_line("")
                _in_order(ran[shown])
                done(ran[shown])
                shown += 1
            if not unfinished:
                return ran
            seconds = time.monotonic() - begun
            status_line(f"{len(ran) - len(unfinished)} of {len(ran)} configurations tested  {seconds:.0f} s")
            if seconds > _MOST_SECONDS:
                named = one_line(", ".join(job.id for job in under_way))
                raise Failed(f"the tests have not ended in an hour ({named}): try again later")
            pause = _SECONDS_AT_FIRST if rounds < _POLLS_AT_FIRST else _SECONDS_LATER
            time.sleep(max(pause, len(under_way) * _SECONDS_A_JOB))
            rounds += 1
            under_way = [job for job in under_way if not _has_ended(api, job)]
    except KeyboardInterrupt:
        status_line("")
        started = [job for one in ran for job in one.jobs]
        if started:
            say(f"The tests continue on the server ({one_line(', '.join(started))}); their results are not shown here")
        raise
    finally:
        status_line("")


def parts(suite: Suite) -> Iterator[Sequence[FileTest]]:
    """The tests of a file in parts of which each fits a request; those of a stored version are one part."""
    if suite.is_stored:
        yield suite.tests
        return
    room = _LARGEST_BODY - _size(suite.request)
    part: list[FileTest] = []
    taken = 0
    for test in suite.tests:
        size = _size(body_of(test)) + 1
        if part and taken + size > room:
            yield part
            part, taken = [], 0
        part.append(test)
        taken += size
    if part:
        yield part


def request(suite: Suite, tests: Sequence[FileTest]) -> dict[str, object]:
    """The body that runs these tests of the suite, or those of the stored version."""
    if suite.is_stored:
        return {**suite.request, **({"tests": list(suite.names)} if suite.names else {})}
    return {**suite.request, "tests": [body_of(test) for test in tests]}


def body_of(test: FileTest) -> dict[str, object]:
    # An output that is written by this run: what is expected so far is nothing.
    return {"name": test.name, **test.fields} | ({"expected": ""} if test.awaits_expected else {})


def refusal(error: ServerError, tests: Sequence[FileTest]) -> str:
    """The server's refusal, with places in the files instead of those in the request."""
    if error.status == _TOO_LARGE and tests:
        together = "the configuration and this test are over 1 MB together as JSON: use less of a sample"
        return "\n".join(f"{one_line(test.file)}:{test.line('sample_file')}: {together}" for test in tests)
    lines = []
    of_tests = False
    for entry in error.errors:
        message = one_line(optional(entry, "message"))
        match entry.get("loc"):
            case ["body", "tests", int(at), *rest] if at < len(tests):
                of_tests = True
                test = tests[at]
                place = tuple(part for part in rest if isinstance(part, str | int))
                where = one_line(".".join(str(part + 1) if isinstance(part, int) else part for part in place))
                lines.append(f"{one_line(test.file)}:{test.line(*place)}: {f'{where}: ' if where else ''}{message}")
            case ["body", *rest] if rest:
                lines.append(f"{one_line('.'.join(map(str, rest)))}: {message}")
            case _:
                lines.append(message)
    return "\n".join(lines) if of_tests else error.message


def _start(api: Api, job: _Job, more: Mapping[str, object]) -> bool:
    """Start the job, and return whether it is under way: one that is refused has outcomes or a problem instead."""
    try:
        answer = api.create(PATH, {**request(job.ran.suite, job.tests), **more})
    except (NotAuthenticated, Unreachable):
        raise
    except ServerError as error:
        _not_run(job, refusal(error, job.tests))
        return False
    except Failed as error:
        _not_run(job, error.message)
        return False
    job.id = text(answer, "id")
    job.ran.jobs.append(job.id)
    # A collector of this machine has run it by then.
    return not _conclude(job, answer)


def _has_ended(api: Api, job: _Job) -> bool:
    try:
        answer = api.get(f"{PATH}/{job.id}")
    except (NotAuthenticated, Unreachable):
        raise
    except Failed as error:
        _not_run(job, error.message)
        return True
    return _conclude(job, answer)


def _conclude(job: _Job, answer: Entity) -> bool:
    """Take the outcomes of a job that has ended; whether it has."""
    if answer.get("status") not in FINAL:
        return False
    result = answer.get("result")
    if not isinstance(result, Mapping):
        _not_run(job, optional(answer, "reason") or "the tests ended without a result")
        return True
    job.ran.collector_version = optional(result, "collector_version")
    files = {test.name: test for test in job.tests}
    answers = {optional(entry, "name"): entry for entry in entities(result, "tests")}
    for name in [*files, *(name for name in answers if name not in files)]:
        missing = "" if name in answers else "the server's answer has no result of this test"
        job.ran.outcomes.append(Outcome(name, files.get(name), answers.get(name), missing))
    return True


def _not_run(job: _Job, reason: str) -> None:
    if job.tests:
        job.ran.outcomes += [Outcome(test.name, test, problem=reason) for test in job.tests]
    job.ran.problem = reason


def _in_order(ran: Ran) -> None:
    """Jobs of one suite may end in any order."""
    places = {test.name: at for at, test in enumerate(ran.suite.tests)}
    ran.outcomes.sort(key=lambda outcome: places.get(outcome.name, len(places)))


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
