"""Pipelines whose newest test run did not pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headgate.configurations import service as configurations
from headgate.foundation.caller import Caller
from headgate.overview.model import Notice
from headgate.runs import service as runs
from headgate.runs.model import ListedRun

LOOKED_AT: Final = 50
"""Runs among which failed ones are looked for, the newest."""
_MOST: Final = 5


def notices(caller: Caller) -> list[Notice]:
    """One query, and a batch read if there are any.

    A run that failed and was followed by one of the same pipeline that passed is not told.
    """
    newest: dict[tuple[str | None, str], ListedRun] = {}
    for run in runs.newest(caller, LOOKED_AT):
        if run.finished_at is not None:
            newest.setdefault((run.configuration_id, run.target_pipeline), run)
    failed = [run for run in newest.values() if run.status in ("Fail", "Error")]
    shown = failed[:_MOST]
    seen = {run.configuration_id or "" for run in shown if run.is_of_version_seen_by(caller.principal)} - {""}
    names = configurations.names(caller.organization_id, seen) if seen else {}
    return [_notice(run, names) for run in shown]


def _notice(run: ListedRun, names: Mapping[str, str]) -> Notice:
    name = names.get(run.configuration_id or "")
    version = f"{name} version {run.version_number}, " if name else ""
    return Notice(
        kind="run_failed",
        subject=f"{version}pipeline {run.target_pipeline}",
        reason=run.reason or ("A rule did not pass" if run.status == "Fail" else "The run ended with an error"),
        at=run.finished_at or run.created_at,
        configuration_id=run.configuration_id,
        version_number=run.version_number,
        run_id=run.id,
    )
