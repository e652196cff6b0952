"""Tokens of single groups: a group with stored variables has one, which serves them and opens no other group.

docs/fleets-explained.md says why.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from headgate.audit import service as audit
from headgate.deployments import store
from headgate.deployments.model import Deployment
from headgate.deployments.service import of_fleet
from headgate.fleets import service as fleets
from headgate.fleets.model import Fleet, Grace
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.storage import idempotent_create
from headgate.storage.retry import retried
from headgate.storage.table import Write


class NoOwnToken(errors.Conflict):
    """The group's hosts sign in with the fleet's token."""

    code = "no_own_token"
    detail = "This group has no token of its own: renew the fleet's token"


def issued(fleet: Fleet, group: Deployment, at: datetime) -> tuple[Deployment, list[Write]]:
    """The group with its next token, and the writes that store it."""
    expires_at = fleets.expiry(fleet.expires_in, at)
    after = replace(group, token_generation=group.token_generation + 1, token_expires_at=expires_at)
    return after, [fleets.token_of_group(fleet, group.id, after.token_generation, expires_at)]


@retried
def renew(caller: Caller, fleet_id: str, deployment_id: str, grace: Grace) -> Deployment:
    """Issue the group's next token. The previous one stays valid for the grace; all before it end.

    One transaction with the record of the change. Raises AdminRequired, FleetNotFound, DeploymentNotFound, NoOwnToken.
    """
    caller.require_admin()
    fleet = fleets.get(caller, fleet_id)
    at, before = clock.now(), of_fleet(fleet_id, deployment_id)
    if before.token_generation == 0:
        raise NoOwnToken
    after, writes = issued(fleet, replace(before, revision=before.revision + 1, updated_at=at), at)
    end = fleets.previous_ends_at(grace, before.token_expires_at, at)
    after = replace(after, previous_token_ends_at=end, previous_while_used=grace == "unused")
    ended = [fleets.token_ends(deployment_id, before.token_generation, end)]
    if before.token_generation > 1:
        ended.append(fleets.token_ends(deployment_id, before.token_generation - 1, None))
    target = f"fleets/{fleet_id}/deployments/{deployment_id}"
    record = audit.entry(caller, "deployment.token_renewed", target, grace=grace)
    noted = idempotent_create.writes(f"/{target}")
    store.replace(before, after, *writes, *ended, record, *noted)
    return after


def end_previous(group: Deployment, at: datetime) -> None:
    """End the group's token before the last renewal, which no host uses. Raises LostRace if the group was changed."""
    ended = replace(
        group, previous_token_ends_at=at, previous_while_used=False, revision=group.revision + 1, updated_at=at
    )
    store.replace(group, ended, fleets.token_ends(group.id, group.token_generation - 1, at))
