"""An event of an instance's timeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from headgate.deployments.versions import Assignment
from headgate.foundation.principal import Principal
from headgate.instances.state.model import InstanceState

InstanceEvent = Literal[
    "first_seen",
    "moved",  # to another group
    "silent",
    "back",  # heard again after it was silent or stopped
    "offered",
    "running",
    "crash_loop",
    "exited",  # the collector ended by itself
    "drifted",
    "restarted",  # as ordered
    "collector_changed",  # the collector that runs has another version
    "configuration_changed",  # an observed collector reports to run another configuration
    "variables_sent",  # sealed for its host
    "variables_changed",  # the collector's process has others in its environment
    "supervisor_changed",
    "supervisor_kept",  # it could not be upgraded as ordered
    "override",
    "override_ended",
    "key_registered",  # the host signs its messages from now on
    "key_replaced",  # another host, or none with a key, took its place as a person allowed
    "scope_changed",  # its host reports with a token of another scope
    "token_renewed",  # its host reports with another token of the same scope
    "cut_off",  # a person refuses its messages
    "let_in",  # a person takes them again
    "move_allowed",  # a person lets another host take its place
    "replaced",  # its host was installed again, and is another instance
    "replaces",  # its host was another instance before it was installed again
    "refused",  # a message that another host sent under its uid
    "capture",  # asked of the host
    "capture_ended",
    "pending_pickup",
    "applying",
    "applied",
    "apply_failed",
    "idle",
    "healthy",  # by the report of a collector that takes no configuration from Headgate
    "unhealthy",
    "stopped",
    "flapping",
    "flapping_ended",
]
KEPT: Final = timedelta(days=90)
"""Retention of an event."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A version, None for nothing, and since when; `at` is None for what is older than the recording of times.

    `collector_version` is that of the collector with it, None for the one that was installed, or if nothing runs.
    """

    assignment: Assignment | None
    at: datetime | None
    collector_version: str | None = None


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """An event, and what was so after it: `state` and `running`, None if nothing ran or it is not known.

    `version` is what the event is about, `reason` why it failed. The others belong to single events: `drifted` are the
    keys that are changed on the host, `left_out` is how many events of the hour were not written until then.
    `program_version` is that of the collector or supervisor that changed, `configuration` the hash of the text that an
    observed collector reports to run, `variables_revision` that of the variables, None for those of the install.
    """

    at: datetime
    event: InstanceEvent
    state: InstanceState
    running: Moment | None
    version: Assignment | None = None
    reason: str | None = None
    drifted: Sequence[str] | None = None
    exits: int | None = None
    deployment_id: str | None = None
    until: datetime | None = None
    actor: Principal | None = None
    message: str | None = None
    left_out: int | None = None
    program_version: str | None = None
    configuration: str | None = None
    variables_revision: int | None = None

    @property
    def is_followed_by_others(self) -> bool:
        """True if later events were not written, so that the event does not tell the later state."""
        return self.left_out is not None and self.event != "flapping_ended"


@dataclass(frozen=True, slots=True)
class Noted:
    """The number of events written in an hour since 1970, and of those left out.

    `once` are those that were written beyond the limit, each for its first time, as digests. `unwell` is whether
    something bad was told of the instance, and not that it is well again.
    """

    hour: int = 0
    written: int = 0
    left_out: int = 0
    once: Sequence[str] = ()
    unwell: bool = False


NOTHING_NOTED: Final = Noted()
