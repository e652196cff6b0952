"""The revisions of stored variables that the hosts of a group run with, and the hosts that none can be brought to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from headgate.deployments import service as deployments
from headgate.deployments import variables
from headgate.instances.desired.offers import variables_obstacle
from headgate.rollouts.model import NotMoved
from headgate.rollouts.upgrading import reporting

if TYPE_CHECKING:
    from headgate.deployments.environment import Environment
    from headgate.deployments.model import Deployment
    from headgate.foundation.caller import Caller

_MOST_NAMED: Final = 20
MOST_RUNNING: Final = 20


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
    environment = variables.get(caller, fleet_id, deployment_id)
    listed = reporting(group)
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
