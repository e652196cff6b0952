"""Codes of install commands in the fleets table. One function, one access pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.deployments.environment import InstallCode
from headgate.fleets import keys
from headgate.foundation import clock
from headgate.storage import items, principals
from headgate.storage.table import fleets as table
from headgate.storage.table import transact

if TYPE_CHECKING:
    from headgate.storage.table import Write


def put(code_hash: str, code: InstallCode) -> None:
    """One put."""
    table.put(
        keys.install_code(code_hash)
        | {
            "organization_id": code.organization_id,
            "fleet_id": code.fleet_id,
            "deployment_id": code.deployment_id,
            "sealed": code.sealed,
            "left": code.left,
            "expires_at": clock.rfc3339(code.expires_at),
            "actor": principals.attribute(code.actor),
            "credential_id": code.credential_id,
            "credential_name": code.credential_name,
            "expires": int(code.expires_at.timestamp()),
        }
    )


def get(code_hash: str) -> InstallCode | None:
    """One read."""
    item = table.get(keys.install_code(code_hash))
    if item is None:
        return None
    return InstallCode(
        organization_id=items.text(item, "organization_id"),
        fleet_id=items.text(item, "fleet_id"),
        deployment_id=items.text(item, "deployment_id"),
        sealed=item["sealed"] is True,
        left=items.number(item, "left"),
        expires_at=clock.parse(items.text(item, "expires_at")),
        actor=principals.read(item, "actor"),
        credential_id=items.text(item, "credential_id"),
        credential_name=items.text(item, "credential_name"),
    )


def take(code_hash: str, code: InstallCode, record: Write) -> None:
    """Count one delivery, with its record; one transaction. Raises LostRace if another was counted since."""
    change = "SET #left = #left - :one"
    counted = table.update(keys.install_code(code_hash), change, "#left = :left", {":one": 1, ":left": code.left})
    transact([counted, record])
