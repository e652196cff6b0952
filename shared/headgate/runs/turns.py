"""Turns of runs and jobs: they enter the queue of their organization, begin, and make room for the next.

A crash loses no run. A run is started after its place is stored, and is started again by the next request that reads it
with a place and still Queued. A run that ends makes room in the same step, which is retried. A place that was never
given back ends by itself. Reading a run that has waited long makes sure of all this (`advance`).

If organizations share a limited number of places, a run needs one of these as well. Both queues change in one
transaction, so no place is left in one of them alone. Organizations whose runs wait for a shared place take turns.
"""

import json
from datetime import datetime
from typing import Protocol

from botocore.exceptions import ClientError

from headgate.foundation import clock
from headgate.foundation.settings import settings
from headgate.runs import store
from headgate.runs.queue import EVERYONE, PLACE_SETTLED_AFTER, Queue, TooManyRuns
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
    _require_room(store.queue(organization_id).without_lost(clock.now()), _shared(clock.now()))


def _require_room(queue: Queue, shared: Queue | None) -> None:
    is_full = shared is not None and len(shared.places) >= settings().all_runs_under_way
    if is_full and len(queue.waiting) >= settings().runs_waiting:
        raise TooManyRuns(len(queue.waiting), settings().all_runs_under_way)
    queue.require_room(settings().runs_waiting, settings().runs_under_way)


def _shared(at: datetime) -> Queue | None:
    """The queue of all organizations, None if they share no limit."""
    return store.queue(EVERYONE).without_lost(at) if settings().all_runs_under_way else None


def enter(run: Queued) -> None:
    """Begin the run, or add it to those that wait; a read, a write, and StartExecution. Raises TooManyRuns."""

    def once() -> list[str]:
        at = clock.now()
        before = store.queue(run.organization_id)
        after = before.without_lost(at)
        shared = _shared(at)
        _require_room(after, shared)
        after, begun = after.enter(run.id), []
        while shared is None and (turn := _next(after)) is not None:
            after = after.begin(turn, at)
            begun.append(turn)
        if shared is None:
            store.save_queue(before, after)
        else:
            _save_with_shared(before, after)
        return begun

    for run_id in retry(once):
        _begin(run_id)
    _share_out()


def make_room(organization_id: str, *ended: str) -> None:
    """Let runs leave the queue, and begin the next ones; a read, and a write if something changes.

    They begin before the queue is written, so if this breaks off it is repeated from the start.
    """

    def once() -> None:
        at = clock.now()
        before = store.queue(organization_id)
        after = before.leave(*ended).without_lost(at)
        if settings().all_runs_under_way:
            _save_with_shared(before, after, *ended)
            return
        while (turn := _next(after)) is not None:
            if store.has_ended(turn):
                after = after.leave(turn)
            else:
                _begin(turn)
                after = after.begin(turn, at)
        if after != before:
            store.save_queue(before, after)

    retry(once)
    _share_out()


def _next(queue: Queue) -> str | None:
    return queue.next(settings().runs_under_way, settings().jobs_under_way)


def _save_with_shared(before: Queue, after: Queue, *ended: str) -> None:
    """Save an organization's queue, and give its shared places back; it waits for one if it has a run to begin."""
    shared = store.queue(EVERYONE)
    shared_after = shared.leave(*ended).without_lost(clock.now())
    if _next(after) is not None:
        shared_after = shared_after.enter(after.organization_id)
    store.save_queues((before, after), (shared, shared_after))


def _share_out() -> None:
    """Begin runs while there are shared places, one of each organization that waits after the other."""
    while settings().all_runs_under_way:
        turns = retry(_take_shared_place)
        if turns is None:
            return
        for run_id in turns:
            _begin(run_id)


def _take_shared_place() -> list[str] | None:
    """Give a place to the next run of the organization whose turn it is. None if there is no place, or none waits.

    Returns the run, which begins once its place is stored: of many that share places out, each would begin another run.
    """
    at = clock.now()
    shared = store.queue(EVERYONE)
    shared_after = shared.without_lost(at)
    if not shared_after.waiting or len(shared_after.places) >= settings().all_runs_under_way:
        return None
    before = store.queue(shared_after.waiting[0])
    after = before.without_lost(at)
    shared_after = shared_after.leave(before.organization_id)
    turns = []
    if (turn := _next(after)) is not None:
        after = after.leave(turn)
        if not store.has_ended(turn):
            after, shared_after = after.begin(turn, at), shared_after.begin(turn, at)
            turns.append(turn)
    if _next(after) is not None:
        shared_after = shared_after.enter(before.organization_id)
    store.save_queues((before, after), (shared, shared_after))
    return turns


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
    """True if it waits for its turn; one read."""
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
