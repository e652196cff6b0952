"""Tokens of fleets and groups that have expired or are about to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from headgate.instances.counting.fleets import CountedFleet
from headgate.overview.model import Notice

SOON: Final = timedelta(days=14)
_MOST: Final = 10
_REASON: Final = "Hosts with it report and receive nothing once it has expired; renew it, and install each host again"


def notices(counted: Sequence[CountedFleet], at: datetime) -> list[Notice]:
    """Notices of expiring tokens of fleets and groups, which were read with the fleets: no further read."""
    return sorted(_expiring(counted, at), key=lambda notice: notice.at or at)[:_MOST]


def _expiring(counted: Sequence[CountedFleet], at: datetime) -> Iterator[Notice]:
    for each in counted:
        fleet = each.fleet
        known: list[tuple[str, datetime | None, str | None]] = [
            (f"token of {fleet.label}", fleet.token_expires_at, None)
        ]
        known += [(f"token of {fleet.label} / {group.name}", group.token_expires_at, group.id) for group in each.groups]
        for subject, expires_at, deployment_id in known:
            if expires_at is not None and expires_at <= at + SOON:
                yield Notice(
                    kind="token_expired" if expires_at <= at else "token_expiring",
                    subject=subject,
                    reason=_REASON,
                    at=expires_at,
                    fleet_id=fleet.id,
                    deployment_id=deployment_id,
                )
