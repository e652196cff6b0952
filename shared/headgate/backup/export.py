"""Reads all that belongs to an organization, in the order of an import.

Not included: test runs, captures and deliveries (they end after 30 days anyway), sessions, logins that have not ended,
invitations that nobody has accepted, idempotency keys, the signing key, and the counters of instances, which an import
computes.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

from headgate.audit import keys as audit_keys
from headgate.backup import archive, closed, places, seals
from headgate.backup.archive import TABLES, BucketObject, Header, Record, Size, TableItem, TableName
from headgate.configurations import keys as configuration_keys
from headgate.fleets import keys as fleet_keys
from headgate.fleets import tokens as fleet_tokens
from headgate.foundation import clock, errors
from headgate.foundation.hashing import hash_of
from headgate.foundation.log import logger
from headgate.identity import keys
from headgate.policies import keys as policy_keys
from headgate.storage import items, objects, sealed
from headgate.storage.items import Item, Value
from headgate.storage.table import Key
from headgate.version_tests import keys as test_keys

# How often a configuration that changes at the same time is read.
_TRIES: Final = 20


class OrganizationNotFound(errors.NotFound):
    def __init__(self, organization_id: str) -> None:
        super().__init__(f"There is no organization {organization_id} here")


def header(organization_id: str) -> Header:
    """Raises OrganizationNotFound."""
    item = TABLES["identity"].get(keys.organization(organization_id))
    if item is None:
        raise OrganizationNotFound(organization_id)
    return Header(organization_id, items.text(item, "name"), clock.rfc3339(clock.now()), secrets.token_hex(16))


def to_file(path: Path, organization_id: str) -> tuple[Header, Size]:
    """Write an organization's archive, sealed by this deployment. Raises OrganizationNotFound, OSError."""
    about = header(organization_id)
    key = seals.key_of(about)
    return about, archive.write(path, about, records(organization_id, key), lambda digest: seals.mac(key, digest))


def exists(organization_id: str) -> bool:
    """One read."""
    return TABLES["identity"].get(keys.organization(organization_id)) is not None


def people(organization_id: str) -> Iterator[Item]:
    """The items of the people who are members."""
    for member in TABLES["identity"].each(items.text(keys.organization(organization_id), "pk")):
        if items.text(member, "sk").startswith(f"{keys.MEMBERS}usr_"):
            person = TABLES["identity"].get(keys.user(items.text(member, "principal_id")))
            if person is not None:
                yield person


def organizations() -> Iterator[tuple[str, str]]:
    """The id and name of every organization; a scan of the identity table."""
    sort_key = keys.organization("")["sk"]
    rows = TABLES["identity"].scan("sk = :sort_key", {":sort_key": sort_key}, "organization_id", "name")
    for item in rows:
        yield items.text(item, "organization_id"), items.text(item, "name")


def records(organization_id: str, key: bytes) -> Iterator[Record]:
    """The data, then the access to them, then the organization's own item, with which an import takes effect.

    `key` is that of the archive's seal, with which the addresses and secrets of webhooks are closed.
    """
    # People may belong to other organizations too.
    for person in people(organization_id):
        yield TableItem("identity", person)
    yield from _configurations(organization_id)
    yield from _fleets(organization_id)
    yield from _webhooks(organization_id, key)
    yield from _all("identity", audit_keys.partition(organization_id))
    policies = TABLES["identity"].get(policy_keys.policies(organization_id))
    if policies is not None:
        yield TableItem("identity", policies)
    yield from _organization(organization_id)


def _configurations(organization_id: str) -> Iterator[Record]:
    for listed in TABLES["configurations"].each(organization_id):
        key = configuration_keys.configuration(organization_id, items.text(listed, "configuration_id"))
        yield from _configuration(key)


def _configuration(key: Key) -> Iterator[Record]:
    """A configuration with its versions, texts, rules and tests as of one moment. Read again if it changed."""
    for _ in range(_TRIES):
        before = TABLES["configurations"].get(key)
        if before is None:
            return
        configuration_id = items.text(key, "configuration_id")
        evidence = TABLES["versions"].each(test_keys.evidence_of(configuration_id))
        beside = [*evidence, *TABLES["versions"].each(configuration_id)]
        after = TABLES["configurations"].get(key)
        if after == before:
            for item in beside:
                yield from map(_object, _content_keys(item))
                yield TableItem("versions", item)
            yield TableItem("configurations", before)
            return
    raise errors.Contention(
        f"The configuration {items.text(key, 'configuration_id')} changed at every attempt to read it; try again later"
    )


