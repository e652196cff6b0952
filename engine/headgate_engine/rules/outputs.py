"""Comparing the outputs of pipeline tests: what the collector's checker says of two of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, Self

from pydantic import BaseModel, JsonValue, ValidationError

from headgate_engine.answers import read
from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import Refused
from headgate_engine.collector import Signal
from headgate_engine.errors import Unavailable
from headgate_engine.validation.model import TOO_COSTLY

Change = Literal["added", "missing", "changed"]
# The checker's own bound, before a question is made of more.
_MOST_CHARACTERS: Final = 16 << 20
_OURS: Final = ("not_otlp", "bad_path", "too_large", TOO_COSTLY)


class ComparisonFailed(Unavailable):
    """The checker cannot compare just now."""

    code = "comparison_failed"


class Incomparable(Exception):
    """These outputs cannot be compared; the message says why, for a person.

    `not_otlp`: a text is not OTLP/JSON; the message begins with `left: line 3: ` or `right: …`. `bad_path`: a path of
    `ignore` that no record can have; it begins with `ignore[0]: `. `too_large`, `too_costly`: over the limits.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class RunPeriod:
    """The period of a run. Times within it were made by the run, and equal each other."""

    since: datetime
    until: datetime


class FieldCount(BaseModel):
    """In how many changed records a path was added, is missing, or has another value."""

    path: str
    added: int
    missing: int
    changed: int


class RecordCounts(BaseModel):
    """Records of one signal: log records, spans, data points."""

    left: int
    right: int
    same: int
    changed: int
    added: int
    missing: int


class SignalSummary(RecordCounts):
    """The records of a signal: log records, spans, data points. Without `complete`, `fields` lacks some."""

    fields: list[FieldCount]
    complete: bool


class FieldDifference(BaseModel):
    """A field that differs, with the values as OTLP/JSON has them. If `cut`, they are texts around the difference."""

    path: str
    change: Change
    left: JsonValue = None
    right: JsonValue = None
    cut: bool = False


class Difference(BaseModel):
    """A record that only one side has, or that changed. `left` and `right` count from 0 among the signal's records.

    `fields_left_out` is how many more fields differ; -1 if the record was too large to be taken apart.
    """

    signal: Signal
    change: Change
    left: int | None
    right: int | None
    name: str
    fields: list[FieldDifference]
    fields_left_out: int = 0


class Differences(BaseModel):
    """Differences of outputs. `left_out` counts further records, `profiles` documents that were not compared."""

    equal: bool
    signals: dict[Signal, SignalSummary]
    differences: list[Difference]
    left_out: int
    profiles: int = 0

    def whole(self) -> Self:
        """The same. Raises Incomparable if only what was not compared may differ."""
        if self.equal and self.profiles:
            raise Incomparable("profiles", "Profiles are not compared: test them by rules")
        return self


def compare(
    left: str,
    right: str,
    *,
    asker: Asker,
    ignore: Sequence[str] | None = None,
    left_ran: RunPeriod | None = None,
    right_ran: RunPeriod | None = None,
    max_bytes: int = 0,
) -> Differences:
    """Compare two outputs, OTLP/JSON documents one after the other.

    `ignore` are paths as OTTL has them; None stands for the default. Without `left_ran`, as for an expected output, any
    time there equals one that the right side's run made. `max_bytes` bounds the fields that are told, to 1 MB at most.
    The default collector answers. Raises Incomparable, Unavailable.
    """
    if len(left) + len(right) > _MOST_CHARACTERS:
        raise Incomparable("too_large", f"Both outputs together are over {_MOST_CHARACTERS >> 20} MB")
    request = {
        "left": left,
        "right": right,
        "ignore": None if ignore is None else list(ignore),
        "left_ran": _span(left_ran),
        "right_ran": _span(right_ran),
        "max_bytes": max_bytes,
    }
    try:
        return read(Differences, asker.ask("compare", request))
    except Refused as refused:
        if refused.code in _OURS:
            raise Incomparable(refused.code, refused.message) from refused
        raise ComparisonFailed(f"The outputs could not be compared: {refused.message}") from refused
    except ValidationError as error:
        raise ComparisonFailed("The outputs could not be compared: the answer is not valid") from error


def _span(ran: RunPeriod | None) -> dict[str, str] | None:
    return None if ran is None else {"from": ran.since.isoformat(), "until": ran.until.isoformat()}
