"""The collector that a rollout brings together with its version: which one, and whether any host can be moved to it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from headgate.foundation import clock, errors
from headgate.installs import releases
from headgate.instances import service as instances
from headgate.instances.desired.offers import obstacle
from headgate.instances.state.model import mark_of, stale
from headgate.rollouts.model import Upgrade

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headgate.deployments.model import Deployment
    from headgate.deployments.programs import Program


class CollectorNotPublished(errors.Invalid):
    """Hosts cannot fetch the collector that the version is for."""

    code = "collector_not_published"

    def __init__(self, version: str, published: Iterable[str]) -> None:
        message = (
            f"The version is for collector {version}, which hosts cannot fetch; published are "
            f"{', '.join(sorted(published)) or 'none'}. The operator publishes it with "
            f'`make publish-install COLLECTORS="{version}"`'
        )
        super().__init__(message, [errors.FieldError(("body", "upgrade_collector"), message)])


class NoHostToUpgrade(errors.Conflict):
    """Every host of the group that reports has to be upgraded by a person."""

    code = "no_host_to_upgrade"

    def __init__(self, hosts: int, why: str) -> None:
        super().__init__(f"Headgate can upgrade the collector of none of the group's {hosts:,} hosts. {why}")


def collector(group: Deployment, version: str) -> Program:
    """The published collector of that version, to pin; a read, and a query of the fleet's instances.

    Raises CollectorNotPublished, NoHostToUpgrade, ReleaseNotPublished.
    """
    release = releases.current()
    program = release.collector(version)
    if program is None:
        raise CollectorNotPublished(version, release.collectors())
    at = clock.now()
    reporting = [
        each
        for each in instances.of_group(group.fleet_id, group.id)
        if not each.reported.stopped and not stale(mark_of(each.contact.last_seen_at), at)
    ]
    reasons = [obstacle(each, program) for each in reporting]
    if reasons and all(reasons):
        ((why, _),) = Counter(reasons).most_common(1)
        raise NoHostToUpgrade(len(reasons), why or "")
    return program


def upgrade(group: Deployment, collector: Program) -> Upgrade:
    """The rollout's words about it."""
    return Upgrade(collector.version, group.collector.version if group.collector else None)
