"""Codes of install commands in the fleets table. One function, one access pattern."""

from __future__ import annotations

from typing import Final

from headgate.deployments.environment import InstallCode
from headgate.fleets import keys
from headgate.storage.items import Item
from headgate.storage.stored import Stored
from headgate.storage.table import Write, transact
from headgate.storage.table import fleets as table

_CODES: Final = Stored(InstallCode)


def put(code_hash: str, code: InstallCode) -> None:
    """One put."""
    expires: Item = {"expires": int(code.expires_at.timestamp())}
    table.put(keys.install_code(code_hash) | _CODES.item(code) | expires)


def get(code_hash: str) -> InstallCode | None:
    """One read."""
    return table.find(keys.install_code(code_hash), _CODES.read)


def take(code_hash: str, code: InstallCode, record: Write) -> None:
    """Count one delivery, with its record; one transaction. Raises LostRace if another was counted since."""
    change = "SET #left = #left - :one"
    counted = table.update(keys.install_code(code_hash), change, "#left = :left", {":one": 1, ":left": code.left})
    transact([counted, record])
