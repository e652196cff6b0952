"""Keys of an archive's records: each follows from the record's content and from the other records of the archive.

Each function raises KeyError for what the archive lacks, and ValueError or TypeError for what does not fit together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from headgate.backup import checks
from headgate.backup.checks import an_id
from headgate.configurations import keys as configuration_keys
from headgate.fleets import keys as fleet_keys
from headgate.foundation.principal import Principal
from headgate.identity import keys
from headgate.storage import items
from headgate.storage.items import Item
from headgate.storage.table import Key
from headgate.version_tests import keys as test_keys

WEBHOOKS: Final = "webhook#"


@dataclass(slots=True)
class Index:
    """The ids of an archive's records, which other records may name."""

    organization_id: str
    people: set[str] = field(default_factory=set)
    members: dict[str, str] = field(default_factory=dict)
    """Roles by the person's id."""
    service_accounts: set[str] = field(default_factory=set)
    token_hashes: dict[str, str] = field(default_factory=dict)
    """The id of each token in a service account's list by its hash."""
    configurations: set[str] = field(default_factory=set)
    versions: set[tuple[str, int]] = field(default_factory=set)
    fleets: dict[str, str] = field(default_factory=dict)
    """Labels by the fleet's id."""
    groups: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The fleet and the name of each group by its id."""
    webhooks: set[str] = field(default_factory=set)
    objects: set[str] = field(default_factory=set)


PlacedKey = Callable[[Index, Item], Key]
"""The key that follows from an item and the index. Raises KeyError if the archive lacks what the item belongs to."""


def in_organization(key: Callable[..., Key], *names: str) -> PlacedKey:
    """By the organization, and attributes of the item."""
    return lambda index, item: key(index.organization_id, *(items.text(item, name) for name in names))


def in_fleet(key: Callable[..., Key], *names: str) -> PlacedKey:
    """By the item's fleet, and attributes of it."""
    return lambda index, item: key(fleet_of(index, item), *(items.text(item, name) for name in names))


def beside_version(key: Callable[[str, int], Key], start: str) -> PlacedKey:
    return lambda index, item: key(*version_of(index, item, start))


def version_of(index: Index, item: Item, start: str) -> tuple[str, int]:
    """The version that a text, tests or evidence stand beside: only their keys name it."""
    number = items.text(item, "item").removeprefix(start)[:8]
    configuration_id = items.text(item, "configuration_id").removeprefix(test_keys.evidence_of(""))
    version = configuration_id, int(number) if number.isascii() and number.isdecimal() else -1
    if version not in index.versions:
        raise KeyError(f"version {number} of {configuration_id}")
    return version


def configuration(index: Index, item: Item) -> Key:
    configuration_id = items.text(item, "configuration_id")
    owner = items.mapping(item, "owner")
    principal = Principal("user", items.text(owner, "id"), "")
    archived, shown = "archived_at" in item, "published_version" in item
    published = configuration_keys.published(index.organization_id, archived=archived) if shown else None
    by_update = configuration_keys.by_update(items.text(item, "updated_at"), configuration_id)
    _require("own", item["own"] == configuration_keys.own(index.organization_id, principal, archived=archived))
    _require("published", item.get("published") == published)
    _require("by_update", item["by_update"] == by_update)
    return configuration_keys.configuration(index.organization_id, configuration_id)


def version(index: Index, item: Item) -> Key:
    configuration_id = items.text(item, "configuration_id")
    if configuration_id not in index.configurations:
        raise KeyError(configuration_id)
    published = configuration_id if item["status"] == "published" else None
    _require("published_of", item.get("published_of") == published)
    return configuration_keys.version(configuration_id, items.number(item, "n"))


def rules(index: Index, item: Item) -> Key:
    version = version_of(index, item, configuration_keys.RULES)
    return configuration_keys.rules(*version, items.text(item, "pipeline"))


def label(index: Index, item: Item) -> Key:
    return fleet_keys.label(index.organization_id, index.fleets[items.text(item, "fleet_id")])


def fleet_of(index: Index, item: Item) -> str:
    """The fleet that the item names, or in whose partition it is. Its group may be gone, but is not another fleet's."""
    fleet_id = items.optional_text(item, "fleet_id") or items.text(item, "pk").partition("#")[2]
    of_group, _ = index.groups.get(items.optional_text(item, "deployment_id") or "", (fleet_id, ""))
    if fleet_id not in index.fleets or of_group != fleet_id:
        raise KeyError(fleet_id)
    return fleet_id


