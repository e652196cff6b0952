"""The words of a run on its standard error: notes of this service, then the collector's words for a reader.

The collector's program composes it (the operation `tell`), so that it is the same without a service.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from headgate_engine import errors
from headgate_engine.checker.asker import Asker
from headgate_engine.collector import Signal
from headgate_engine.rules import engine
from headgate_engine.rules.engine import RuleVerdict, Said
from headgate_engine.rules.model import Rule
from headgate_engine.testing.outcome import NEVER_EXECUTED, CollectorOutcome

_LONGEST_NOTE: Final = 500


def note(text: str) -> str:
    """A line."""
    return f"headgate: note: {' '.join(text.split())}\n"


def compose(
    outcome: CollectorOutcome,
    written: str,
    noted: str,
    *,
    asker: Asker,
    nothing_out: str = "",
    records: Mapping[Signal, int] | None = None,
    rules: Sequence[Rule] = (),
    verdicts: Sequence[RuleVerdict] = (),
) -> Said:
    """Compose the words of a run that ended with `outcome`: its collector's `written`, and the notes in `noted`.

    `nothing_out` says why the output may be empty. `records` counts the records in the output; None if they were not
    counted. If the checker cannot be asked, the collector's own words are returned, so that the run does
    not fail.
    """
    said = {
        **outcome.model_dump(include={"executed", "ran", "reason", "cause", "proposal"}),
        "stderr": written,
        "noted": noted,
        "nothing_out": nothing_out,
        "records": records,
        "rules": [
            {"name": rule.name, "note": verdict.note[:_LONGEST_NOTE]}
            for rule, verdict in zip(rules, verdicts, strict=False)
        ],
    }
    nothing_came_out = records is not None and not any(records.values())
    if not (written or noted or outcome.proposal or nothing_came_out or any(verdict.note for verdict in verdicts)):
        return _as_it_is(outcome, written, noted)
    try:
        return engine.tell(said, asker=asker)
    except errors.Unavailable:
        return _as_it_is(outcome, written, noted)


def _as_it_is(outcome: CollectorOutcome, written: str, noted: str) -> Said:
    if not outcome.executed:
        return Said(stderr=NEVER_EXECUTED + outcome.why)
    reason = "" if outcome.ran else f"headgate: {outcome.why}\n"
    return Said(stderr=f"{reason}{noted}{written}")
