"""The next token for a host that reports with one that was renewed, sealed for its key: only this host reads it.

A token alone gets nothing: the host has to sign with a key that was registered before the renewal. Whoever has the
former token can register a key of their own only later.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from headgate.fleets import service as fleets
from headgate.fleets import tokens
from headgate.instances.reported.host_key import sealed_for

if TYPE_CHECKING:
    from headgate.deployments.model import Deployment
    from headgate.fleets.model import FleetToken
    from headgate.instances.model import Instance


def token_for(instance: Instance, group: Deployment, token: FleetToken) -> str | None:
    """The present token of the same scope, sealed and in base64; None if the host has it, or is not to get it.

    Costs a read for a fleet's token, until the host has taken it.
    """
    identity, renewed_at = instance.identity, token.superseded_at
    if renewed_at is None or identity.key is None or "renew_token" not in instance.reported.host.can:
        return None
    if identity.key_since is not None and identity.key_since >= renewed_at:
        return None
    # Its group's own token opens more than the fleet's, and a sender names its group itself.
    generation = (
        group.token_generation
        if token.deployment_id
        else fleets.of_organization(token.organization_id, token.fleet_id).token_generation
    )
    value = tokens.value_of(token.scope, generation)
    return base64.b64encode(sealed_for(identity.key.public, value.encode())).decode()
