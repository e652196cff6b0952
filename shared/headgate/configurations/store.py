"""The configurations and versions tables. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from headgate.configurations import keys
from headgate.configurations.model import Configuration, Status, Version
from headgate.foundation import clock
from headgate.foundation.principal import Principal
from headgate.storage import idempotent_create, items, large_texts, principals, table
from headgate.storage.items import Item, Value
from headgate.storage.page import Slice
from headgate.storage.table import Write


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A configuration and one of its versions with its text, as they stood at one moment."""

    configuration: Configuration
    version: Version | None


def configuration(organization_id: str, configuration_id: str) -> Configuration | None:
    """One read. None if there is none."""
    item = table.configurations.get(keys.configuration(organization_id, configuration_id))
    return _configuration(item) if item else None


def version(configuration_id: str, n: int) -> Version | None:
    """A version with its text; one read of both. None if there is none."""
    item, text = table.get_together(
        (table.versions, keys.version(configuration_id, n)),
        (table.versions, keys.yaml(configuration_id, n)),
    )
    return _version_with_text(item, text)


def text(configuration_id: str, n: int) -> str | None:
    """A version's YAML alone; one read. None if there is no such version."""
    item = table.versions.get(keys.yaml(configuration_id, n))
    return large_texts.read(item) if item else None


def version_without_text(configuration_id: str, n: int) -> Version | None:
    """One read. None if there is no such version."""
    item = table.versions.get(keys.version(configuration_id, n))
    return _version(item) if item else None


def snapshot_without_text(organization_id: str, configuration_id: str, n: int) -> Snapshot | None:
    """A configuration with one of its versions; one read of both items. None if there is no configuration."""
    owner, item = table.get_together(
        (table.configurations, keys.configuration(organization_id, configuration_id)),
        (table.versions, keys.version(configuration_id, n)),
    )
    return Snapshot(_configuration(owner), _version(item) if item else None) if owner else None


def snapshot(organization_id: str, configuration_id: str, n: int) -> Snapshot | None:
    """A configuration with one of its versions; one read of all three items. None if there is no configuration."""
    owner, item, text = table.get_together(
        (table.configurations, keys.configuration(organization_id, configuration_id)),
        (table.versions, keys.version(configuration_id, n)),
        (table.versions, keys.yaml(configuration_id, n)),
    )
    version = _version_with_text(item, text)
    return Snapshot(_configuration(owner), version) if owner else None


def own_slice(organization_id: str, principal: Principal, limit: int, after: str | None) -> list[Configuration]:
    """The principal's own, most recently updated first, after the position `after`; one query."""
    listed = table.configurations.list(
        keys.own(organization_id, principal), "", limit, after, newest_first=True, index=keys.OWN
    )
    return [_configuration(item) for item in listed.entries]


def published_slice(organization_id: str, limit: int, after: str | None) -> list[Configuration]:
    """The organization's published ones in the same order, after the position `after`; one query."""
    listed = table.configurations.list(organization_id, "", limit, after, newest_first=True, index=keys.PUBLISHED)
    return [_configuration(item) for item in listed.entries]


def versions(configuration_id: str, limit: int, after: str | None, *, published_only: bool) -> Slice[Version]:
    """A page of versions, newest first, without texts; one query."""
    listed = table.versions.list(
        configuration_id,
        keys.VERSIONS,
        limit,
        None if after is None else keys.version_item(int(after)),
        newest_first=True,
        index=keys.PUBLISHED_VERSIONS if published_only else None,
    )
    page = [_version(item) for item in listed.entries]
    return Slice(page, str(page[-1].n) if listed.position else None)


def create(created: Configuration, first: Version) -> None:
    """Store a new configuration and its version 1; one transaction."""
    table.transact(
        [
            table.configurations.put_new(_configuration_item(created)),
            table.versions.put_new(_version_item(created.id, first)),
            table.versions.put_new(_yaml_item(created.id, first)),
            *idempotent_create.writes(f"/configurations/{created.id}"),
        ]
    )


def append(before: Configuration, added: Version, *carried: Write) -> None:
    """Store the next version with what is `carried` over, and count it; one transaction.

    Raises LostRace if another version came first, or if a condition of what is carried does not hold.
    """
    counted = _touch(
        before,
        added.updated_at,
        "latest_version = :before",
        {"latest_version": added.n},
        {":before": before.latest_version},
    )
    table.transact(
        [
            counted,
            table.versions.put_new(_version_item(before.id, added)),
            table.versions.put_new(_yaml_item(before.id, added)),
            *carried,
            *idempotent_create.writes(f"/configurations/{before.id}/versions/{added.n}"),
        ]
    )


def edit(owner: Configuration, before: Version, after: Version) -> None:
    """Change a draft; one transaction. Raises LostRace if it is no longer as in `before`."""
    writes = [
        _touch(owner, after.updated_at, "attribute_exists(organization_id)", {}, {}),
        _replace_draft(owner.id, before, after),
    ]
    if after.yaml != before.yaml:
        writes.append(table.versions.put_over(_yaml_item(owner.id, after)))
    table.transact(writes)


