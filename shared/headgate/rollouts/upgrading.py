"""The collector and the variables that a rollout brings together with its version: which, and whether any host can be
moved to them; and the revisions of variables that hosts run with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from headgate.deployments import service as deployments
from headgate.deployments import variables as stored
from headgate.deployments.environment import Environment
from headgate.deployments.model import Deployment
from headgate.deployments.programs import Program
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.installs import releases
from headgate.instances import service as instances
from headgate.instances.desired.offers import collector_obstacle, variables_obstacle
from headgate.instances.model import Instance
from headgate.rollouts.model import NotMoved, Upgrade, VariablesChange

_MOST_NAMED: Final = 20
MOST_RUNNING: Final = 20


class CollectorNotPublished(errors.Invalid):
    """Hosts cannot fetch the collector that the version is for."""

    code = "collector_not_published"
    at = ("body", "upgrade_collector")

    def __init__(self, version: str, published: Iterable[str]) -> None:
        super().__init__(
            f"The version is for collector {version}, which hosts cannot fetch; published are "
            f"{', '.join(sorted(published)) or 'none'}. The operator publishes it with "
            f'`make publish-install COLLECTORS="{version}"`'
        )


class NoHostToUpgrade(errors.Conflict):
    """Every host of the group that reports has to be upgraded, or installed again, by a person."""

    code = "no_host_to_upgrade"

    def __init__(self, act: str, hosts: int, why: str) -> None:
        super().__init__(f"Headgate can {act} of none of the group's {hosts:,} hosts. {why}")


def collector(group: Deployment, version: str) -> Program:
    """The published collector of that version, to pin; a read, and a query of the fleet's instances.

    Raises CollectorNotPublished, NoHostToUpgrade, ReleaseNotPublished.
    """
    release = releases.current()
    program = release.collector(version)
    if program is None:
        raise CollectorNotPublished(version, release.collectors())
    _require_some("upgrade the collector", [collector_obstacle(each, program) for each in _reporting(group)])
    return program


def variables(group: Deployment, n: int) -> Environment:
    """The revision of the group's variables to move hosts to; a query of the fleet's instances, and two reads.

    Raises RevisionNotStored, NoHostToUpgrade.
    """
    environment = stored.revision(group, n)
    _require_some("change the variables", [variables_obstacle(each, environment.pinned) for each in _reporting(group)])
    return environment


def _reporting(group: Deployment) -> list[Instance]:
    """The group's instances that report, and that a rollout counts; a query of the fleet's."""
    at = clock.now()
    return [
        instance
        for instance in instances.of_group(group.fleet_id, group.id)
        if not instance.reported.stopped and not instance.stays_observed(group) and not instance.is_stale(at)
    ]


def _require_some(act: str, reasons: Sequence[str | None]) -> None:
    if reasons and all(reasons):
        ((why, _),) = Counter(reasons).most_common(1)
        raise NoHostToUpgrade(act, len(reasons), why or "")


def upgrade(group: Deployment, collector: Program) -> Upgrade:
    """The rollout's words about it."""
    return Upgrade(collector.version, group.collector.version if group.collector else None)


def change(group: Deployment, environment: Environment) -> VariablesChange:
    """The change of the group's variables that a rollout brings; a read if hosts were moved to a revision before."""
    before = group.variables.revision if group.variables else None
    known = stored.stored_revision(group, before) if before is not None else None
    return VariablesChange(environment.revision, before, environment.changed_since(known or Environment()))


@dataclass(frozen=True, slots=True)
class VariableHosts:
    """The hosts of a group that report. `running` counts them by the revision that they say their process has, None for
    those of its install; `unknown` counts those that do not say, or have one beyond the twenty most frequent. `named`
    has the first of the `unreached` hosts, each with the way out.
    """

    total: int
    running: Mapping[int | None, int]
    unknown: int
    unreached: int
    named: Sequence[NotMoved]


def variable_hosts(caller: Caller, fleet_id: str, deployment_id: str) -> tuple[Deployment, Environment, VariableHosts]:
    """Three reads, and a query of the fleet's instances. Raises FleetNotFound, DeploymentNotFound."""
    group = deployments.get(caller, fleet_id, deployment_id)
    environment = stored.get(caller, fleet_id, deployment_id)
    listed = _reporting(group)
    seen: Counter[int | None] = Counter()
    for instance in listed:
        revision, digest = instance.variables_revision, instance.reported.host.variables
        if revision is not None or digest == "":
            seen[revision] += 1
    running = dict(seen.most_common(MOST_RUNNING))
    unknown = len(listed) - sum(running.values())
    reasons = [(instance, variables_obstacle(instance, environment.pinned)) for instance in listed]
    unreached = [NotMoved(instance.id, instance.called, why) for instance, why in reasons if why]
    hosts = VariableHosts(len(listed), running, unknown, len(unreached), unreached[:_MOST_NAMED])
    return group, environment, hosts
