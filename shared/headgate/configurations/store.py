"""The configurations and versions tables. One function, one access pattern."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from botocore.exceptions import ClientError

from headgate.configurations import keys
from headgate.configurations.model import Configuration, Status, Version
from headgate.foundation import clock
from headgate.identity.model import Principal, PrincipalKind
from headgate.settings import settings
from headgate.storage import aws, idempotent_create, items, large_texts
from headgate.storage.items import Item, Value
from headgate.storage.page import Slice
from headgate.storage.retry import LostRace

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactGetItemTypeDef, TransactWriteItemTypeDef

_BLOB_PREFIX: Final = "versions"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A configuration and one of its versions with its text, as they stood at one moment."""

    configuration: Configuration
    version: Version | None


def configuration(organization_id: str, configuration_id: str) -> Configuration | None:
    """One read. None if there is none."""
    answer = aws.dynamodb().get_item(
        TableName=settings().configurations_table,
        Key=items.marshal(keys.configuration(organization_id, configuration_id)),
        ConsistentRead=True,
    )
    return _configuration(items.unmarshal(answer["Item"])) if "Item" in answer else None


def version(configuration_id: str, n: int) -> Version | None:
    """A version with its text; one read of both. None if there is none."""
    _, found = _read_together(
        [
            _get(settings().versions_table, keys.version(configuration_id, n)),
            _get(settings().versions_table, keys.yaml(configuration_id, n)),
        ],
        version_at=0,
    )
    return found


def text(configuration_id: str, n: int) -> str | None:
    """A version's YAML alone; one read. None if there is no such version."""
    answer = aws.dynamodb().get_item(
        TableName=settings().versions_table,
        Key=items.marshal(keys.yaml(configuration_id, n)),
        ConsistentRead=True,
    )
    return large_texts.read(items.unmarshal(answer["Item"])) if "Item" in answer else None


def collector_version(configuration_id: str, n: int) -> str | None:
    """What a version is meant to run on; one read, without its text. None if there is no such version."""
    answer = aws.dynamodb().get_item(
        TableName=settings().versions_table,
        Key=items.marshal(keys.version(configuration_id, n)),
        ProjectionExpression="collector_version",
        ConsistentRead=True,
    )
    return items.text(items.unmarshal(answer["Item"]), "collector_version") if "Item" in answer else None


def snapshot(organization_id: str, configuration_id: str, n: int) -> Snapshot | None:
    """A configuration with one of its versions; one read of all three items. None if there is no configuration."""
    rows, found = _read_together(
        [
            _get(settings().configurations_table, keys.configuration(organization_id, configuration_id)),
            _get(settings().versions_table, keys.version(configuration_id, n)),
            _get(settings().versions_table, keys.yaml(configuration_id, n)),
        ],
        version_at=1,
    )
    return Snapshot(_configuration(rows[0]), found) if rows[0] else None


def own_slice(organization_id: str, principal: Principal, limit: int, after: str | None) -> list[Configuration]:
    """The principal's own, most recently updated first, from after the position `after`; one query."""
    return _by_update("own", keys.own(organization_id, principal), limit, after)


def published_slice(organization_id: str, limit: int, after: str | None) -> list[Configuration]:
    """The organization's published ones, by what everyone sees of them, from after `after`; one query."""
    return _by_update("published", organization_id, limit, after)


def versions(configuration_id: str, limit: int, after: str | None, *, published_only: bool) -> Slice[Version]:
    """A page of versions, newest first, without texts; one query that reads only what it gives."""
    names = {"#key": "published_of" if published_only else "configuration_id"}
    answer = aws.dynamodb().query(
        TableName=settings().versions_table,
        **({"IndexName": "published"} if published_only else {"ConsistentRead": True}),
        KeyConditionExpression="#key = :id AND #item BETWEEN :first AND :last",
        ExpressionAttributeNames=names | {"#item": "item"},
        ExpressionAttributeValues=items.marshal(
            {":id": configuration_id, ":first": "v#", ":last": "v#~" if after is None else f"v#{int(after) - 1:08d}"}
        ),
        ScanIndexForward=False,
        # One more than asked for tells whether there is a next page.
        Limit=limit + 1,
    )
    found = [_version(items.unmarshal(item)) for item in answer["Items"]]
    return Slice(found[:limit], str(found[limit - 1].n) if len(found) > limit else None)


