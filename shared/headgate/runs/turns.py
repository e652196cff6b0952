"""Whose turn it is: runs and jobs enter the queue of their organization, begin, and make room for the next.

A crash loses no run. A run is started after its place is stored, and is started again by the next request that reads it
with a place and still Queued. A run that ends makes room in the same step, which is retried. A place that was never
given back ends by itself. Reading a run that has waited long makes sure of all this (`advance`).
"""

import json
from typing import Protocol

from botocore.exceptions import ClientError

from headgate.foundation import clock
from headgate.runs import store
from headgate.runs.queue import PLACE_SETTLED_AFTER, Queue
from headgate.settings import settings
from headgate.storage import aws
from headgate.storage.retry import retry


class Queued(Protocol):
    """A run, or a job."""

    @property
    def id(self) -> str: ...

    @property
    def organization_id(self) -> str: ...


def require_room(organization_id: str) -> None:
    """Raises TooManyRuns if another run could neither begin nor wait; one read."""
    queue = store.queue(organization_id).without_lost(clock.now())
    queue.require_room(settings().runs_waiting, settings().runs_under_way)


def enter(run: Queued) -> None:
    """Begin the run, or add it to those that wait; a read, a write, and StartExecution. Raises TooManyRuns."""

    def once() -> list[str]:
        at = clock.now()
        before = store.queue(run.organization_id)
        after = before.without_lost(at)
        after.require_room(settings().runs_waiting, settings().runs_under_way)
        after, begun = after.enter(run.id), []
        while (turn := after.next(settings().runs_under_way, settings().jobs_under_way)) is not None:
            after = after.begin(turn, at)
            begun.append(turn)
        store.save_queue(before, after)
        return begun

    for run_id in retry(once):
        _begin(run_id)


def make_room(organization_id: str, *ended: str) -> None:
    """Let runs leave the queue, and begin the next ones; a read, and a write if something changes.

    They begin before the queue is written, so if this breaks off it is repeated from the start.
    """

    def once() -> None:
        at = clock.now()
        before = store.queue(organization_id)
        after = before.leave(*ended).without_lost(at)
        while (turn := after.next(settings().runs_under_way, settings().jobs_under_way)) is not None:
            if store.has_ended(turn):
                after = after.leave(turn)
            else:
                _begin(turn)
                after = after.begin(turn, at)
        if after != before:
            store.save_queue(before, after)

    retry(once)


def advance(run: Queued) -> bool:
    """Begin a run that has been Queued for long, if it can. False if it is lost: it does not wait and cannot begin."""
    at = clock.now()
    queue = store.queue(run.organization_id)
    place = queue.place(run.id)
    if place is not None:
        if not place.is_lost(at):
            _begin(run.id)
        return not place.is_lost(at)
    if run.id not in queue.waiting:
        return False
    make_room(run.organization_id, *_ended(queue))
    return True


def waits(run: Queued) -> bool:
    """Whether it waits for its turn; one read."""
    return run.id in store.queue(run.organization_id).waiting


def _ended(queue: Queue) -> list[str]:
    """Runs that have ended and still have a place."""
    at = clock.now()
    old = [place.run_id for place in queue.places if at > place.since + PLACE_SETTLED_AFTER]
    return [run_id for run_id in old if store.has_ended(run_id)]


def _begin(run_id: str) -> None:
    """Start the execution named by the run, unless it has been started."""
    try:
        aws.stepfunctions().start_execution(
            stateMachineArn=settings().state_machine_arn, name=run_id, input=json.dumps({"run_id": run_id})
        )
    except ClientError as error:
        if error.response["Error"]["Code"] != "ExecutionAlreadyExists":
            raise
