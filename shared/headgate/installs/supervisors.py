"""Upgrading the supervisor of one host to the one that is published for installs."""

from __future__ import annotations

from headgate.fleets import service as fleets
from headgate.foundation.caller import Caller
from headgate.installs import releases
from headgate.installs.releases import ReleaseNotPublished
from headgate.instances.orders import acts
from headgate.instances.orders.model import PendingOrder


def upgrade(caller: Caller, fleet_id: str, instance_id: str) -> PendingOrder:
    """Order the host to fetch and run the published supervisor. An order that waits already is returned as it is.

    Raises FleetNotFound, InstanceNotFound, InstanceNotReporting, OrderNotSupported, SupervisorIsCurrent,
    ReleaseNotPublished.
    """
    # Before anything is said about this server.
    fleets.get(caller, fleet_id)
    program = releases.current().supervisor()
    if program is None:
        raise ReleaseNotPublished("The supervisor")
    return acts.upgrade_supervisor(caller, fleet_id, instance_id, program)
