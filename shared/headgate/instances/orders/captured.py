"""The capture that is asked of an instance, and what its host tells of it; `headgate.captures` knows the rest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

HostReason = Literal[
    "records",  # there are as many as were asked for
    "time",
    "stopped",  # a writer ended it, or an Admin forbade captures in the group
    "new_version",  # the service offered another version to the host
    "restarted",  # the supervisor
    "failed",
    "collector_ended",
]
"""Those that a host may give."""
HOST_REASONS: Final[tuple[HostReason, ...]] = get_args(HostReason)
Reason = Literal[
    HostReason,
    "bad_sample",  # the host sent what is not one
    "lost",  # the host was not heard any more
    "expired",  # the host did not begin in time
]


@dataclass(frozen=True, slots=True)
class OpenCapture:
    """A capture in its instance's item. Its host is told of it until `running`, and until its end if it is to `stop`.

    After `until` it counts no longer, whatever the host says.
    """

    id: str
    begins_by: datetime
    until: datetime
    running: bool = False
    stop: bool = False

    def is_over(self, at: datetime) -> bool:
        return at > (self.until if self.running or self.stop else self.begins_by)


@dataclass(frozen=True, slots=True)
class CaptureNews:
    """A host's news of a capture. `reason` is None while it runs; `sample` is compressed, None without records."""

    id: str
    reason: Reason | None = None
    error: str = ""
    records: int = 0
    left_out: int = 0
    redacted: int = 0
    sample: bytes | None = None
