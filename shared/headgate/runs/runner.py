"""The test runner: the task that it gets, and the files that it leaves, which are not trusted.

It has no rights. Its task is an object of its run with links that are signed for that run's files only, forms that
store three or four of them, each up to a size, and a link to its collector if the runner's image does not have that
version.
"""

import json
from datetime import timedelta
from typing import Final

from pydantic import ValidationError

from headgate.checker import published
from headgate.foundation import clock
from headgate.runs import store, variables
from headgate.runs.model import Run, Untrusted
from headgate.storage import objects
from headgate_engine.testing.outcome import Outcome

# The limits in layers/collector/internal/sandbox, with room for the note that something was cut off.
LARGEST: Final = {"output": 32 << 20, "stderr": 66_000, "outcome.json": 8_192}
# What a traced run leaves besides.
STEPS: Final = "steps"
LARGEST_STEPS: Final = 16 << 20
# The state machine ends within this time.
# A task may wait for capacity for four minutes, and then takes four.
_LINK_SECONDS: Final = 600
_CLOCKS_APART: Final = timedelta(minutes=2)


def give(run: Run, *, trace: bool = False) -> str:
    """Store the run's task. Returns a signed link to it. Raises CheckerUnreachable.

    With `trace`, the collector records its steps.
    """
    limits = LARGEST | {STEPS: LARGEST_STEPS} if trace else LARGEST
    task: dict[str, object] = {
        "collector_version": run.collector_version,
        "duration_seconds": run.duration_seconds,
        "get": _links(run),
        "sample_name": run.sample_name or "",
        "feature_gates": list(run.feature_gates),
        "post": {name: store.upload(run.id, name, limit, _LINK_SECONDS) for name, limit in limits.items()},
    }
    if trace:
        task["trace"] = True
    source = published.source(run.collector_version, _LINK_SECONDS)
    if source is not None:
        task["collector"] = source
    store.put_file(run.id, "task.json", json.dumps(task))
    return store.link(run.id, "task.json", _LINK_SECONDS)


def _links(run: Run) -> dict[str, str]:
    """The links of the run's input. Values of variables are behind a link only, since the task stays with the run."""
    links = {name: store.link(run.id, name, _LINK_SECONDS) for name in ("collector.yaml", "input")}
    if run.env_names:
        links["collector.yaml"] = variables.link(run.id, _LINK_SECONDS, "collector.yaml")
        links["env"] = variables.link(run.id, _LINK_SECONDS)
    return links


def outcome(run: Run) -> Outcome:
    """How the collector ended. Raises Untrusted."""
    text = _file(run, "outcome.json")
    if text is None:
        raise Untrusted("the test runner left no outcome")
    try:
        outcome = Outcome.model_validate_json(text)
    except ValidationError:
        raise _untrusted("outcome.json is not an outcome") from None
    if outcome.ran == bool(outcome.reason) or (outcome.ran and not outcome.executed):
        raise _untrusted("its outcome contradicts itself")
    if outcome.executed:
        _require_plausible(outcome, run)
    return outcome


def output(run: Run) -> str:
    """The collector's output. Raises Untrusted."""
    return _file(run, "output") or ""


def stderr(run: Run) -> str:
    """What the collector wrote; its last line is complete. Raises Untrusted."""
    text = _file(run, "stderr") or ""
    return text if not text or text.endswith("\n") else text + "\n"


def stderr_as_left(run_id: str) -> str:
    """What the runner left as the collector's standard error; empty if it left none, or more than it may."""
    try:
        return store.file_if_there(run_id, "stderr", LARGEST["stderr"]) or ""
    except objects.TooLong:
        return ""


def steps(run: Run) -> str | None:
    """What the collector recorded of its steps; None if there is nothing. Raises Untrusted."""
    return _file(run, STEPS)


def _require_plausible(outcome: Outcome, run: Run) -> None:
    begun = (run.started_at or run.created_at) - _CLOCKS_APART
    try:
        lasted = outcome.finished_at - outcome.started_at
        within = begun <= outcome.started_at and outcome.finished_at <= clock.now() + _CLOCKS_APART
    except TypeError:
        raise _untrusted("its times have no time zone") from None
    if not within or lasted < timedelta(0):
        raise _untrusted("its times are not of this run")
    if outcome.ran and lasted < timedelta(seconds=run.duration_seconds):
        raise _untrusted("it says that it ran for its duration, in less time than that")


def _file(run: Run, name: str) -> str | None:
    limit = LARGEST_STEPS if name == STEPS else LARGEST[name]
    try:
        content = store.file_bytes(run.id, name, limit)
    except objects.TooLong:
        raise _untrusted(f"{name} is larger than {limit} bytes") from None
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError:
        raise _untrusted(f"{name} is not UTF-8") from None


def _untrusted(what: str) -> Untrusted:
    return Untrusted(f"the test runner's answer cannot be right: {what}")
