"""Every key of the fleets table, built here and nowhere else.

An organization's partition holds its fleets, the markers of their labels and their number. A fleet's partition holds
its deployment groups, the markers of their names, and its instances; the instances' counters have a partition of their
own, and so have the executions of open rollouts and what happened in the fleet. docs/data.md has the attributes.
"""

from collections.abc import Callable
from typing import Final

from headgate.storage.table import Key, TableIndex, key_of_each, key_of_one

OF_TYPE: Final = TableIndex("of_type", "type", "fleet_id")
FLEETS: Final = "fleet#"
DEPLOYMENTS: Final = "deployment#"
ENV_REVISIONS: Final = "env_revision#"
NAMES: Final = "name#"
INSTANCES: Final = "instance#"
SHARDS: Final = "shard#"
DEPLOYMENT_EVENTS: Final = "deployment#"
ROLLOUTS: Final = "rollout#"
INSTANCE_EVENTS: Final = "instance#"
CAPTURES: Final = "capture#"
EFFECTIVE: Final = "effective#"
HEALTH: Final = "health#"
OPEN_ROLLOUTS: Final = "rollouts#open"


def organization(organization_id: str) -> str:
    return f"organization#{organization_id}"


fleet = key_of_each(organization, FLEETS)
label = key_of_each(organization, "label#")
"""The marker of a label: it makes labels unique in the organization."""
count = key_of_one(organization, "count")
"""The number of the organization's fleets, for the limit."""
redaction = key_of_one(organization, "redaction")
"""The organization's redaction of captured samples."""
prices = key_of_one(organization, "prices")
"""The organization's prices of destinations."""

token = key_of_one("token#{}".format, "token")
install_code = key_of_one("install#{}".format, "code")
"""The secrets that the code of an install command delivers, by the hash of the code."""


def of_fleet(fleet_id: str) -> str:
    return f"fleet#{fleet_id}"


deployment = key_of_each(of_fleet, DEPLOYMENTS)
selectors = key_of_one(of_fleet, "selectors")
"""The labels that select the members of the fleet's groups."""
env = key_of_each(of_fleet, "env#")
"""The stored variables of a group."""
name = key_of_each(of_fleet, NAMES)
"""The marker of a group's name: it makes names unique in the fleet, and lists groups by name."""
instance = key_of_each(of_fleet, INSTANCES)
capture = key_of_each(of_fleet, CAPTURES)
components = key_of_one(of_fleet, "components")
"""The components of the fleet's collectors, by the hashes that their hosts report."""
effective = key_of_each(of_fleet, EFFECTIVE)
"""A configuration that observed collectors report to run, by the hash of its redacted text."""
health = key_of_each(of_fleet, HEALTH)
"""The health of the parts of an instance's collector."""


def env_revision(fleet_id: str, deployment_id: str, revision: int) -> Key:
    """A revision of a group's variables that hosts were moved to."""
    return {"pk": of_fleet(fleet_id), "sk": f"{ENV_REVISIONS}{deployment_id}#{revision:08d}"}


def history_of(fleet_id: str) -> str:
    """The partition of what happened in the fleet, and when."""
    return f"history#{fleet_id}"


def deployment_event(fleet_id: str, deployment_id: str, at: str, revision: int) -> Key:
    """An event of a group: by its time, and by the group's revision if there are two in a millisecond."""
    return {"pk": history_of(fleet_id), "sk": f"{DEPLOYMENT_EVENTS}{deployment_id}#{at}#{revision:08d}"}


def instance_event(fleet_id: str, instance_id: str, at: str, place: str) -> Key:
    """An event of an instance: by its time, then by its place among those of that time."""
    return {"pk": history_of(fleet_id), "sk": f"{INSTANCE_EVENTS}{instance_id}#{at}#{place}"}


def census_of(fleet_id: str) -> str:
    """The partition of the fleet's counters: not that of its instances, so that counting does not slow them."""
    return f"census#{fleet_id}"


room = key_of_one(census_of, "room")
"""The highest number of instances that the fleet may have, and how many joined it in a minute."""
refusals = key_of_one(census_of, "refused")
"""The time in which messages of the fleet were refused because too many came."""


def census_shard(fleet_id: str, number: int) -> Key:
    return {"pk": census_of(fleet_id), "sk": f"{SHARDS}{number:02d}"}


def rollouts_of(deployment_id: str) -> str:
    """The partition of a group's rollouts: not that of its instances, so that reading them does not slow them."""
    return f"rollouts#{deployment_id}"


rollout = key_of_each(rollouts_of, ROLLOUTS)


def open_rollout(rollout_id: str) -> Key:
    """The execution of an open rollout. The rollouts of all organizations are in one partition."""
    return {"pk": OPEN_ROLLOUTS, "sk": rollout_id}


def series_of(deployment_id: str) -> str:
    """The partition of a group's numbers over time."""
    return f"series#{deployment_id}"


def _from(prefix: str) -> Callable[[str, int], Key]:
    """The key of a group's numbers from a time in seconds since 1970 on."""

    def key(deployment_id: str, start: int) -> Key:
        return {"pk": series_of(deployment_id), "sk": f"{prefix}{start:010d}"}

    return key


series_slot = _from("slot#")
"""A group's numbers of five minutes."""
series_hour = _from("hour#")
series_hosts = _from("hosts#")
"""The numbers of hosts in five minutes, all of them or the first part of them."""


def series_hosts_part(deployment_id: str, start: int, number: int) -> Key:
    """Another part of them."""
    return {"pk": series_of(deployment_id), "sk": f"part#{start:010d}#{number:02d}"}
