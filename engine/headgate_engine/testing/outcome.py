"""Ends of a test's collector."""

import re
from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, StrictBool, StrictStr, StringConstraints

NEVER_EXECUTED: Final = "The test was never executed: "
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def _in_one_line(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("it must be one line")
    return text


_Line = Annotated[str, StringConstraints(max_length=1_500), AfterValidator(_in_one_line)]


class CollectorOutcome(BaseModel):
    """The end of the collector, by the test runner. `cause` is the reason in the collector's words, `proposal`
    how to run the test without a component that cannot work in a sandbox."""

    ran: StrictBool
    executed: StrictBool
    reason: _Line
    cause: _Line = ""
    proposal: _Line = ""
    started_at: datetime = datetime.min.replace(tzinfo=UTC)
    finished_at: datetime = datetime.min.replace(tzinfo=UTC)

    @property
    def why(self) -> str:
        return f"{self.reason}: {self.cause}" if self.cause else self.reason


class CaseOutcome(CollectorOutcome):
    """The end of a case's collector. `idle` if the sample was through and nothing moved any more."""

    idle: bool = False


class Left(BaseModel):
    """The files that the test runner left of one case."""

    id: StrictStr
    outcome: CaseOutcome
    output: StrictStr = ""
    stderr: StrictStr = ""
    steps: StrictStr = ""

    @property
    def seconds(self) -> float:
        return (self.outcome.finished_at - self.outcome.started_at).total_seconds()
