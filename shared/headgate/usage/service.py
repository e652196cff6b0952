"""Groups and hosts that run a configuration: any member sees them, and a configuration in use is not archived."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from headgate.configurations import service as configurations
from headgate.configurations.model import Configuration
from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment
from headgate.deployments.versions import Assignment
from headgate.fleets import service as fleets
from headgate.fleets.model import Fleet
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.instances import service as instances
from headgate.instances.counting import fleets as counting
from headgate.usage.model import ConfigurationInUse, ConfigurationUse, CountedUse, Kind
from headgate_engine.threads import Threads

_AT_ONCE: Final = 8
_FLEETS: Final = 100


def archive(caller: Caller, configuration_id: str) -> Configuration:
    """Archive a configuration that nothing uses. An archived one is returned as it is.

    Reads every group and instance of the organization. Raises ConfigurationNotFound, NotTheOwner, ConfigurationInUse.
    """

    def require_unused(configuration: Configuration) -> None:
        in_use = uses(caller, configuration.id)
        if in_use:
            raise ConfigurationInUse(in_use)

    return configurations.archive(caller, configuration_id, require_unused)


def uses(caller: Caller, configuration_id: str) -> Sequence[ConfigurationUse]:
    """Everything that makes hosts of the organization run a version of the configuration, whoever may see that.

    A query for each megabyte of each fleet.
    """
    of_fleets = [*_fleets(caller)]
    with Threads(_AT_ONCE) as pool:
        by_fleet = pool.map(lambda fleet: [*_of_fleet(fleet, configuration_id)], of_fleets)
        return [use for of_fleet in by_fleet for use in of_fleet]


def by_groups(caller: Caller, configuration_ids: Collection[str]) -> Mapping[str, Sequence[CountedUse]]:
    """The groups that are assigned these configurations or that rollouts take to them, by configuration.

    With the collectors that were heard of in the last quarter of an hour. One query for each fleet, and another one for
    each that has such a group; several at a time.
    """
    ids = frozenset(configuration_ids)
    by_configuration: dict[str, list[CountedUse]] = {configuration_id: [] for configuration_id in ids}
    if not ids:
        return by_configuration

    def of_fleet(fleet: Fleet) -> list[CountedUse]:
        used = [
            (use, _revision(group, use)) for group in deployments.each(fleet.id) for use in _uses(fleet, group, ids)
        ]
        if not used:
            return []
        counts = counting.under(fleet.id, [(use.deployment_id, revision) for use, revision in used])
        return [CountedUse(use, counts[use.deployment_id, revision]) for use, revision in used]

    with Threads(_AT_ONCE) as pool:
        for counted in pool.map(of_fleet, [*_fleets(caller)]):
            for counted_use in counted:
                by_configuration[counted_use.use.configuration_id].append(counted_use)
    return by_configuration


def _revision(group: Deployment, use: ConfigurationUse) -> int:
    return group.rollout.revision if use.kind == "rollout" and group.rollout else group.assigned_revision


def _fleets(caller: Caller) -> Iterator[Fleet]:
    after: str | None = None
    while True:
        page = fleets.fleets(caller, _FLEETS, after)
        yield from page.entries
        after = page.position
        if after is None:
            return


def _of_fleet(fleet: Fleet, configuration_id: str) -> Iterator[ConfigurationUse]:
    groups = {group.id: group for group in deployments.each(fleet.id)}
    for group in groups.values():
        yield from _uses(fleet, group, {configuration_id})
    for instance in instances.overridden(fleet.id, configuration_id, clock.now()):
        override = instance.orders.override
        if override is not None and instance.deployment_id in groups:
            yield ConfigurationUse(
                "override",
                override.assignment.configuration_id,
                override.assignment.version_number,
                fleet.id,
                fleet.label,
                instance.deployment_id,
                groups[instance.deployment_id].name,
                instance.id,
                instance.reported.name,
                override.until,
            )


def _uses(fleet: Fleet, group: Deployment, configuration_ids: Collection[str]) -> Iterator[ConfigurationUse]:
    """Uses of these configurations by the group itself."""
    assigned, rollout = group.assignment, group.rollout
    if assigned and assigned.configuration_id in configuration_ids:
        yield _use("assigned", assigned, fleet, group)
    if rollout and rollout.to.configuration_id in configuration_ids:
        yield _use("rollout", rollout.to, fleet, group)


def _use(kind: Kind, assignment: Assignment, fleet: Fleet, group: Deployment) -> ConfigurationUse:
    return ConfigurationUse(
        kind, assignment.configuration_id, assignment.version_number, fleet.id, fleet.label, group.id, group.name
    )
