"""Recording the steps of a traced run.

The test runner leaves what the collector recorded, which is not trusted. The checker makes the document of it that is
stored as `steps.json`.
"""

from collections.abc import Sequence
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError

from headgate.checker import Asker, NoChecker, NotInstalled
from headgate.runs import files
from headgate.runs.model import Run
from headgate_engine.collector import Signal
from headgate_engine.collectors import service as collectors
from headgate_engine.testing import notes
from headgate_engine.testing.trace import ENDED_BEFORE, RecordedTrace, recorded

DOCUMENT: Final = "steps.json"
LARGEST_STEPS: Final = 16 << 20
_LONGEST_NOTE: Final = 500
_NO_STORAGE: Final = "the service's storage did not answer"


def why_not(version: str, signals: Sequence[Signal], asker: Asker) -> str:
    """The reason why that collector cannot record steps of these signals; empty if it can.

    Raises Unavailable if it could not be asked.
    """
    if "profiles" in signals:
        return "profiles are not traced"
    try:
        if collectors.records_steps(version, asker=asker):
            return ""
    except NoChecker:
        return f"collector {version} is an official release, whose components cannot be observed"
    except NotInstalled as error:
        return f"collector {version} is not installed; installed: {', '.join(error.installed) or 'none'}"
    return f"this build of collector {version} cannot record steps; build it again"


def no_steps(reason: str) -> str:
    """The note of a run that has no steps."""
    return notes.note(f"this run has no steps: {reason[:_LONGEST_NOTE]}")


def note_unavailable(run: Run, reason: str) -> None:
    """Store why the run has no steps."""
    _store(run.id, RecordedTrace.unavailable(reason))


def record(run: Run, yaml: str, events: str) -> str:
    """Store the steps of a traced run, of which the test runner has left `events`.

    Returns why there are none, empty if there are. Nothing that fails here ends the run.
    """
    try:
        if len(events.encode()) > LARGEST_STEPS:
            document = RecordedTrace.unavailable(f"the test runner left more than {LARGEST_STEPS} bytes of them")
        elif events:
            asker = Asker(run.organization_id, run.id)
            document = recorded(events, yaml, asker=asker, version=run.collector_version)
        elif files.size(run.id, DOCUMENT) > 0:
            # It was noted when the run was started why it has none.
            return ""
        else:
            document = RecordedTrace.unavailable(ENDED_BEFORE)
        _store(run.id, document)
    except (BotoCoreError, ClientError):
        return _NO_STORAGE
    return document.reason or ""


def _store(run_id: str, document: RecordedTrace) -> None:
    files.put(run_id, DOCUMENT, document.model_dump_json())
