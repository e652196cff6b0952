"""Deployment groups, their variables and events, and selectors as items of the fleets table, and back."""

from typing import Final

from headgate.deployments.environment import Environment, GroupVariable
from headgate.deployments.events import GroupEvent
from headgate.deployments.model import Deployment, Selectors
from headgate.deployments.running import RunningRollout
from headgate.deployments.versions import HealthyVersion, NamedVersion
from headgate.fleets import keys
from headgate.storage.items import Item
from headgate.storage.stored import Stored

GROUPS: Final = Stored(
    Deployment,
    names={"id": "deployment_id", "healthy": "healthy_versions"},
    flat=["assignment"],
    unless_default=[
        *("selector", "token_generation", "captures_allowed", "healthy", "taken_back", "cleared_revision", "observed"),
        "unread",
        "adopted",
        "previous_while_used",
        "variables",
    ],
)
Stored(RunningRollout, names={"id": "rollout_id"}, flat=["to"], unless_default=["variables"])
HEALTHY_VERSIONS: Final = Stored(HealthyVersion, flat=["assignment"], unless_default=["variables"])
ENVIRONMENTS: Final = Stored(Environment, unless_default=["removed"])
Stored(GroupVariable, sparse=True)
EVENTS: Final = Stored(GroupEvent, names={"kind": "event", "revision": "number", "by": "actor"})
Stored(NamedVersion, flat=["assignment"])
SELECTORS: Final = Stored(Selectors, names={"by_group": "selectors"})


def group_item(group: Deployment) -> Item:
    return keys.deployment(group.fleet_id, group.id) | GROUPS.item(group)
