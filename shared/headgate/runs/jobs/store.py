"""Jobs in the runs table. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from headgate.runs import keys
from headgate.runs.execution import AlreadyFinal
from headgate.runs.jobs.model import Job
from headgate.storage import idempotent_create, table
from headgate.storage.items import Item
from headgate.storage.stored import Stored
from headgate.storage.table import ConditionFailed, Write

_JOBS: Final = Stored(Job, names={"id": "run_id"})
_UNFINISHED: Final = "attribute_exists(#kind) AND #status IN (:queued, :running)"
_UNFINISHED_VALUES: Final[Item] = {":queued": "Queued", ":running": "Running"}


def create(job: Job, path: str) -> None:
    """Store a new job, which `path` leads to; one transaction.

    Raises LostRace if its request's `Idempotency-Key` was taken over.
    """
    table.transact([table.runs.put_over(_item(job)), *idempotent_create.writes(path)])


def find(job_id: str, /) -> Job | None:
    """One read. None if there is none."""
    return table.runs.find(keys.run(job_id), _JOBS.read)


def update(after: Job, /) -> None:
    """Replace a job that has not ended; one conditional write. Raises AlreadyFinal, also if there is no such job."""
    try:
        table.write(updating(after))
    except ConditionFailed as error:
        raise AlreadyFinal from error


def updating(after: Job) -> Write:
    """The same as a part of a transaction."""
    return table.runs.put_if(_item(after), _UNFINISHED, _UNFINISHED_VALUES)


def delete(job_id: str, /) -> None:
    """One delete."""
    table.write(table.runs.delete(keys.run(job_id)))


def unfinished() -> Iterator[Job]:
    """Every job that has not ended; a scan, for the start of a service that runs alone."""
    return map(_JOBS.read, table.runs.scan(_UNFINISHED, _UNFINISHED_VALUES))


def _item(job: Job) -> Item:
    return _JOBS.item(job) | {"expires": int(job.expires_at.timestamp())}
