"""Every key of the fleets table, built here and nowhere else.

An organization's partition holds its fleets, the markers of their labels and their number. A fleet's partition holds
its deployment groups, the markers of their names, and its instances; the instances' counters have a partition of their
own. docs/data.md has the attributes.
"""

from typing import Final

from headgate.storage.table import Key

FLEETS: Final = "fleet#"
NAMES: Final = "name#"
INSTANCES: Final = "instance#"
SHARDS: Final = "shard#"


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


def of_fleet(fleet_id: str) -> str:
    return f"fleet#{fleet_id}"


def deployment(fleet_id: str, deployment_id: str) -> Key:
    return {"pk": of_fleet(fleet_id), "sk": f"deployment#{deployment_id}"}


def name(fleet_id: str, name: str) -> Key:
    """The marker of a group's name: it makes names unique in the fleet, and lists groups by name."""
    return {"pk": of_fleet(fleet_id), "sk": f"{NAMES}{name}"}


def instance(fleet_id: str, instance_id: str) -> Key:
    return {"pk": of_fleet(fleet_id), "sk": f"{INSTANCES}{instance_id}"}


def census_of(fleet_id: str) -> str:
    """The partition of the fleet's counters: not that of its instances, so that counting does not slow them."""
    return f"census#{fleet_id}"


def room(fleet_id: str) -> Key:
    """The highest number of instances that the fleet may have, and how many joined it in a minute."""
    return {"pk": census_of(fleet_id), "sk": "room"}


def census_shard(fleet_id: str, number: int) -> Key:
    return {"pk": census_of(fleet_id), "sk": f"{SHARDS}{number:02d}"}


def sort_key(prefix: str, position: str | None) -> str | None:
    """The sort key at a position of a list: what follows the prefix, an id or a name. None at the start."""
    return None if position is None else f"{prefix}{position}"


def position(prefix: str, sort_key: str | None) -> str | None:
    """The position in a list of the items whose sort keys begin with `prefix`."""
    return None if sort_key is None else sort_key.removeprefix(prefix)
