"""moto as the database of a data folder: what the folder holds is in it, and what is written to it is kept there."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import boto3

from headgate_local import moto_patches
from headgate_local.errors import CannotStart
from headgate_local.journal import Journal
from headgate_local.moto_data import MotoData
from headgate_local.objects import ObjectFiles
from headgate_local.records import Change
from headgate_local.template import Template

_LOG: Final = logging.getLogger("headgate_local")


@dataclass(frozen=True, slots=True)
class Restored:
    """What was found in the folder. `fresh` when that was nothing; `notices` are for the person who started it."""

    fresh: bool
    notices: tuple[str, ...]


@contextmanager
def restored(folder: Path, template: Template) -> Iterator[Restored]:
    """The template's tables and buckets in moto, with the folder's data, kept until the end of the `with` block.

    The folder is this process's own and moto's server runs. Raises CannotStart if the data cannot be read or written.
    """
    try:
        journal = Journal(folder)
        objects = ObjectFiles(folder / "objects")
        data = MotoData(template.tables(), template.buckets(), objects)
        _define(template)
        count = 0
        for change in journal.replay():
            data.apply(change)
            count += 1
        data.drop_expired(datetime.now(UTC))
        journal.compact(data.everything())
        objects.keep_only(data.object_contents())
    except OSError as error:
        raise CannotStart(f"cannot use the data in {folder}: {error.strerror or error}") from error
    try:
        with moto_patches.installed(data, _Keeper(journal, data).keep):
            yield Restored(count == 0, _notices(journal, data))
    finally:
        with moto_patches.LOCK:
            journal.close()


class _Keeper:
    """Writes changes to the journal, and makes a snapshot of it when that is worth its time."""

    def __init__(self, journal: Journal, data: MotoData) -> None:
        self._journal = journal
        self._data = data

    def keep(self, changes: Sequence[Change]) -> None:
        """Raises OSError if the changes could not be kept. Called with moto's lock held."""
        self._journal.append(changes)
        if self._journal.due:
            try:
                self._data.drop_expired(datetime.now(UTC))
                self._journal.compact(self._data.everything())
            except OSError as error:
                # The changes are kept, in the journal that goes on; another try follows when it has grown further.
                _LOG.warning("the journal could not be compacted: %s", error)


def _define(template: Template) -> None:
    dynamodb, s3 = boto3.client("dynamodb"), boto3.client("s3")
    for table in template.tables():
        dynamodb.create_table(**table.definition)
    for bucket in template.buckets():
        s3.create_bucket(Bucket=bucket.name)


def _notices(journal: Journal, data: MotoData) -> tuple[str, ...]:
    notices = [f"The content of {name} is gone or damaged; the object was left out" for name in data.lost_objects]
    if journal.unfinished_bytes:
        notices.append(
            f"The last write before the service ended was unfinished and is left out ({journal.unfinished_bytes} bytes)"
        )
    return tuple(notices)