def publish(owner: Configuration, before: Version, after: Version, *conditions: Write) -> None:
    """Publish a draft, if the `conditions` hold; one transaction.

    Raises LostRace if one does not, if the draft changed since `before`, or if another version was published meanwhile.
    """
    shown = _touch(
        owner,
        after.updated_at,
        "published_version = :before" if owner.published_version else "attribute_not_exists(published_version)",
        {"published_version": max(owner.published_version or 0, after.n), "published": owner.organization_id},
        {":before": owner.published_version},
    )
    table.transact([shown, _replace_draft(owner.id, before, after), *conditions])


def describe(before: Configuration, changes: Mapping[str, str | None], at: datetime) -> Configuration:
    """Change `name` and `description`, if they are given (None removes one); one conditional update."""
    update = _touch(before, at, "attribute_exists(organization_id)", changes, {})
    return _configuration(table.write(update, "ALL_NEW"))


def is_draft(configuration_id: str, n: int) -> Write:
    """For another change's transaction, which fails unless the version is a draft."""
    return table.versions.check(keys.version(configuration_id, n), "#status = :draft", {":draft": "draft"})


def _version_with_text(item: Item | None, text: Item | None) -> Version | None:
    return _version(item, yaml=large_texts.read(text or {})) if item else None


def _replace_draft(configuration_id: str, before: Version, after: Version) -> Write:
    """Its condition makes sure that a published version never changes."""
    return table.versions.put_if(
        _version_item(configuration_id, after),
        "#status = :draft AND revision = :revision",
        {":draft": "draft", ":revision": before.revision},
    )


def _touch(
    owner: Configuration,
    at: datetime,
    condition: str,
    changed: Mapping[str, Value],
    values: Mapping[str, Value],
) -> Write:
    """Change attributes of a configuration, and its place in the lists. None removes an attribute."""
    updated_at = clock.rfc3339(at)
    changed = {**changed, "updated_at": updated_at, "by_update": keys.by_update(updated_at, owner.id)}
    given = [name for name, value in changed.items() if value is not None]
    removed = [name for name, value in changed.items() if value is None]
    change = "SET " + ", ".join(f"#{name} = :new_{name}" for name in given)
    if removed:
        change += " REMOVE " + ", ".join(f"#{name}" for name in removed)
    return table.configurations.update(
        keys.configuration(owner.organization_id, owner.id),
        change,
        condition,
        {**{f":new_{name}": changed[name] for name in given}, **values},
    )


def _configuration_item(created: Configuration) -> Item:
    updated_at = clock.rfc3339(created.updated_at)
    return keys.configuration(created.organization_id, created.id) | {
        "name": created.name,
        "description": created.description,
        "collector_distribution": created.collector_distribution,
        "owner": principals.attribute(created.owner),
        "latest_version": created.latest_version,
        "created_at": clock.rfc3339(created.created_at),
        "updated_at": updated_at,
        "own": keys.own(created.organization_id, created.owner),
        "by_update": keys.by_update(updated_at, created.id),
    }


def _configuration(item: Item) -> Configuration:
    return Configuration(
        id=items.text(item, "configuration_id"),
        organization_id=items.text(item, "organization_id"),
        name=items.text(item, "name"),
        description=items.optional_text(item, "description"),
        collector_distribution=items.text(item, "collector_distribution"),
        owner=principals.read(item, "owner"),
        latest_version=items.number(item, "latest_version"),
        published_version=items.optional_number(item, "published_version"),
        created_at=clock.parse(items.text(item, "created_at")),
        updated_at=clock.parse(items.text(item, "updated_at")),
    )


def _version_item(configuration_id: str, version: Version) -> Item:
    return keys.version(configuration_id, version.n) | {
        "n": version.n,
        "status": version.status,
        "collector_version": version.collector_version,
        "collector_distribution": version.collector_distribution,
        "description": version.description,
        "created_by": principals.attribute(version.created_by),
        "created_at": clock.rfc3339(version.created_at),
        "updated_at": clock.rfc3339(version.updated_at),
        "published_at": clock.rfc3339(version.published_at) if version.published_at else None,
        "published_of": configuration_id if version.status == "published" else None,
        "revision": version.revision,
    }


def _yaml_item(configuration_id: str, version: Version) -> Item:
    return keys.yaml(configuration_id, version.n) | large_texts.write(version.yaml or "", keys.TEXTS)


def _version(item: Item, yaml: str | None = None) -> Version:
    published_at = items.optional_text(item, "published_at")
    status: Status = "published" if items.text(item, "status") == "published" else "draft"
    return Version(
        n=items.number(item, "n"),
        status=status,
        collector_version=items.text(item, "collector_version"),
        collector_distribution=items.text(item, "collector_distribution"),
        description=items.optional_text(item, "description"),
        created_by=principals.read(item, "created_by"),
        created_at=clock.parse(items.text(item, "created_at")),
        updated_at=clock.parse(items.text(item, "updated_at")),
        published_at=None if published_at is None else clock.parse(published_at),
        revision=items.number(item, "revision"),
        yaml=yaml,
    )
