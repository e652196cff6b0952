"""A preview of a change of a fleet's mode: what it would mean for the collectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from headgate.deployments import modes
from headgate.deployments import service as deployments
from headgate.fleets import service as fleets
from headgate.fleets.model import FleetMode
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.instances import service
from headgate.instances.service import SeenInstance

MOST_HOSTS: Final = 100
_KEPT: Final = (
    "Each collector goes on with what it runs: the change sends nothing, and no host is installed again",
    "The fleet's token, the ids of its hosts, their history and stored configurations stay",
    "The first version comes by a rollout; a collector that is not due yet goes on with what it has",
    "The version replaces remote configuration alone: files that the supervisor's `agent::config_files` names are "
    "merged below it until you take them out there",
    "A group cannot go back from its first version: let that equal what runs, which `headgate fleet adopt` "
    "makes a draft of, and set its variables where the collector starts",
    "Configurations that collectors report are no longer read once they take theirs from here",
)
_STAY: Final = (
    "{n} of {total} collectors take no remote configuration: they stay observed, no rollout counts them, and you "
    "change them where they run"
)
_OBSERVED_AGAIN: Final = (
    "Each collector goes on with what it runs, and gets no configuration from now on",
    "Configurations that collectors report are read again, without secrets",
)


@dataclass(frozen=True, slots=True)
class ModeCheck:
    """The consequences for the collectors; `reason` says why the change would be refused.

    `taking` are those that a rollout would reach, `staying` those that stay observed; `hosts` are the first of them.
    """

    mode: FleetMode
    reason: str | None
    total: int
    taking: int
    staying: int
    hosts: Sequence[SeenInstance]
    notes: Sequence[str]


def check(caller: Caller, fleet_id: str, mode: FleetMode) -> ModeCheck:
    """Two reads for each of up to two groups, and a query for each megabyte of instances. Raises FleetNotFound."""
    fleet = fleets.get(caller, fleet_id)
    groups = [deployments.of_fleet(fleet_id, group_id) for group_id in deployments.ids(fleet_id, 2)]
    seen = service.those(fleet, lambda _: True, clock.now())
    taking = [each for each in seen if each.instance.reported.accepts_remote_config]
    staying = [each for each in seen if not each.instance.reported.accepts_remote_config]
    notes = list(_OBSERVED_AGAIN)
    if mode == "managed":
        notes = [*_KEPT, *([_STAY.format(n=len(staying), total=len(seen))] if staying else [])]
    reason = None if fleet.mode == mode else modes.obstacle(fleet, groups, mode)
    # Those that stay are what a person has to see.
    return ModeCheck(mode, reason, len(seen), len(taking), len(staying), [*staying, *taking][:MOST_HOSTS], notes)
