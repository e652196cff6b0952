"""The configurations and versions tables. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from headgate.configurations import component_ids, keys
from headgate.configurations.mapping import CONFIGURATIONS, VERSIONS, version_with_text
from headgate.configurations.model import Configuration, Version
from headgate.foundation import clock
from headgate.foundation.page import Slice
from headgate.foundation.principal import Principal
from headgate.storage import idempotent_create, items, large_texts, table
from headgate.storage.items import Item, Value
from headgate.storage.retry import LostRace
from headgate.storage.table import ConditionFailed, Write

_EXISTS: Final = "attribute_exists(organization_id)"
_IN_USE: Final = f"{_EXISTS} AND attribute_not_exists(archived_at)"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A configuration and one of its versions with its text, as they stood at one moment."""

    configuration: Configuration
    version: Version | None


def configuration(organization_id: str, configuration_id: str) -> Configuration | None:
    """One read. None if there is none."""
    return table.configurations.find(keys.configuration(organization_id, configuration_id), CONFIGURATIONS.read)


def configurations(organization_id: str, ids: Iterable[str]) -> list[Configuration]:
    """Those that exist, in no order; one batch read for each hundred."""
    item_keys = [keys.configuration(organization_id, configuration_id) for configuration_id in ids]
    return [CONFIGURATIONS.read(item) for item in table.configurations.get_all(item_keys)]


def version(configuration_id: str, n: int) -> Version | None:
    """A version with its text; one read of both. None if there is none."""
    item, text = table.get_together(
        (table.versions, keys.version(configuration_id, n)),
        (table.versions, keys.yaml(configuration_id, n)),
    )
    return version_with_text(item, text)


def text(configuration_id: str, n: int) -> str | None:
    """A version's YAML alone; one read. None if there is no such version."""
    return table.versions.find(keys.yaml(configuration_id, n), large_texts.read)


def stored_texts(versions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], Item]:
    """Returns the stored texts of versions, each by its configuration's id and its number.

    One batch read for each hundred; one that does not exist is missing.
    """
    texts = table.versions.get_all([keys.yaml(*version) for version in versions])
    return {(items.text(item, "configuration_id"), keys.number(items.text(item, "item"))): item for item in texts}


def fingerprints(versions: Collection[tuple[str, int]]) -> dict[tuple[str, int], tuple[str, str]]:
    """The SHA-256 of the text and the collector version of each; two batch reads for each hundred."""
    texts = stored_texts(versions)
    rows = table.versions.get_all([keys.version(*version) for version in versions])
    collectors = {
        (items.text(item, "configuration_id"), items.number(item, "n")): items.text(item, "collector_version")
        for item in rows
    }
    return {
        version: (large_texts.digest(text), collectors[version])
        for version, text in texts.items()
        if version in collectors
    }


def text_of(stored: Item) -> str:
    """The text of one of these; a GET if it is large."""
    return large_texts.read(stored)


def components_of(stored: Item) -> list[str]:
    """The ids of the components in one of these."""
    return (items.optional_text(stored, "components") or "").split("\n")


def version_without_text(configuration_id: str, n: int) -> Version | None:
    """One read. None if there is no such version."""
    return table.versions.find(keys.version(configuration_id, n), VERSIONS.read)


def snapshot_without_text(organization_id: str, configuration_id: str, n: int) -> Snapshot | None:
    """A configuration with one of its versions; one read of both items. None if there is no configuration."""
    owner, item = table.get_together(
        (table.configurations, keys.configuration(organization_id, configuration_id)),
        (table.versions, keys.version(configuration_id, n)),
    )
    return Snapshot(CONFIGURATIONS.read(owner), VERSIONS.read(item) if item else None) if owner else None


def snapshot(organization_id: str, configuration_id: str, n: int) -> Snapshot | None:
    """A configuration with one of its versions; one read of all three items. None if there is no configuration."""
    owner, item, text = table.get_together(
        (table.configurations, keys.configuration(organization_id, configuration_id)),
        (table.versions, keys.version(configuration_id, n)),
        (table.versions, keys.yaml(configuration_id, n)),
    )
    version = version_with_text(item, text)
    return Snapshot(CONFIGURATIONS.read(owner), version) if owner else None


def own_slice(
    organization_id: str, principal: Principal, limit: int, after: str | None, *, archived: bool
) -> list[Configuration]:
    """The principal's own, most recently updated first, after the position `after`; one query.

    Either those that are archived, or those that are not.
    """
    partition = keys.own(organization_id, principal, archived=archived)
    listed = table.configurations.list(partition, "", limit, after, newest_first=True, index=keys.OWN)
    return [CONFIGURATIONS.read(item) for item in listed.entries]


def published_slice(organization_id: str, limit: int, after: str | None, *, archived: bool) -> list[Configuration]:
    """The organization's published ones in the same order, after the position `after`; one query."""
    partition = keys.published(organization_id, archived=archived)
    listed = table.configurations.list(partition, "", limit, after, newest_first=True, index=keys.PUBLISHED)
    return [CONFIGURATIONS.read(item) for item in listed.entries]


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
    page = [VERSIONS.read(item) for item in listed.entries]
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
        f"{_IN_USE} AND latest_version = :before",
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
        _touch(owner, after.updated_at, _IN_USE, {}, {}),
        _replace_draft(owner.id, before, after),
    ]
    if after.yaml != before.yaml:
        writes.append(table.versions.put_over(_yaml_item(owner.id, after)))
    table.transact(writes)