def create(created: Configuration, first: Version) -> None:
    """Keep a new configuration and its version 1; one transaction."""
    _transact(
        _put_new(settings().configurations_table, _configuration_item(created)),
        _put_new(settings().versions_table, _version_item(created.id, first)),
        _put_new(settings().versions_table, _yaml_item(created.id, first)),
        *idempotent_create.writes(f"/configurations/{created.id}"),
    )


def append(before: Configuration, added: Version) -> None:
    """Keep the next version and count it; one transaction. Raises LostRace when another version has come first."""
    counted = _touch(
        before,
        added.updated_at,
        "latest_version = :before",
        {"latest_version": added.n},
        {":before": before.latest_version},
    )
    _transact(
        counted,
        _put_new(settings().versions_table, _version_item(before.id, added)),
        _put_new(settings().versions_table, _yaml_item(before.id, added)),
        *idempotent_create.writes(f"/configurations/{before.id}/versions/{added.n}"),
    )


def edit(owner: Configuration, before: Version, after: Version) -> None:
    """Change a draft; one transaction. Raises LostRace when it is no longer the draft that `before` is."""
    writes = [
        _touch(owner, after.updated_at, "attribute_exists(organization_id)", {}, {}),
        _replace_draft(owner.id, before, after),
    ]
    if after.yaml != before.yaml:
        item = items.marshal(_yaml_item(owner.id, after))
        writes.append({"Put": {"TableName": settings().versions_table, "Item": item}})
    _transact(*writes)


def publish(owner: Configuration, before: Version, after: Version) -> None:
    """Make a draft public, for good; one transaction.

    Raises LostRace when the draft has changed since `before`, or another version of it was published meanwhile.
    """
    shown = _touch(
        owner,
        after.updated_at,
        "published_version = :before" if owner.published_version else "attribute_not_exists(published_version)",
        {"published_version": max(owner.published_version or 0, after.n), "published": owner.organization_id},
        {":before": owner.published_version},
    )
    _transact(shown, _replace_draft(owner.id, before, after))


def describe(before: Configuration, changes: Mapping[str, str | None], at: datetime) -> Configuration:
    """Change the given ones of `name` and `description` (None removes it); one conditional update."""
    update = _touch(before, at, "attribute_exists(organization_id)", changes, {})["Update"]
    answer = aws.dynamodb().update_item(**update, ReturnValues="ALL_NEW")
    return _configuration(items.unmarshal(answer["Attributes"]))


def _by_update(index: str, partition: str, limit: int, after: str | None) -> list[Configuration]:
    answer = aws.dynamodb().query(
        TableName=settings().configurations_table,
        IndexName=index,
        KeyConditionExpression="#partition = :partition AND #sort < :after",
        ExpressionAttributeNames={"#partition": index, "#sort": "by_update"},
        # `~` sorts after every time.
        ExpressionAttributeValues=items.marshal({":partition": partition, ":after": after or "~"}),
        ScanIndexForward=False,
        Limit=limit,
    )
    return [_configuration(items.unmarshal(item)) for item in answer["Items"]]


def _read_together(gets: list[TransactGetItemTypeDef], *, version_at: int) -> tuple[list[Item], Version | None]:
    """Items as they stood at one moment, so that a version's ETag is that of its text."""
    answer = aws.dynamodb().transact_get_items(TransactItems=gets)
    rows = [items.unmarshal(response.get("Item", {})) for response in answer["Responses"]]
    if not rows[version_at]:
        return rows, None
    return rows, _version(rows[version_at], yaml=large_texts.read(rows[version_at + 1]))


def _get(table: str, key: keys.Key) -> TransactGetItemTypeDef:
    return {"Get": {"TableName": table, "Key": items.marshal(key)}}


def _transact(*writes: TransactWriteItemTypeDef) -> None:
    try:
        aws.dynamodb().transact_write_items(TransactItems=writes)
    except ClientError as error:
        if items.lost_a_race(error):
            raise LostRace from error
        raise


