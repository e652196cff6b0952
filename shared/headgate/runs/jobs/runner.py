"""The test runner of a job: the task that it gets, and the one file that it leaves, which is not trusted.

It has no rights. Its task is an object of its job with a link to the job's cases, a form that stores the results up to
a size, and links to its collectors if the runner's image does not have those versions.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from pydantic import ValidationError

from headgate.checker import published
from headgate.foundation import clock
from headgate.runs.jobs import store
from headgate.runs.jobs.model import Job
from headgate.runs.model import Untrusted
from headgate.runs.runner import LARGEST
from headgate.storage import objects
from headgate_engine.rules.engine import Prepared
from headgate_engine.testing.cases import task_of
from headgate_engine.testing.model import Case, Unworkable
from headgate_engine.testing.outcome import Left

# The limits in layers/collector/internal/sandbox; a result's line is JSON of its output.
LARGEST_CASES: Final = 64 << 20
LARGEST_RESULTS: Final = 64 << 20
# For all cases together. The state machine gives the test runner 240 s, and Fargate takes up to a minute to start.
_BUDGET_SECONDS: Final = 150
# A task may wait for capacity for four minutes, and then takes four.
_LINK_SECONDS: Final = 600
_CLOCKS_APART: Final = timedelta(minutes=2)


def give(job: Job, prepared: Sequence[tuple[Case, Prepared]]) -> str:
    """Store the task and its cases. Returns a signed link to the task. Raises Unworkable, CheckerUnreachable."""
    content = json.dumps(task_of(prepared), ensure_ascii=False, separators=(",", ":"))
    if len(content.encode()) > LARGEST_CASES:
        raise Unworkable(
            f"the configurations and samples of its {len(prepared)} cases are over {LARGEST_CASES >> 20} MB together"
        )
    store.put_asked(job, "cases", content)
    sources = {
        version: published.source(version, _LINK_SECONDS)
        for version in sorted({case.collector_version for case, _ in prepared})
    }
    task = {
        "budget_seconds": _BUDGET_SECONDS,
        "collectors": {version: source for version, source in sources.items() if source is not None},
        "get": {"cases": store.asked_link(job, "cases", _LINK_SECONDS)},
        "post": {"results": store.upload(job.id, "results", LARGEST_RESULTS, _LINK_SECONDS)},
    }
    store.put_file(job.id, "task.json", json.dumps(task))
    return store.link(job.id, "task.json", _LINK_SECONDS)


def results(job: Job, idle: Mapping[str, tuple[int, bool]]) -> dict[str, Left]:
    """What came of each case, by its id. `idle` is each one's duration in seconds, and whether it may end when idle.

    Raises Untrusted.
    """
    try:
        content = store.file(job.id, "results", LARGEST_RESULTS)
    except objects.TooLong:
        raise _untrusted(f"results are larger than {LARGEST_RESULTS} bytes") from None
    if content is None:
        raise Untrusted("the test runner left no results")
    found: dict[str, Left] = {}
    for line in content.splitlines():
        try:
            left = Left.model_validate_json(line)
        except ValidationError:
            raise _untrusted("a line of its results is not a result") from None
        if left.id not in idle or left.id in found:
            raise _untrusted("a result is of no case, or of one that has a result")
        duration, may_end = idle[left.id]
        _require_plausible(left, job, duration, may_end)
        found[left.id] = left
    if len(found) != len(idle):
        raise _untrusted(f"{len(idle) - len(found)} cases have no result")
    return found


def _require_plausible(left: Left, job: Job, duration: int, may_end_when_idle: bool) -> None:
    outcome = left.outcome
    if outcome.ran == bool(outcome.reason) or (outcome.ran and not outcome.executed):
        raise _untrusted("an outcome contradicts itself")
    if len(left.stderr.encode()) > LARGEST["stderr"] or len(left.output.encode()) > LARGEST["output"]:
        raise _untrusted("a result is larger than a run's")
    if not outcome.executed:
        return
    begun = (job.started_at or job.created_at) - _CLOCKS_APART
    try:
        lasted = outcome.finished_at - outcome.started_at
        within = begun <= outcome.started_at and outcome.finished_at <= clock.now() + _CLOCKS_APART
    except TypeError:
        raise _untrusted("its times have no time zone") from None
    if not within or lasted < timedelta(0):
        raise _untrusted("its times are not of this job")
    whole = lasted >= timedelta(seconds=duration)
    if outcome.ran and not whole and not (outcome.idle and may_end_when_idle):
        raise _untrusted("a case is said to have run for its duration, in less time than that")


def _untrusted(what: str) -> Untrusted:
    return Untrusted(f"the test runner's answer cannot be right: {what}")