def publish(owner: Configuration, before: Version, after: Version, *beside: Write) -> None:
    """Publish a draft, with the writes `beside` it and if their conditions hold; one transaction.

    Raises LostRace if one does not, if the draft changed since `before`, or if another version was published meanwhile.
    """
    as_before = "published_version = :before" if owner.published_version else "attribute_not_exists(published_version)"
    published = keys.published(owner.organization_id, archived=False)
    shown = _touch(
        owner,
        after.updated_at,
        f"{_IN_USE} AND {as_before}",
        {"published_version": max(owner.published_version or 0, after.n), "published": published},
        {":before": owner.published_version},
    )
    table.transact([shown, _replace_draft(owner.id, before, after), *beside])


def describe(before: Configuration, changes: Mapping[str, str | None], at: datetime) -> Configuration:
    """Change `name`, `description` and `managed_by`, if given (None removes one); one conditional update.

    Raises LostRace if the configuration is deleted.
    """
    update = _touch(before, at, _EXISTS, changes, {})
    try:
        return CONFIGURATIONS.read(table.write(update, "ALL_NEW"))
    except ConditionFailed as error:
        raise LostRace from error


def assigned(configuration: Configuration) -> Write:
    """For the transaction that assigns one of its versions, which fails if it is archived or gone."""
    key = keys.configuration(configuration.organization_id, configuration.id)
    return table.configurations.update(key, "ADD #assigned :one", _IN_USE, {":one": 1})


def archive(before: Configuration, at: datetime) -> Configuration:
    """Archive it, or with `before` archived restore it; one transaction.

    Raises LostRace if it was assigned, archived, restored or deleted since `before` was read.
    """
    archived = before.archived_at is None
    partitions = {
        "own": keys.own(before.organization_id, before.owner, archived=archived),
        "published": keys.published(before.organization_id, archived=archived) if before.published_version else None,
    }
    stored = CONFIGURATIONS.item(before)
    unchanged = {name: stored[name] for name in ("archived_at", "assigned", "published_version")}
    conditions = [
        f"attribute_not_exists({name})" if value is None else f"{name} = :{name}" for name, value in unchanged.items()
    ]
    changes = partitions | {"archived_at": clock.rfc3339(at) if archived else None}
    values = {f":{name}": value for name, value in unchanged.items()}
    table.transact([_touch(before, at, " AND ".join([_EXISTS, *conditions]), changes, values)])
    return replace(before, archived_at=at if archived else None, updated_at=at)


def delete(before: Configuration, *beside: Write) -> None:
    """Delete what was never published, with its versions, texts and rules, and what `beside` deletes.

    One query, and one transaction for each hundred items; after the first one nobody sees it. Raises LostRace if it was
    published or given a version since `before` was read.
    """
    condition = "attribute_not_exists(published_version) AND latest_version = :latest"
    key = keys.configuration(before.organization_id, before.id)
    writes = [table.configurations.delete(key, condition, {":latest": before.latest_version})]
    for n in range(1, before.latest_version + 1):
        writes += [table.versions.delete(keys.version(before.id, n)), table.versions.delete(keys.yaml(before.id, n))]
    for item in table.versions.each(before.id, keys.RULES):
        writes.append(table.versions.delete({name: item[name] for name in ("configuration_id", "item")}))
    writes += beside
    for first in range(0, len(writes), table.TRANSACTION_ITEMS):
        table.transact(writes[first : first + table.TRANSACTION_ITEMS])


def updated(owner: Configuration, at: datetime) -> Write:
    """For another change's transaction: something that belongs to the configuration is changed."""
    return _touch(owner, at, _EXISTS, {}, {})


def is_draft(configuration_id: str, n: int) -> Write:
    """For another change's transaction, which fails unless the version is a draft."""
    return table.versions.check(keys.version(configuration_id, n), "#status = :draft", {":draft": "draft"})


def unchanged(configuration_id: str, known: Version) -> Write:
    """For another change's transaction, which fails unless the version is still this."""
    return table.versions.check(keys.version(configuration_id, known.n), *table.versions.at_revision(known.revision))


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
    present = [name for name, value in changed.items() if value is not None]
    removed = [name for name, value in changed.items() if value is None]
    change = "SET " + ", ".join(f"#{name} = :new_{name}" for name in present)
    if removed:
        change += " REMOVE " + ", ".join(f"#{name}" for name in removed)
    return table.configurations.update(
        keys.configuration(owner.organization_id, owner.id),
        change,
        condition,
        {**{f":new_{name}": changed[name] for name in present}, **values},
    )


def _configuration_item(created: Configuration) -> Item:
    lists: Item = {
        "own": keys.own(created.organization_id, created.owner, archived=False),
        "by_update": keys.by_update(clock.rfc3339(created.updated_at), created.id),
    }
    return CONFIGURATIONS.item(created) | lists


def _version_item(configuration_id: str, version: Version) -> Item:
    published: Item = {"published_of": configuration_id if version.status == "published" else None}
    return keys.version(configuration_id, version.n) | VERSIONS.item(version) | published


def _yaml_item(configuration_id: str, version: Version) -> Item:
    text = version.yaml or ""
    components: Item = {"components": "\n".join(component_ids.ids_in(text))}
    return keys.yaml(configuration_id, version.n) | large_texts.write(text, keys.TEXTS) | components
