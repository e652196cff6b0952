"""What this service adds to a collector's standard error: lines that begin with `headgate:`."""

from collections.abc import Mapping, Sequence
from typing import Final

from headgate.foundation.collector import Signal
from headgate.rules.engine import Verdict
from headgate.rules.model import Rule
from headgate.runs import log

NOTHING_CAME_OUT: Final = (
    "headgate: nothing came out of the pipeline; most often a filter or a sampling processor dropped all of the "
    "sample, a processor held it for longer than duration_seconds, or the receiver's operators took no line of it\n"
)


def note(text: str) -> str:
    """A line."""
    return f"headgate: note: {' '.join(text.split())}\n"


def on_output(
    records: Mapping[Signal, int], nothing_out: str, written: str, rules: Sequence[Rule], verdicts: Sequence[Verdict]
) -> str:
    """The lines on a collector that ran as it should: on its output, on how it ended, and on its rules.

    `nothing_out` is a line for an empty output, `written` what the collector wrote.
    """
    lines = "" if any(records.values()) else NOTHING_CAME_OUT + nothing_out
    if log.crashed(written):
        lines += note(
            "the collector crashed after its shutdown, when the output was complete: a component sent records to an "
            "exporter that was gone"
        )
    return lines + "".join(
        note(f"rule '{rule.name}': {verdict.note}")
        for rule, verdict in zip(rules, verdicts, strict=True)
        if verdict.note
    )
