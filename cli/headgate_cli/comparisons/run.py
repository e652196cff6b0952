"""Running comparisons on the server: each as one job, or as several if its tests are large."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from headgate_cli.api import Api, Entity, ServerError, entities, optional, text
from headgate_cli.comparisons.sides import Pair, body_of
from headgate_cli.errors import Failed, NotAuthenticated, Unreachable
from headgate_cli.output import say, status_line
from headgate_cli.suites.files import FileTest
from headgate_cli.untrusted import one_line

PATH: Final = "/testing/comparisons"
_FINAL: Final = ("Done", "Error")
# A request's body is at most 1 MB, with room for what JSON adds.
_LARGEST_BODY: Final = 1_000_000
# More wait here: each takes a place among an organization's runs.
_AT_ONCE: Final = 8
# All requests of a credential share a limit of 60 a minute.
_SECONDS_AT_FIRST: Final = 1.0
_SECONDS_LATER: Final = 4.0
_ROUNDS_AT_FIRST: Final = 10
_SECONDS_A_JOB: Final = 1.1
_MOST_SECONDS: Final = 3_600.0


@dataclass(slots=True)
class Compared:
    """A comparison that was run. `results` are the server's, one for each job; `problem` is why there is none."""

    pair: Pair
    results: list[Entity] = field(default_factory=list)
    problem: str = ""
    jobs: list[str] = field(default_factory=list)

    @property
    def tests(self) -> list[Entity]:
        return [test for result in self.results for test in entities(result, "tests")]

    @property
    def differs(self) -> bool:
        return any(test.get("status") == "differs" for test in self.tests)

    @property
    def compared(self) -> bool:
        """Whether everything was compared that was to be."""
        return not self.problem and all(test.get("status") != "not_compared" for test in self.tests)


@dataclass(frozen=True, slots=True)
class _Start:
    """A job to start: of which comparison, with which of its tests."""

    compared: Compared
    tests: Sequence[FileTest]
    body: dict[str, object]


@dataclass(slots=True)
class _Job:
    compared: Compared
    id: str


def run(api: Api, pairs: Sequence[Pair], ignore: Sequence[str]) -> list[Compared]:
    """Run the comparisons. One that the server refuses has a problem; the others run.

    Raises NotAuthenticated, Unreachable, Failed after an hour, and KeyboardInterrupt after a message.
    """
    all_compared = [Compared(pair, problem=pair.problem) for pair in pairs]
    to_start = [
        _Start(one, tests, body)
        for one in all_compared
        if not one.problem and not one.pair.note
        for tests, body in requests(one.pair, ignore)
    ]
    jobs: list[_Job] = []
    rounds, count = 0, len(to_start)
    begun = time.monotonic()
    try:
        while to_start or jobs:
            while to_start and len(jobs) < _AT_ONCE:
                jobs += _started(api, to_start.pop(0))
            seconds = time.monotonic() - begun
            status_line(f"{count - len(jobs) - len(to_start)} of {count} comparisons done  {seconds:.0f} s")
            if seconds > _MOST_SECONDS:
                raise Failed(f"the comparisons have not ended in an hour ({_ids(jobs)}): try again later")
            pause = _SECONDS_AT_FIRST if rounds < _ROUNDS_AT_FIRST else _SECONDS_LATER
            time.sleep(max(pause, len(jobs) * _SECONDS_A_JOB))
            rounds += 1
            jobs = [job for job in jobs if not _has_ended(api, job)]
        return all_compared
    except KeyboardInterrupt:
        status_line("")
        if jobs:
            say(f"The comparisons continue on the server ({_ids(jobs)}); their results are not shown here")
        raise
    finally:
        status_line("")


def requests(pair: Pair, ignore: Sequence[str]) -> Iterator[tuple[Sequence[FileTest], dict[str, object]]]:
    """The bodies that run a comparison, each of a size that the server takes, with the tests of each."""
    base: dict[str, object] = {"left": dict(pair.left.request), "right": dict(pair.right.request)}
    base |= {"ignore": list(ignore)} if ignore else {}
    if not pair.tests:
        yield (), {**base, **({"test_names": list(pair.names)} if pair.names else {})}
        return
    room = _LARGEST_BODY - _size(base)
    part: list[FileTest] = []
    taken = 0
    for test in pair.tests:
        size = _size(body_of(test)) + 1
        if part and taken + size > room:
            yield part, {**base, "tests": [body_of(one) for one in part]}
            part, taken = [], 0
        part.append(test)
        taken += size
    yield part, {**base, "tests": [body_of(one) for one in part]}


def _started(api: Api, start: _Start) -> list[_Job]:
    """The job under way; none, with a problem, if the server refuses it."""
    try:
        job = text(api.create(PATH, start.body), "id")
    except (NotAuthenticated, Unreachable):
        raise
    except ServerError as error:
        start.compared.problem = refusal(error, start.tests)
        return []
    start.compared.jobs.append(job)
    return [_Job(start.compared, job)]


def refusal(error: ServerError, tests: Sequence[FileTest]) -> str:
    """The server's refusal, with the files of tests instead of their places in the request."""
    lines = []
    for entry in error.errors:
        message = one_line(optional(entry, "message"))
        match entry.get("loc"):
            case ["body", "tests", int(at), *rest] if 0 <= at < len(tests):
                test = tests[at]
                place = tuple(part for part in rest if isinstance(part, str | int))
                lines.append(f"{one_line(test.file)}:{test.line(*place)}: {message}")
            case _:
                pass
    return "\n".join(lines) or error.message


def _has_ended(api: Api, job: _Job) -> bool:
    try:
        answer = api.get(f"{PATH}/{job.id}")
    except (NotAuthenticated, Unreachable):
        raise
    except ServerError as error:
        job.compared.problem = error.message
        return True
    if optional(answer, "status") not in _FINAL:
        return False
    result = answer.get("result")
    if isinstance(result, Mapping):
        job.compared.results.append(result)
    else:
        job.compared.problem = optional(answer, "reason") or "the comparison ended without a result"
    return True


def _ids(jobs: Sequence[_Job]) -> str:
    return one_line(", ".join(job.id for job in jobs))


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
