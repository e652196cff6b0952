"""The test runner: the task that it gets, and the one file that it leaves, which is not trusted.

It has no rights. Its task is an object of its run or job with a link to the cases, a form that stores the results up to
a size, and links to its collectors if the runner's image does not have those versions.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from pydantic import TypeAdapter, ValidationError

from headgate.checker import published
from headgate.foundation import clock
from headgate.runs import files
from headgate.runs.execution import Changeable
from headgate.storage import objects
from headgate_engine.rules.engine import Prepared
from headgate_engine.testing.cases import Ready, task_of
from headgate_engine.testing.model import Case, Unworkable
from headgate_engine.testing.outcome import Left

# The limits in layers/collector/internal/sandbox; a result's line is JSON of its output.
LARGEST_OUTPUT: Final = 32 << 20
LARGEST_STDERR: Final = 66_000
LARGEST_CASES: Final = 64 << 20
LARGEST_RESULTS: Final = 64 << 20
# For all cases together. The state machine gives the test runner 240 s, and Fargate takes up to a minute to start.
_BUDGET_SECONDS: Final = 150
# A task may wait for capacity for four minutes, and then takes four.
_LINK_SECONDS: Final = 600
_CLOCKS_APART: Final = timedelta(minutes=2)
_READY: Final = TypeAdapter(list[Ready])


class Untrusted(Exception):
    """The test runner left files that no run can leave. The message says why, for a person."""


def put_cases(execution: Changeable, ready: Sequence[Ready], to_run: Sequence[tuple[Case, Prepared]]) -> None:
    """Store the cases as they run, and what is known of each before. Raises Unworkable."""
    content = json.dumps(task_of(to_run), ensure_ascii=False, separators=(",", ":"))
    if len(content.encode()) > LARGEST_CASES:
        raise Unworkable(
            f"the configurations and samples of its {len(to_run)} cases are over {LARGEST_CASES >> 20} MB together"
        )
    files.put_input(execution, "cases", content)
    files.put(execution.id, "prepared.json", _READY.dump_json(list(ready)).decode())


def ready(execution: Changeable) -> dict[str, Ready]:
    """Read the collector's answers about each case before it runs, by its id; empty if none were stored."""
    content = files.read(execution.id, "prepared.json")
    return {entry.id: entry for entry in _READY.validate_json(content or b"[]")}


def give(execution: Changeable, collector_versions: Iterable[str]) -> str:
    """Store the task of the cases that are stored. Returns a signed link to it. Raises CheckerUnreachable."""
    sources = {version: published.source(version, _LINK_SECONDS) for version in sorted(set(collector_versions))}
    task = {
        "budget_seconds": _BUDGET_SECONDS,
        "collectors": {version: source for version, source in sources.items() if source is not None},
        "get": {"cases": files.input_link(execution, "cases", _LINK_SECONDS)},
        "post": {"results": files.upload(execution.id, "results", LARGEST_RESULTS, _LINK_SECONDS)},
    }
    files.put(execution.id, "task.json", json.dumps(task))
    return files.link(execution.id, "task.json", _LINK_SECONDS)


def results(execution: Changeable, cases: Sequence[Case], ready: Mapping[str, Ready]) -> dict[str, Left]:
    """Read the result of each case that was not refused, by its id. Raises Untrusted."""
    try:
        content = files.read(execution.id, "results", LARGEST_RESULTS)
    except objects.TooLong:
        raise _untrusted(f"results are larger than {LARGEST_RESULTS} bytes") from None
    if content is None:
        raise Untrusted("the test runner left no results")
    runnable = {case.id: case for case in cases if not ready[case.id].reason}
    results: dict[str, Left] = {}
    for line in content.splitlines():
        try:
            left = Left.model_validate_json(line)
        except ValidationError:
            raise _untrusted("a line of its results is not a result") from None
        if left.id not in runnable or left.id in results:
            raise _untrusted("a result is of no case, or of one that has a result")
        _require_plausible(left, execution, runnable[left.id].duration_seconds, ready[left.id].idle)
        results[left.id] = left
    if len(results) != len(runnable):
        raise _untrusted(f"{len(runnable) - len(results)} cases have no result")
    return results


def _require_plausible(left: Left, execution: Changeable, duration: int, may_end_when_idle: bool) -> None:
    outcome = left.outcome
    if outcome.ran == bool(outcome.reason) or (outcome.ran and not outcome.executed):
        raise _untrusted("an outcome contradicts itself")
    if len(left.stderr.encode()) > LARGEST_STDERR or len(left.output.encode()) > LARGEST_OUTPUT:
        raise _untrusted("a result is larger than a run's")
    if not outcome.executed:
        return
    begun = (execution.started_at or execution.created_at) - _CLOCKS_APART
    try:
        lasted = outcome.finished_at - outcome.started_at
        within = begun <= outcome.started_at and outcome.finished_at <= clock.now() + _CLOCKS_APART
    except TypeError:
        raise _untrusted("its times have no time zone") from None
    if not within or lasted < timedelta(0):
        raise _untrusted("its times are before or after its execution")
    whole = lasted >= timedelta(seconds=duration)
    if outcome.ran and not whole and not (outcome.idle and may_end_when_idle):
        raise _untrusted("a case is said to have run for its duration, in less time than that")


def _untrusted(what: str) -> Untrusted:
    return Untrusted(f"the test runner's answer cannot be right: {what}")