def _put_new(table: str, item: Item) -> TransactWriteItemTypeDef:
    return {
        "Put": {
            "TableName": table,
            "Item": items.marshal(item),
            "ConditionExpression": "attribute_not_exists(configuration_id)",
        }
    }


def _replace_draft(configuration_id: str, before: Version, after: Version) -> TransactWriteItemTypeDef:
    """The condition that keeps a published version as it is, whatever races."""
    return {
        "Put": {
            "TableName": settings().versions_table,
            "Item": items.marshal(_version_item(configuration_id, after)),
            "ConditionExpression": "#status = :draft AND revision = :revision",
            "ExpressionAttributeNames": {"#status": "status"},
            "ExpressionAttributeValues": items.marshal({":draft": "draft", ":revision": before.revision}),
        }
    }


def _touch(
    owner: Configuration,
    at: datetime,
    condition: str,
    changed: Mapping[str, Value],
    values: Mapping[str, Value],
) -> TransactWriteItemTypeDef:
    """Change attributes of a configuration, and its place in the lists. None removes an attribute."""
    updated_at = clock.rfc3339(at)
    changed = {**changed, "updated_at": updated_at, "by_update": keys.by_update(updated_at, owner.id)}
    kept = [name for name, value in changed.items() if value is not None]
    removed = [name for name, value in changed.items() if value is None]
    expression = "SET " + ", ".join(f"#{name} = :new_{name}" for name in kept)
    if removed:
        expression += " REMOVE " + ", ".join(f"#{name}" for name in removed)
    return {
        "Update": {
            "TableName": settings().configurations_table,
            "Key": items.marshal(keys.configuration(owner.organization_id, owner.id)),
            "UpdateExpression": expression,
            "ConditionExpression": condition,
            "ExpressionAttributeNames": {f"#{name}": name for name in changed},
            "ExpressionAttributeValues": items.marshal({**{f":new_{name}": changed[name] for name in kept}, **values}),
        }
    }


def _principal_item(principal: Principal) -> Item:
    return {"kind": principal.kind, "id": principal.id, "name": principal.name}


def _principal(value: Value) -> Principal:
    if not isinstance(value, Mapping):
        raise TypeError("a principal is kept as a map")
    kind: PrincipalKind = "user" if items.text(value, "kind") == "user" else "service_account"
    return Principal(kind, items.text(value, "id"), items.text(value, "name"))


def _configuration_item(created: Configuration) -> Item:
    updated_at = clock.rfc3339(created.updated_at)
    return keys.configuration(created.organization_id, created.id) | {
        "name": created.name,
        "description": created.description,
        "collector_distribution": created.collector_distribution,
        "owner": _principal_item(created.owner),
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
        owner=_principal(item["owner"]),
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
        "created_by": _principal_item(version.created_by),
        "created_at": clock.rfc3339(version.created_at),
        "updated_at": clock.rfc3339(version.updated_at),
        "published_at": clock.rfc3339(version.published_at) if version.published_at else None,
        "published_of": configuration_id if version.status == "published" else None,
        "revision": version.revision,
    }


def _yaml_item(configuration_id: str, version: Version) -> Item:
    return keys.yaml(configuration_id, version.n) | large_texts.keep(version.yaml or "", _BLOB_PREFIX).attributes


def _version(item: Item, yaml: str | None = None) -> Version:
    published_at = items.optional_text(item, "published_at")
    status: Status = "published" if items.text(item, "status") == "published" else "draft"
    return Version(
        n=items.number(item, "n"),
        status=status,
        collector_version=items.text(item, "collector_version"),
        collector_distribution=items.text(item, "collector_distribution"),
        description=items.optional_text(item, "description"),
        created_by=_principal(item["created_by"]),
        created_at=clock.parse(items.text(item, "created_at")),
        updated_at=clock.parse(items.text(item, "updated_at")),
        published_at=None if published_at is None else clock.parse(published_at),
        revision=items.number(item, "revision"),
        yaml=yaml,
    )
