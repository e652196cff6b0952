"""Reads how an agent's collector and its parts fare, from the report of health: a stranger's tree."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from headgate.instances.reported.health_tree import (
    DEEPEST,
    LONGEST_ERROR,
    LONGEST_NAME,
    LONGEST_STATUS,
    MOST_PARTS,
    HealthTree,
    PartHealth,
)
from headgate.opamp.reasons import reason
from headgate_opamp.opamp_pb2 import ComponentHealth

MOST_SECONDS: Final = 0.3
"""Processor time for taking secrets out of the errors of one report; those that are left then are redacted whole."""
_SINCE: Final = datetime(1970, 1, 1, tzinfo=UTC)


def tree(health: ComponentHealth) -> HealthTree:
    """The health of the parts, without secrets in their errors."""
    reading = _Reading()
    parts = list(reading.parts(health, ()))
    return HealthTree(
        status=_status(health.status),
        at=_time(health.status_time_unix_nano),
        started_at=_time(health.start_time_unix_nano),
        parts=parts[:MOST_PARTS],
        complete=len(parts) <= MOST_PARTS and not reading.cut,
    )


def without_secrets(error: str) -> str:
    """An error as it may be stored: collectors quote their settings."""
    if not error:
        return ""
    # Imported here: the list of forms would slow every cold start, and most messages have no error.
    from headgate.opamp import secret_forms

    return secret_forms.without_secrets(error)


class _Reading:
    def __init__(self) -> None:
        self.cut = False
        self._ends = time.thread_time() + MOST_SECONDS

    def parts(self, health: ComponentHealth, path: tuple[str, ...]) -> Iterator[PartHealth]:
        """The parts below, each before those in it, by name."""
        if len(path) == DEEPEST:
            self.cut = self.cut or bool(health.component_health_map)
            return
        for name, part in sorted(health.component_health_map.items()):
            below = (*path, name[:LONGEST_NAME])
            yield PartHealth(
                path=below,
                healthy=part.healthy,
                status=_status(part.status),
                error=self._error(part.last_error),
                at=_time(part.status_time_unix_nano),
            )
            yield from self.parts(part, below)

    def _error(self, error: str) -> str:
        if time.thread_time() > self._ends:
            return "[REDACTED]" if error else ""
        # Cut afterwards as well: what was cut before has not the form of a secret any more.
        return without_secrets(reason(error))[:LONGEST_ERROR]


def _status(status: str) -> str:
    """The collector's word for it, such as `OK` or `RecoverableError`."""
    return status.removeprefix("Status")[:LONGEST_STATUS]


def _time(nanoseconds: int) -> datetime | None:
    # 64 bits end in the year 2554.
    return _SINCE + timedelta(milliseconds=nanoseconds // 1_000_000) if nanoseconds else None
