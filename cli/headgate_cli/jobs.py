"""Jobs of tests on the server, side by side: they are started, and asked for until they end."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from headgate_cli.api import Api, Entity, ServerError, message_of
from headgate_cli.errors import Failed, NotAuthenticated, Unreachable
from headgate_cli.output import status_line
from headgate_cli.shaped import checked
from headgate_cli.shapes import ComparisonOut, CoverageOut, SuiteOut
from headgate_cli.suites.files import FileTest
from headgate_cli.untrusted import one_line
from headgate_cli.watching import waiting

_ENDED: Final = ("Success", "Fail", "Error", "Done")
# A request's body is at most 1 MB, with room for what JSON adds.
_LARGEST_BODY: Final = 1_000_000
_TOO_LARGE: Final = 413
# All requests of a credential share a limit of 60 a minute.
_ROUNDS_AT_FIRST: Final = 10
_SECONDS_AT_FIRST: Final = 1.0
_SECONDS_LATER: Final = 4.0
_SECONDS_A_JOB: Final = 1.1
# An hour, as for a run.
_MOST_SECONDS: Final = 3_600.0


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of job, with the words of its sentences. `at_once` is how many of them the server executes at once."""

    path: str
    shape: type[SuiteOut | CoverageOut | ComparisonOut]
    counted: str
    unfinished: str
    continues: str
    lost: str
    at_once: int = 10


@dataclass(slots=True, kw_only=True)
class Work(ABC):
    """The purpose of jobs. `problem` says why there is no result; `jobs` are the ids of the jobs."""

    problem: str = ""
    jobs: list[str] = field(default_factory=list)

    @abstractmethod
    def take(self, tests: Sequence[FileTest], result: Entity) -> None:
        """Take the result of a job of these tests."""

    def refuse(self, tests: Sequence[FileTest], reason: str) -> None:
        """Take the reason why a job of these tests has no result."""
        del tests
        self.problem = reason


W = TypeVar("W", bound=Work)


@dataclass(slots=True, eq=False)
class TestingJob:
    """A job: what it is for, the tests of files that its request has, and the request."""

    work: Work
    tests: Sequence[FileTest]
    request: Mapping[str, object]
    id: str = ""


def run(
    api: Api,
    kind: JobKind,
    work: Sequence[W],
    jobs: Sequence[TestingJob],
    done: Callable[[W], None],
) -> None:
    """Run the jobs of the work, which takes the result of each, or the reason why it has none.

    Calls `done` for each work, in their order, once its jobs have ended. Raises NotAuthenticated, Unreachable, Failed
    after an hour, and KeyboardInterrupt after a message.
    """
    waits, under_way = list(jobs), list[TestingJob]()
    shown = rounds = 0
    begun = time.monotonic()

    def has_ended(job: TestingJob) -> bool:
        """Start the job, or ask for it; a collector of this machine has run it when it is started."""
        try:
            if job.id:
                answer = api.get(kind.shape, f"{kind.path}/{job.id}")
            else:
                answer = api.create(kind.shape, kind.path, job.request)
                job.id = answer["id"]
                job.work.jobs.append(job.id)
            if answer["status"] not in _ENDED:
                return False
            result = checked(answer["result"])
            if result is None:
                job.work.refuse(job.tests, answer["reason"] or kind.lost)
            else:
                job.work.take(job.tests, result)
        except (NotAuthenticated, Unreachable):
            raise
        except Failed as error:
            reason = refusal(error, job.tests) if isinstance(error, ServerError) else error.message
            job.work.refuse(job.tests, reason)
        return True

    with waiting(lambda: kind.continues.format(_ids(under_way)) if under_way else "") as show_status:
        while True:
            while waits and len(under_way) < kind.at_once:
                job = waits.pop(0)
                under_way += [] if has_ended(job) else [job]
            unfinished = {id(job.work) for job in (*under_way, *waits)}
            while shown < len(work) and id(work[shown]) not in unfinished:
                status_line("")
                done(work[shown])
                shown += 1
            if not unfinished:
                return
            show_status(f"{len(work) - len(unfinished)} of {len(work)} {kind.counted}")
            if time.monotonic() - begun > _MOST_SECONDS:
                raise Failed(f"{kind.unfinished} in an hour ({_ids(under_way)}): try again later")
            pause = _SECONDS_AT_FIRST if rounds < _ROUNDS_AT_FIRST else _SECONDS_LATER
            time.sleep(max(pause, len(under_way) * _SECONDS_A_JOB))
            rounds += 1
            under_way = [job for job in under_way if not has_ended(job)]


def in_parts(
    tests: Sequence[FileTest], base: Mapping[str, object], body_of: Callable[[FileTest], Mapping[str, object]]
) -> Iterator[Sequence[FileTest]]:
    """Divide tests into parts that each fit a request beside its other fields."""
    room = _LARGEST_BODY - _size(base)
    part: list[FileTest] = []
    filled = 0
    for test in tests:
        size = _size(body_of(test)) + 1
        if part and filled + size > room:
            yield part
            part, filled = [], 0
        part.append(test)
        filled += size
    if part:
        yield part


def refusal(error: ServerError, tests: Sequence[FileTest]) -> str:
    """Reword the server's refusal with places in the files instead of those in the request."""
    if error.status == _TOO_LARGE and tests:
        together = "the configuration and this test are over 1 MB together as JSON: use less of a sample"
        return "\n".join(f"{one_line(test.file)}:{test.line('sample_file')}: {together}" for test in tests)
    lines = []
    of_tests = False
    for entry in error.errors:
        message = one_line(message_of(entry))
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


def _ids(jobs: Sequence[TestingJob]) -> str:
    return one_line(", ".join(job.id for job in jobs))


def _size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