def env_revision(index: Index, item: Item) -> Key:
    deployment_id, revision = items.text(item, "deployment_id"), items.number(item, "revision")
    return fleet_keys.env_revision(fleet_of(index, item), deployment_id, revision)


def name_marker(index: Index, item: Item) -> Key:
    return fleet_keys.name(*index.groups[items.text(item, "deployment_id")])


def group(index: Index, item: Item) -> Key:
    if "configuration_id" in item:
        version = items.text(item, "configuration_id"), items.number(item, "version_number")
        if version not in index.versions:
            raise KeyError(f"version {version[1]} of {version[0]}")
    return fleet_keys.deployment(fleet_of(index, item), items.text(item, "deployment_id"))


def instance_event(index: Index, item: Item) -> Key:
    """The instance may be gone, so only the key names it."""
    fleet_id = fleet_of(index, {"pk": str(item["pk"]).replace("history#", "fleet#", 1)})
    _, instance_id, _, place = items.text(item, "sk").split("#")
    _require("instance", an_id("ins")(instance_id))
    _require("place", place.isascii() and place.isdecimal())
    return fleet_keys.instance_event(fleet_id, instance_id, items.text(item, "at"), place)


def webhook(index: Index, item: Item) -> Key:
    """The key of a webhook, as `webhooks.keys` builds it: no other concept reads that module."""
    pk = fleet_keys.organization(index.organization_id)
    return {"pk": pk, "sk": f"{WEBHOOKS}{items.text(item, 'webhook_id')}"}


def deployment_event(index: Index, item: Item) -> Key:
    """The group may be gone."""
    fleet_id, deployment_id = fleet_of(index, item), items.text(item, "deployment_id")
    return fleet_keys.deployment_event(fleet_id, deployment_id, items.text(item, "at"), items.number(item, "number"))


def fleet_token(index: Index, item: Item) -> Key:
    fleet_of(index, item)
    if "deployment_id" in item and item["deployment_id"] not in index.groups:
        raise KeyError(items.text(item, "deployment_id"))
    return fleet_keys.token(_hash_in(item))


def token(index: Index, item: Item) -> Key:
    value_hash = _hash_in(item)
    if index.token_hashes[value_hash] != items.text(item, "token_id"):
        raise KeyError(items.text(item, "token_id"))
    return keys.token(value_hash)


def _hash_in(item: Item) -> str:
    value_hash = items.text(item, "pk").partition("#")[2]
    _require("hash", checks.digest(value_hash))
    return value_hash


def token_listing(index: Index, item: Item) -> Key:
    account = service_account_of(index, item, "service_account_id")
    return keys.token_listing(index.organization_id, account, items.text(item, "token_id"))


def service_account_of(index: Index, item: Item, name: str) -> str:
    account = items.text(item, name)
    if account not in index.service_accounts:
        raise KeyError(account)
    return account


def member(index: Index, item: Item) -> Key:
    if item["kind"] == "user":
        principal_id = items.text(item, "principal_id")
        if principal_id not in index.people:
            raise KeyError(principal_id)
    else:
        principal_id = service_account_of(index, item, "principal_id")
    return keys.member(index.organization_id, principal_id)


def person(index: Index, item: Item) -> Key:
    user_id = items.text(item, "user_id")
    if user_id not in index.members:
        raise KeyError(f"a membership of {user_id}")
    return keys.user(user_id)


def membership(index: Index, item: Item) -> Key:
    user_id = items.text(item, "pk").partition("#")[2]
    if user_id not in index.members:
        raise KeyError(f"the member {user_id}")
    return keys.membership(user_id, index.organization_id)


def rollout(index: Index, item: Item) -> Key:
    """Its text is read by the rollouts' own model, see `backup.contents`."""
    deployment_id = items.text(item, "pk").partition("#")[2]
    if deployment_id not in index.groups:
        raise KeyError(deployment_id)
    rollout_id = items.text(item, "sk").removeprefix(fleet_keys.ROLLOUTS)
    _require("rollout", an_id("rol")(rollout_id))
    return fleet_keys.rollout(deployment_id, rollout_id)


def _require(name: str, follows: bool) -> None:
    if not follows:
        raise ValueError(f"{name} does not follow from the rest of the record")
