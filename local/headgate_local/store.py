"""moto as the database of a data folder: it holds what the folder holds, and its writes are saved there."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import boto3

from headgate_local import moto_patches
from headgate_local.database import NAME, Database, DatabaseChange, damaged
from headgate_local.errors import CannotStart
from headgate_local.moto_data import MotoData
from headgate_local.template import Template

_LOG: Final = logging.getLogger("headgate_local")
_EXPIRE_EVERY_SECONDS: Final = 3600


@contextmanager
def restored(folder: Path, template: Template) -> Iterator[bool]:
    """The template's tables and buckets in moto, with the folder's data, saved until the end of the `with` block.

    Yields whether the folder had none. The folder is this process's own and moto's server runs. Raises CannotStart if
    the data cannot be read or written.
    """
    try:
        database = Database(folder / NAME)
        data = MotoData(template.tables(), template.buckets())
        _define(template)
        count = 0
        for change in database.read():
            data.apply(change)
            count += 1
        if count == 0 and (folder / "tokens.json").exists():
            database.close()
            raise damaged(folder / NAME, "it holds no data, but tokens.json beside it has the tokens of some")
        database.write(data.drop_expired(datetime.now(UTC)))
    except OSError as error:
        raise CannotStart(f"cannot use the data in {folder}: {error.strerror or error}") from error
    try:
        with moto_patches.installed(data, _Saver(database, data).save):
            yield count == 0
    finally:
        with moto_patches.LOCK:
            database.close()


class _Saver:
    """Saves changes, and now and then removes what has expired."""

    def __init__(self, database: Database, data: MotoData) -> None:
        self._database = database
        self._data = data
        self._expire_at = time.monotonic() + _EXPIRE_EVERY_SECONDS

    def save(self, changes: Sequence[DatabaseChange]) -> None:
        """Raises OSError if the changes could not be saved. Called with moto's lock held."""
        self._database.write(changes)
        if time.monotonic() < self._expire_at:
            return
        self._expire_at = time.monotonic() + _EXPIRE_EVERY_SECONDS
        try:
            self._database.write(self._data.drop_expired(datetime.now(UTC)))
        except OSError as error:
            # They are gone from memory; the next start removes them from the file.
            _LOG.warning("expired data could not be removed: %s", error)


def _define(template: Template) -> None:
    dynamodb, s3 = boto3.client("dynamodb"), boto3.client("s3")
    for table in template.tables():
        dynamodb.create_table(**table.definition)
    for bucket in template.buckets():
        s3.create_bucket(Bucket=bucket.name)
