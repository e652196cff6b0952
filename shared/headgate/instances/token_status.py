"""Hosts that use the present token of a fleet or a group, and those that still use a former one, which may end then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from headgate.deployments import own_tokens
from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment
from headgate.deployments.own_tokens import NoOwnToken
from headgate.fleets import service as fleets
from headgate.fleets import tokens
from headgate.fleets.model import Fleet
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.log import logger
from headgate.instances import service, store
from headgate.instances.model import Instance
from headgate.instances.service import SeenInstance
from headgate.storage.retry import LostRace

MOST_HOSTS: Final = 100


@dataclass(frozen=True, slots=True)
class TokenStatus:
    """The present token, and the number of hosts that reported with it, with a former one, or with one not recorded.

    `previous_ends_at` is when the one before ends, None if it has ended; with `previous_while_used` it ends before,
    once no host uses it. `hosts` are the first of those with a former one.
    """

    token_id: str
    expires_at: datetime | None
    previous_ends_at: datetime | None
    previous_while_used: bool
    current: int
    former: int
    unknown: int
    hosts: Sequence[SeenInstance]


def of_fleet(caller: Caller, fleet_id: str) -> TokenStatus:
    """Read the status of the fleet's token, for groups without one of their own; a query for each megabyte of hosts.

    Raises FleetNotFound.
    """
    fleet = fleets.get(caller, fleet_id)
    own = {group.id for group in deployments.each(fleet_id) if group.token_generation}

    def uses(instance: Instance) -> bool:
        # Also one that came by the fleet's token to a group that has had one of its own since.
        return instance.deployment_id not in own or instance.identity.scope == fleet_id

    return _status(fleet, fleet, uses)


def of_group(caller: Caller, fleet_id: str, deployment_id: str) -> TokenStatus:
    """Read the status of a group's own token. Raises FleetNotFound, DeploymentNotFound, NoOwnToken."""
    fleet, group = fleets.get(caller, fleet_id), deployments.of_fleet(fleet_id, deployment_id)
    if not group.token_generation:
        raise NoOwnToken
    return _status(fleet, group, lambda instance: instance.deployment_id == group.id)


def _status(fleet: Fleet, holder: Fleet | Deployment, uses: Callable[[Instance], bool]) -> TokenStatus:
    at = clock.now()
    present = tokens.current_id(holder.id, holder.token_generation)
    seen = service.those(fleet, uses, at)
    former = [each for each in seen if each.instance.identity.token_id not in (None, present)]
    ends_at = holder.previous_token_ends_at
    valid = ends_at is not None and ends_at > at
    return TokenStatus(
        token_id=present,
        expires_at=holder.token_expires_at,
        previous_ends_at=ends_at if valid else None,
        previous_while_used=valid and holder.previous_while_used,
        current=sum(each.instance.identity.token_id == present for each in seen),
        former=len(former),
        unknown=sum(each.instance.identity.token_id is None for each in seen),
        hosts=former[:MOST_HOSTS],
    )


def end_unused(fleet: Fleet, groups: Sequence[Deployment], at: datetime) -> None:
    """End those of the fleet and its groups; all of its instances are read if there are any.

    A host that is away uses the token that it reported with last.
    """
    holders: list[Fleet | Deployment] = [fleet, *groups]
    waiting = [each for each in holders if each.previous_while_used and (each.previous_token_ends_at or at) > at]
    if not waiting:
        return
    used = {instance.identity.token_id for instance in store.each(fleet.id)}
    for holder in waiting:
        if tokens.current_id(holder.id, holder.token_generation - 1) in used:
            continue
        with suppress(LostRace):
            if isinstance(holder, Deployment):
                own_tokens.end_previous(holder, at)
            else:
                fleets.end_previous(holder, at)
            logger.info("previous_token_ended", holder=holder.id)
