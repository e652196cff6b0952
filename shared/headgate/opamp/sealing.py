"""Secrets for a host, sealed for its key so that only this host reads them: the variables of an offer, and its token.

`instances.desired.offers` offers a version with variables only to a host that signs, with the token of its own group.
A host that reports with a token which was renewed gets the next one, if its key was registered before the renewal:
whoever has the former token can register a key of their own only later.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from headgate.deployments import variables as stored
from headgate.deployments.model import Deployment
from headgate.fleets import service as fleets
from headgate.fleets import tokens
from headgate.fleets.model import FleetToken
from headgate.foundation.principal import Actor
from headgate.instances.desired.model import Desired
from headgate.instances.model import Instance
from headgate.instances.reported.host_key import sealed_for
from headgate.storage.table import Write

_MOST_GROUPS: Final = 8


@dataclass(frozen=True, slots=True)
class FirstSecrets:
    """The first secrets of a group that a host is sent: the instance with it noted, and the names of the secrets."""

    instance: Instance
    secrets: Sequence[str]
    revision: int
    key: str

    def record(self, organization_id: str, group: Deployment) -> Write:
        """The record of it, by the host itself, for the transaction that stores the instance."""
        # Imported here, because most messages record nothing.
        from headgate.deployments import deliveries

        host, token_id = self.instance, self.instance.identity.token_id or ""
        actor = Actor("instance", host.id, host.called)
        details = {"host_key": self.key, "variables_revision": str(self.revision)}
        return deliveries.sealed_for_host(organization_id, group, actor, token_id, self.secrets, **details)


def first_secrets(instance: Instance, sent: Desired, group: Deployment) -> FirstSecrets | None:
    """The note of an offer that brings this host and key the first secrets of the group, else None; no read."""
    if sent.variables is None or instance.identity.key is None:
        return None
    key = instance.identity.key.fingerprint
    place = f"{group.id}#{key}"
    secrets = stored.opened_revision(group, sent.variables).secret_names
    if not secrets or place in instance.sealed_for:
        return None
    noted = replace(instance, sealed_for=(place, *instance.sealed_for)[:_MOST_GROUPS])
    return FirstSecrets(noted, secrets, sent.variables.revision, key)


def variables(instance: Instance, sent: Desired, group: Deployment) -> Mapping[str, object] | None:
    """Seal the variables of an offer for the host that it goes to; None for a host that takes none.

    A read and a call to KMS for each secret, the first time in a process. What was sealed names its configuration, so
    that no earlier answer passes for this one. Without `sealed` the host uses the revision if it has it, and refuses
    the offer otherwise: an import brought the secrets, or the revision is not stored any more.
    """
    key = instance.identity.key
    if "variables" not in instance.reported.host.can or key is None:
        return None
    if sent.variables is None:
        return {"installed": True}
    named = {"digest": sent.variables.digest}
    content = stored.opened_revision(group, sent.variables).content
    if content is None or instance.identity.scope != group.id:
        return named
    message = json.dumps({**named, "config": sent.config_hash, **content}, separators=(",", ":"))
    return {**named, "sealed": base64.b64encode(sealed_for(key.public, message.encode())).decode()}


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
