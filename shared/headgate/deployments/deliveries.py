"""Codes of install commands, by which a group's stored secrets are delivered: so many times, each one recorded.

The record names who composed the command, and never what was delivered. A host that is sent secrets by a rollout is
recorded, too, the first time.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from headgate.audit import service as audit
from headgate.deployments import delivery_store as store
from headgate.deployments.environment import InstallCode
from headgate.deployments.model import Deployment
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.foundation.principal import Actor
from headgate.storage.retry import retried
from headgate.storage.table import Write

MOST: Final = 100
"""Deliveries of secrets in clear that a command may be composed for."""
MOST_SEALED: Final = 5_000
"""Deliveries that are sealed for a host's key: as many as a fleet has hosts."""
_PREFIX: Final = "ic_"
_SIGNED_IN_WITH: Final = "Token of the group"


class CodeInvalid(errors.Forbidden):
    """The code does not belong to the group, or has expired. The message does not say which."""

    code = "install_code_invalid"
    detail = "This install code is not valid for this group, or has expired; compose a new install command"


class CodeUsed(errors.Gone):
    """All deliveries that the command was composed for have been made."""

    code = "install_code_used"
    detail = (
        "The secrets of this install command have been delivered as often as it was composed for; compose a new "
        "install command, for several hosts with `deliveries`"
    )


def issue(caller: Caller, group: Deployment, deliveries: int, expires_at: datetime, *, sealed: bool) -> str:
    """A new code for so many deliveries; one put."""
    value = _PREFIX + base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
    code = InstallCode(
        organization_id=caller.organization_id,
        fleet_id=group.fleet_id,
        deployment_id=group.id,
        sealed=sealed,
        left=deliveries,
        expires_at=expires_at,
        actor=caller.principal,
        credential_id=caller.credential_id,
        credential_name=caller.name,
    )
    store.put(_hash(value), code)
    return value


def require_valid(value: str, group: Deployment) -> InstallCode:
    """The code of the group; one read. Raises CodeInvalid."""
    code = store.get(_hash(value))
    known = code is not None and (code.fleet_id, code.deployment_id) == (group.fleet_id, group.id)
    if code is None or not known or code.expires_at <= clock.now():
        raise CodeInvalid
    return code


@retried
def record(value: str, group: Deployment, names: Sequence[str], *, host_key: str | None) -> None:
    """Count a delivery and record it, in one transaction: of simultaneous ones, no more than are left.

    `host_key` tells the key that it is sealed for, None for secrets in clear. Raises CodeInvalid, CodeUsed.
    """
    code = require_valid(value, group)
    if code.sealed and host_key is None:
        raise CodeInvalid
    if code.left < 1:
        raise CodeUsed
    details = {"secrets": ", ".join(names), "left": str(code.left - 1)}
    if host_key is not None:
        details["host_key"] = host_key
    target = f"fleets/{group.fleet_id}/deployments/{group.id}"
    written = audit.entry_by(
        code.organization_id,
        code.actor,
        code.credential_id,
        code.credential_name,
        "install.secrets_delivered",
        target,
        details,
    )
    store.take(_hash(value), code, written)


def sealed_for_host(
    organization_id: str, group: Deployment, host: Actor, token_id: str, names: Sequence[str], **details: str
) -> Write:
    """The record that a host was sent secrets of the group for the first time, for the transaction of its message."""
    target = f"fleets/{group.fleet_id}/deployments/{group.id}"
    named = {"secrets": ", ".join(names), **details}
    return audit.entry_by(organization_id, host, token_id, _SIGNED_IN_WITH, "instance.secrets_delivered", target, named)


def _hash(value: str) -> str:
    """A code has 256 random bits, so that it needs no salt."""
    return hashlib.sha256(value.encode()).hexdigest()
