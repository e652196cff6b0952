"""Every key of the fleets table, built here and nowhere else.

An organization's partition holds its fleets, the markers of their labels and their number. A fleet's partition holds
its deployment groups, the markers of their names, and its instances; the instances' counters have a partition of their
own, and so have the executions of open rollouts and what happened in the fleet. docs/data.md has the attributes.
"""

from typing import Final

from headgate.storage.table import Key, TableIndex

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


def fleet(organization_id: str, fleet_id: str) -> Key:
    return {"pk": organization(organization_id), "sk": f"{FLEETS}{fleet_id}"}


def label(organization_id: str, label: str) -> Key:
    """The marker of a label: it makes labels unique in the organization."""
    return {"pk": organization(organization_id), "sk": f"label#{label}"}


def count(organization_id: str) -> Key:
    """The number of the organization's fleets, for the limit."""
    return {"pk": organization(organization_id), "sk": "count"}


def token(value_hash: str) -> Key:
    return {"pk": f"token#{value_hash}", "sk": "token"}


def install_code(code_hash: str) -> Key:
    """The key of the secrets that the code of an install command delivers."""
    return {"pk": f"install#{code_hash}", "sk": "code"}


def of_fleet(fleet_id: str) -> str:
    return f"fleet#{fleet_id}"


def deployment(fleet_id: str, deployment_id: str) -> Key:
    return {"pk": of_fleet(fleet_id), "sk": f"{DEPLOYMENTS}{deployment_id}"}


def selectors(fleet_id: str) -> Key:
    """The labels that select the members of the fleet's groups."""
    return {"pk": of_fleet(fleet_id), "sk": "selectors"}


def env(fleet_id: str, deployment_id: str) -> Key:
    """The stored variables of a group."""
    return {"pk": of_fleet(fleet_id), "sk": f"env#{deployment_id}"}


def env_revision(fleet_id: str, deployment_id: str, revision: int) -> Key:
    """A revision of them that hosts were moved to."""
    return {"pk": of_fleet(fleet_id), "sk": f"{ENV_REVISIONS}{deployment_id}#{revision:08d}"}


def name(fleet_id: str, name: str) -> Key:
    """The marker of a group's name: it makes names unique in the fleet, and lists groups by name."""
    return {"pk": of_fleet(fleet_id), "sk": f"{NAMES}{name}"}


def history_of(fleet_id: str) -> str:
    """The partition of what happened in the fleet, and when."""
    return f"history#{fleet_id}"


def deployment_event(fleet_id: str, deployment_id: str, at: str, revision: int) -> Key:
    """An event of a group: by its time, and by the group's revision if there are two in a millisecond."""
    return {"pk": history_of(fleet_id), "sk": f"{DEPLOYMENT_EVENTS}{deployment_id}#{at}#{revision:08d}"}


def instance_event(fleet_id: str, instance_id: str, at: str, place: str) -> Key:
    """An event of an instance: by its time, then by its place among those of that time."""
    return {"pk": history_of(fleet_id), "sk": f"{INSTANCE_EVENTS}{instance_id}#{at}#{place}"}


def instance(fleet_id: str, instance_id: str) -> Key:
    return {"pk": of_fleet(fleet_id), "sk": f"{INSTANCES}{instance_id}"}


def capture(fleet_id: str, capture_id: str) -> Key:
    return {"pk": of_fleet(fleet_id), "sk": f"{CAPTURES}{capture_id}"}


def redaction(organization_id: str) -> Key:
    """The key of the organization's redaction of captured samples."""
    return {"pk": organization(organization_id), "sk": "redaction"}


def prices(organization_id: str) -> Key:
    """The key of the organization's prices of destinations."""
    return {"pk": organization(organization_id), "sk": "prices"}


def components(fleet_id: str) -> Key:
    """The components of the fleet's collectors, by the hashes that their hosts report."""
    return {"pk": of_fleet(fleet_id), "sk": "components"}


def effective(fleet_id: str, sha256: str) -> Key:
    """A configuration that observed collectors report to run, by the hash of its redacted text."""
    return {"pk": of_fleet(fleet_id), "sk": f"{EFFECTIVE}{sha256}"}


def health(fleet_id: str, instance_id: str) -> Key:
    """The key of the health of the parts of an instance's collector."""
    return {"pk": of_fleet(fleet_id), "sk": f"{HEALTH}{instance_id}"}


def census_of(fleet_id: str) -> str:
    """The partition of the fleet's counters: not that of its instances, so that counting does not slow them."""
    return f"census#{fleet_id}"


def room(fleet_id: str) -> Key:
    """The highest number of instances that the fleet may have, and how many joined it in a minute."""
    return {"pk": census_of(fleet_id), "sk": "room"}


def census_shard(fleet_id: str, number: int) -> Key:
    return {"pk": census_of(fleet_id), "sk": f"{SHARDS}{number:02d}"}


def rollouts_of(deployment_id: str) -> str:
    """The partition of a group's rollouts: not that of its instances, so that reading them does not slow them."""
    return f"rollouts#{deployment_id}"


def rollout(deployment_id: str, rollout_id: str) -> Key:
    return {"pk": rollouts_of(deployment_id), "sk": f"{ROLLOUTS}{rollout_id}"}


def open_rollout(rollout_id: str) -> Key:
    """The key of the execution of an open rollout. The rollouts of all organizations are in one partition."""
    return {"pk": OPEN_ROLLOUTS, "sk": rollout_id}


def series_of(deployment_id: str) -> str:
    """The partition of a group's numbers over time."""
    return f"series#{deployment_id}"


def series_slot(deployment_id: str, start: int) -> Key:
    """A group's numbers of five minutes, from a time in seconds since 1970 on."""
    return {"pk": series_of(deployment_id), "sk": f"slot#{start:010d}"}


def series_hour(deployment_id: str, start: int) -> Key:
    return {"pk": series_of(deployment_id), "sk": f"hour#{start:010d}"}


def series_hosts(deployment_id: str, start: int) -> Key:
    """The numbers of hosts in five minutes, all of them or the first part of them."""
    return {"pk": series_of(deployment_id), "sk": f"hosts#{start:010d}"}


def series_hosts_part(deployment_id: str, start: int, number: int) -> Key:
    """Another part of them."""
    return {"pk": series_of(deployment_id), "sk": f"part#{start:010d}#{number:02d}"}


def sort_key(prefix: str, position: str | None) -> str | None:
    """The sort key at a position of a list: what follows the prefix, an id or a name. None at the start."""
    return None if position is None else f"{prefix}{position}"


def position(prefix: str, sort_key: str | None) -> str | None:
    """The position in a list of the items whose sort keys begin with `prefix`."""
    return None if sort_key is None else sort_key.removeprefix(prefix)