def _fleets(organization_id: str) -> Iterator[Record]:
    count = 0
    for item in TABLES["fleets"].each(fleet_keys.organization(organization_id)):
        if item["sk"] == "count":
            continue
        if str(item["sk"]).startswith(fleet_keys.FLEETS):
            count += 1
            fleet_id = items.text(item, "fleet_id")
            yield from _groups_and_instances(fleet_id)
            yield from _all("fleets", fleet_keys.history_of(fleet_id))
            # The hash of the token of installed collectors. The token itself is not stored.
            yield from _token(fleet_id, item)
        yield TableItem("fleets", item)
    if count:
        # The number of fleets in the file.
        yield TableItem("fleets", fleet_keys.count(organization_id) | {"fleets": count})


def _token(holder: str, item: Item) -> Iterator[Record]:
    """The present token of a fleet or a group, if it has one."""
    generation = items.optional_number(item, "token_generation")
    if generation:
        value = fleet_tokens.value_of(holder, generation)
        token = TABLES["fleets"].get(fleet_keys.token(hash_of(value)))
        if token is not None:
            yield TableItem("fleets", token)


def _groups_and_instances(fleet_id: str) -> Iterator[Record]:
    for item in TABLES["fleets"].each(fleet_keys.of_fleet(fleet_id)):
        if str(item["sk"]).startswith(fleet_keys.DEPLOYMENTS):
            yield from _group(fleet_keys.deployment(fleet_id, items.text(item, "deployment_id")))
        elif not str(item["sk"]).startswith(fleet_keys.CAPTURES):
            yield TableItem("fleets", item)


def _group(key: Key) -> Iterator[Record]:
    """A group with its rollouts as of one moment. Read again if it changed: the two change together."""
    for _ in range(_TRIES):
        before = TABLES["fleets"].get(key)
        if before is None:
            return
        rollouts = [*TABLES["fleets"].each(fleet_keys.rollouts_of(items.text(before, "deployment_id")))]
        if TABLES["fleets"].get(key) == before:
            yield from (TableItem("fleets", item) for item in (*rollouts, before))
            yield from _token(items.text(before, "deployment_id"), before)
            return
    raise errors.Contention(f"The {items.text(key, 'sk')} changed at every attempt to read it; try again later")


def _webhooks(organization_id: str, key: bytes) -> Iterator[Record]:
    count = 0
    for item in TABLES["events"].each(fleet_keys.organization(organization_id), places.WEBHOOKS):
        try:
            yield TableItem("events", closed.for_archive(item, key))
        except sealed.Unsealable:
            # It cannot be sent to here either: a person sets its address again.
            logger.warning("webhook_not_exported", webhook_id=items.text(item, "webhook_id"))
            continue
        count += 1
    if count:
        # The number of webhooks in the file.
        yield TableItem("events", fleet_keys.count(organization_id) | {"webhooks": count})


def _organization(organization_id: str) -> Iterator[Record]:
    own: Item | None = None
    admins = 0
    for item in TABLES["identity"].each(items.text(keys.organization(organization_id), "pk")):
        sort_key = str(item["sk"])
        if sort_key == keys.organization(organization_id)["sk"]:
            own = item
            continue
        if sort_key.startswith(f"{keys.MEMBERS}inv_"):
            continue
        if sort_key.startswith(keys.TOKENS):
            token = TABLES["identity"].get(keys.token(items.text(item, "value_hash")))
            if token is not None:
                yield TableItem("identity", token)
        elif sort_key.startswith(keys.MEMBERS) and item["kind"] == "user":
            admins += item["role"] == "admin"
            yield TableItem(
                "identity",
                keys.membership(items.text(item, "principal_id"), organization_id)
                | {"organization_id": organization_id},
            )
        yield TableItem("identity", item)
    if own is None:
        raise OrganizationNotFound(organization_id)
    # The number of Admins in the file.
    yield TableItem("identity", own | {"admins": admins})


def _content_keys(item: Item) -> Iterator[str]:
    """The keys of objects that hold what the item has no room for: a text, or tests of a version."""
    tests = cast("Sequence[Mapping[str, Value]]", item.get("tests", ()))
    for holder in (item, *tests):
        if "content_key" in holder:
            yield items.text(holder, "content_key")


def _object(key: str) -> BucketObject:
    return BucketObject(key, objects.read(key))


def _all(table: TableName, partition: str) -> Iterator[Record]:
    return (TableItem(table, item) for item in TABLES[table].each(partition))
