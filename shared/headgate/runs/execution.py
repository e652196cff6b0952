"""Executions, the common part of test runs and jobs: visibility, expiry, and when one counts as lost."""

from abc import ABC, abstractmethod
from datetime import datetime, timedelta
from typing import Final, Self

from headgate.foundation.caller import Caller
from headgate.foundation.principal import Principal
from headgate_engine.testing.model import LONGEST

RETENTION: Final = timedelta(days=30)
# A queued one that is older may have been lost on its way into or out of the queue.
_QUEUED_FOR: Final = timedelta(minutes=1)


class AlreadyFinal(Exception):
    """The run or the job has already ended, in another way."""


class RunGone(Exception):
    """The run or job does not exist or has ended: there is nothing to do."""


class Execution:
    """A base for dataclasses with these fields. One that is `published` is about published versions only."""

    __slots__ = ()

    id: str
    organization_id: str
    created_by: Principal
    published: bool
    status: str
    created_at: datetime
    started_at: datetime | None

    @property
    def is_final(self) -> bool:
        return self.status not in ("Queued", "Running")

    @property
    def expires_at(self) -> datetime:
        return self.created_at + RETENTION

    def visible_to(self, caller: Caller, at: datetime) -> bool:
        """True if the caller may see it; the whole organization may, if it is `published`."""
        if self.organization_id != caller.organization_id or at >= self.expires_at:
            return False
        mine = (self.created_by.kind, self.created_by.id) == (caller.principal.kind, caller.principal.id)
        return mine or self.published or caller.is_admin

    def is_lost(self, at: datetime) -> bool:
        """True if it has been Running for longer than any execution can. One that waits for its turn is not lost."""
        return self.status == "Running" and at > (self.started_at or self.created_at) + LONGEST

    def has_waited(self, at: datetime) -> bool:
        """True if it has been Queued for so long that it may have been lost."""
        return self.status == "Queued" and at > self.created_at + _QUEUED_FOR


class Changeable(Execution, ABC):
    """A run or a job as a whole, which can be started and ended."""

    __slots__ = ()

    @property
    def secret(self) -> bool:
        """True if its input has values of variables."""
        return False

    @abstractmethod
    def start(self, at: datetime) -> Self:
        """Returns the execution as Running."""

    @abstractmethod
    def fail(self, reason: str, at: datetime) -> Self:
        """Returns the execution in Error, without a result: it could not start or did not run as it should."""
