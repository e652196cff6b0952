"""Jobs in the runs table, and their files in the bucket. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from headgate.runs.jobs import keys
from headgate.runs.jobs.model import Job
from headgate.storage import idempotent_create, objects, table
from headgate.storage.items import Item
from headgate.storage.stored import Stored
from headgate.storage.table import ConditionFailed, Write

_JOBS: Final = Stored(Job, names={"id": "run_id"})
REQUEST: Final = "request.json"
_UNFINISHED: Final = "attribute_exists(#kind) AND #status IN (:queued, :running)"
_UNFINISHED_VALUES: Final[Item] = {":queued": "Queued", ":running": "Running"}


class AlreadyFinal(Exception):
    """The job has already ended, in another way."""


def create(job: Job, path: str) -> None:
    """Store a new job, which `path` leads to; one transaction.

    Raises LostRace if its request's `Idempotency-Key` was taken over.
    """
    table.transact([table.runs.put_over(_item(job)), *idempotent_create.writes(path)])


def job(job_id: str) -> Job | None:
    """One read. None if there is none."""
    item = table.runs.get(keys.job(job_id))
    return _JOBS.read(item) if item else None


def update(after: Job) -> None:
    """Replace a job that has not ended; one conditional write. Raises AlreadyFinal, also if there is no such job."""
    try:
        table.write(updating(after))
    except ConditionFailed as error:
        raise AlreadyFinal from error


def updating(after: Job) -> Write:
    """The same as a part of a transaction."""
    return table.runs.put_if(_item(after), _UNFINISHED, _UNFINISHED_VALUES)


def delete(job_id: str) -> None:
    """One delete."""
    table.write(table.runs.delete(keys.job(job_id)))


def unfinished() -> Iterator[Job]:
    """Every job that has not ended; a scan, for the start of a service that runs alone."""
    return map(_JOBS.read, table.runs.scan(_UNFINISHED, _UNFINISHED_VALUES))


def put_file(job_id: str, name: str, text: str) -> None:
    objects.write(keys.file(job_id, name), text.encode(), objects.TEXT)


def file(job_id: str, name: str, limit: int | None = None) -> bytes | None:
    """A file that its job depends on, None if there is none. Raises ClientError if access is denied, and TooLong."""
    return objects.read_unless_missing(keys.file(job_id, name), limit)


def put_asked(job: Job, name: str, text: str) -> None:
    """Store a text that is made of the request, which may be secret."""
    objects.write(_asked(job, name), text.encode(), objects.TEXT)


def asked(job: Job, name: str, limit: int | None = None) -> bytes | None:
    """Such a text, None if there is none. Raises ClientError if access is denied, and TooLong."""
    return objects.read_unless_missing(_asked(job, name), limit)


def asked_link(job: Job, name: str, seconds: int) -> str:
    """A URL that serves such a text to whoever has it, for some minutes."""
    return objects.link(_asked(job, name), seconds)


def delete_asked(job: Job) -> None:
    """Delete a secret request, and all that was made of it, for good. Raises BotoCoreError, ClientError."""
    if job.secret:
        objects.delete_for_good(keys.secret(job.id))


def delete_request(job: Job) -> None:
    """Delete the request of a job that was never begun. Raises BotoCoreError, ClientError."""
    if job.secret:
        delete_asked(job)
    else:
        objects.delete(keys.file(job.id, REQUEST))


def link(job_id: str, name: str, seconds: int) -> str:
    """A URL that serves one file to whoever has it, for some minutes."""
    return objects.link(keys.file(job_id, name), seconds)


def upload(job_id: str, name: str, limit: int, seconds: int) -> dict[str, object]:
    """The URL and fields of a form that stores one file of up to `limit` bytes, for whoever has them."""
    return objects.upload_form(keys.file(job_id, name), limit, seconds)


def _asked(job: Job, name: str) -> str:
    return keys.secret(job.id) + name if job.secret else keys.file(job.id, name)


def _item(job: Job) -> Item:
    return _JOBS.item(job) | {"expires": int(job.expires_at.timestamp())}
