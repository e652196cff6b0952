"""Programs in an answer to a host: the collector that an offer is for, and links to it or to a supervisor.

The hash comes by this answer, the program by a signed link of its group, as with an install. The link is a path: a host
adds it to the address that it reports to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from headgate.deployments.model import Deployment
from headgate.deployments.programs import Program
from headgate.fleets.model import FleetToken
from headgate.instances.desired.model import Desired
from headgate.instances.model import Instance


def collector(
    instance: Instance, sent: Desired, group: Deployment, token: FleetToken, at: datetime
) -> Mapping[str, object] | None:
    """The collector for what is sent to the instance; None for a host that cannot replace its own.

    The first one in a process costs a read, of the signing key.
    """
    if "upgrade_collector" not in instance.reported.host.can:
        return None
    if sent.collector is None:
        return {"installed": True}
    return _program(instance, sent.collector, group, token, at)


def orders(instance: Instance, group: Deployment, token: FleetToken, at: datetime) -> Sequence[Mapping[str, object]]:
    """The orders that the host is to carry out, with the programs that they bring."""
    programs: list[Mapping[str, object]] = []
    for order in instance.orders.to_send(instance.reported.host.can, at):
        program = _program(instance, order.program, group, token, at) if order.program else None
        if program or not order.program:
            programs.append({"id": order.id, "do": order.do} | ({"program": program} if program else {}))
    return programs


def _program(
    instance: Instance, program: Program, group: Deployment, token: FleetToken, at: datetime
) -> Mapping[str, object] | None:
    """None if it is not published for the host's architecture."""
    # Imported here: most cold starts sign nothing.
    from headgate.installs.links import LIFETIME, Link

    file = program.files.get(instance.reported.description.arch or "")
    if file is None:
        return None
    expires = int((at + LIFETIME).timestamp())
    link = Link("linux", token.organization_id, group.fleet_id, group.id, expires, group.token_generation)
    return {
        "version": program.version,
        "path": link.program_path(file.sha256),
        "sha256": file.sha256,
        "gzip": file.compressed,
        "binary_sha256": file.binary_sha256,
        "size": file.size,
    }
