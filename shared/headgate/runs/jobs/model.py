"""Jobs, their cases, what came of each case, and which changes of a job are allowed."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, Self

from headgate.foundation import errors
from headgate.foundation.principal import Principal
from headgate.runs.execution import Changeable

Kind = Literal["suite", "comparison", "coverage"]
Status = Literal["Queued", "Running", "Done", "Error"]

MAX_REQUEST_BYTES: Final = 16 << 20


class JobNotFound(errors.NotFound):
    """The job does not exist, has expired, is of another kind, or is about another member's draft."""

    code = "job_not_found"
    detail = "No such job"


class JobTooLarge(errors.TooLarge):
    """The texts and samples of a job are over the limit together."""

    detail = f"The texts and samples of one job are at most {MAX_REQUEST_BYTES >> 20} MB together"


@dataclass(frozen=True, slots=True)
class Job(Changeable):
    """A job. One that is `published` is about published versions only, so the whole organization may see it.

    The request of one that is `secret` has values of variables: it is gone for good before the job has ended.
    """

    id: str
    organization_id: str
    created_by: Principal
    published: bool
    kind: Kind
    status: Status
    configuration_id: str | None
    version_number: int | None
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    secret: bool = False
    # How many cases it has, once they are known, and why it is in Error.
    cases: int | None = None
    reason: str = ""

    def start(self, at: datetime) -> Self:
        return replace(self, status="Running", started_at=at)

    def complete(self, at: datetime) -> Self:
        """Its result is stored."""
        return replace(self, status="Done", finished_at=at)

    def fail(self, reason: str, at: datetime) -> Self:
        """The job ended without a result."""
        return replace(self, status="Error", reason=reason, finished_at=at)
