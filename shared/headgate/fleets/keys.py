"""Every key of the fleets table, built here and nowhere else.

An organization's partition holds its fleets and what keeps their labels and number; a fleet's own partition holds its
deployment groups, what keeps their names, and its instances, whose counters have a partition of their own.
"""

from typing import Final

from headgate.storage.items import Value

Key = dict[str, Value]

FLEETS: Final = "fleet#"
NAMES: Final = "name#"
INSTANCES: Final = "instance#"
SHARDS: Final = "shard#"


def organization(organization_id: str) -> str:
    return f"organization#{organization_id}"


def fleet(organization_id: str, fleet_id: str) -> Key:
    return {"pk": organization(organization_id), "sk": f"{FLEETS}{fleet_id}"}


def label(organization_id: str, label: str) -> Key:
    """Taken by the one fleet with this label."""
    return {"pk": organization(organization_id), "sk": f"label#{label}"}


def count(organization_id: str) -> Key:
    """How many fleets there are, for the limit."""
    return {"pk": organization(organization_id), "sk": "count"}


def token(value_hash: str) -> Key:
    return {"pk": f"token#{value_hash}", "sk": "token"}


def of_fleet(fleet_id: str) -> str:
    return f"fleet#{fleet_id}"


def deployment(fleet_id: str, deployment_id: str) -> Key:
    return {"pk": of_fleet(fleet_id), "sk": f"deployment#{deployment_id}"}


def name(fleet_id: str, name: str) -> Key:
    """Taken by the one group with this name; in the order of the names."""
    return {"pk": of_fleet(fleet_id), "sk": f"{NAMES}{name}"}


def instance(fleet_id: str, instance_id: str) -> Key:
    return {"pk": of_fleet(fleet_id), "sk": f"{INSTANCES}{instance_id}"}


def census_of(fleet_id: str) -> str:
    """The partition of the fleet's counters, so that counting does not slow its instances."""
    return f"census#{fleet_id}"


def room(fleet_id: str) -> Key:
    """How many instances the fleet has at most, and how many joined it in a minute."""
    return {"pk": census_of(fleet_id), "sk": "room"}


def census_shard(fleet_id: str, number: int) -> Key:
    return {"pk": census_of(fleet_id), "sk": f"{SHARDS}{number:02d}"}
