"""Imports an exported organization into a Headgate that does not have it.

What is written is what `contents` accepts: records of the archive's organization, each under the key that follows from
its content. Tokens and webhooks are among them only if the deployment that exported vouches for them with the key of
the seal.
Nothing is ever replaced. The organization's own item comes last, so nobody sees any of it until the import is complete.
An import that was interrupted is finished by running it again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, TypeGuard, cast

from headgate.backup import archive, closed, contents, export, places, seals
from headgate.backup.archive import TABLES, BadArchive, BucketObject, Header, Record, Seal, TableItem
from headgate.backup.places import Index
from headgate.deployments import mapping as deployments
from headgate.fleets import keys as fleet_keys
from headgate.fleets import mapping as fleets
from headgate.fleets import tokens as fleet_tokens
from headgate.fleets.model import FleetToken
from headgate.foundation import clock, errors
from headgate.identity import keys, passwords
from headgate.instances.counting import mapping as counters
from headgate.rollouts import imported as rollouts
from headgate.storage import items, objects
from headgate.storage.items import Item, Value
from headgate.storage.table import ConditionFailed, write
from headgate_engine.threads import Threads

_AT_ONCE: Final = 8
_BATCH: Final = 200

Progress = Callable[[int], None]


class OrganizationExists(errors.Conflict):
    def __init__(self, header: Header) -> None:
        super().__init__(
            f"The organization {header.organization_id} ({header.name}) exists already, and an import replaces "
            "nothing. To go back to an earlier state, restore the tables to a point in time, see docs/backup.md"
        )


class InTheWay(errors.Conflict):
    """Another item has the key of one in the file."""

    def __init__(self, table: str, key: str) -> None:
        super().__init__(
            f"The item {key} of the table {table} is not the one in the file; nothing was replaced, and nobody sees "
            "the organization until an import is complete"
        )


@dataclass(frozen=True, slots=True)
class Restored:
    """`strangers` are the addresses of people who have no account here and are invited. `left_out` names the tokens
    and webhooks that no seal vouches for, and that are not imported."""

    header: Header
    strangers: list[str]
    left_out: list[str]


def restore(path: Path, progress: Progress, seal_key: str | None = None) -> Restored:
    """Import the file. `progress` gets the number of imported entries.

    `seal_key` is the key of the archive's seal; the deployment that exported needs none. Raises BadArchive, BadSealKey,
    OtherSeal, OrganizationExists, InTheWay.
    """
    header, seal = archive.read_header(path)
    key = _vouching(header, seal, seal_key)
    if export.exists(header.organization_id):
        raise OrganizationExists(header)
    held = contents.index(path, header)
    for record in contents.records(path, held):
        _require_opens(record, key)
    _require_free(held)
    left_out: list[str] = []
    people, records = _people(_vouched(contents.records(path, held), left_out, key))
    exported_at = clock.parse(header.exported_at)
    records = _with_executions(_with_counters(records, exported_at), exported_at)
    renamed, strangers = _import_people(people)
    done = len(people)
    with Threads(_AT_ONCE) as threads:
        # Access comes after the data and in the order of the file; only data are written in parallel.
        while batch := list(itertools.islice(records, _BATCH)):
            ours = [_as_here(record, renamed, strangers) for record in batch]
            list(threads.map(_put, [record for record in ours if not _gives_access(record)]))
            for record in ours:
                if _gives_access(record):
                    _put(record)
            done += len(batch)
            progress(done)
    return Restored(header, strangers, left_out)


def _vouching(header: Header, seal: Seal, seal_key: str | None) -> bytes | None:
    """The key of the seal, if it shows that the archive is as it was exported: the one that is given, or else this
    deployment's, None if it does not fit. Raises BadSealKey, OtherSeal."""
    if seal_key is None:
        ours = seals.key_of(header)
        return ours if seals.fits(ours, seal) else None
    key = seals.read(seal_key)
    if not seals.fits(key, seal):
        raise seals.OtherSeal
    return key


def _is_of_webhooks(record: Record) -> TypeGuard[TableItem]:
    return isinstance(record, TableItem) and record.table == "events"


def _is_webhook(record: Record) -> TypeGuard[TableItem]:
    return _is_of_webhooks(record) and str(record.item["sk"]).startswith(places.WEBHOOKS)


def _require_opens(record: Record, key: bytes | None) -> None:
    """Raises BadArchive if a webhook's address or secret does not open."""
    if key is not None and _is_webhook(record):
        try:
            closed.opened(record.item, key)
        except ValueError as error:
            raise BadArchive(f"{items.text(record.item, 'webhook_id')}: {error}. Nothing was written") from error


def _vouched(records: Iterable[Record], left_out: list[str], key: bytes | None) -> Iterator[Record]:
    """The records, with webhooks sealed for this deployment. Without a key that vouches for them, tokens and webhooks
    are left out, and named in `left_out`. Hosts show their keys anew."""
    for record in records:
        if key is not None:
            yield TableItem("events", closed.for_table(record.item, key)) if _is_webhook(record) else record
        elif _is_webhook(record):
            left_out.append(f"webhook {items.text(record.item, 'name')} ({items.text(record.item, 'webhook_id')})")
        elif _is_of_webhooks(record):
            # Their number: there are none.
            continue
        elif not contents.is_token(record):
            yield contents.without_key(record)
        elif isinstance(record, TableItem) and "service_account_id" in record.item and "value_hash" in record.item:
            left_out.append(f"token {items.text(record.item, 'name')} ({items.text(record.item, 'token_id')})")
        elif isinstance(record, TableItem) and record.table == "fleets":
            holder = items.optional_text(record.item, "deployment_id") or items.text(record.item, "fleet_id")
            left_out.append(f"token of {holder}")


def _require_free(held: Index) -> None:
    """Raises InTheWay if another organization has an id of the archive: what belongs to it would get more.

    Two scans, and a third one for webhooks. What an interrupted import wrote is not in the way.
    """
    organization_id = held.organization_id
    for item in TABLES["configurations"].scan(
        "organization_id <> :ours", {":ours": organization_id}, "organization_id", "configuration_id"
    ):
        if item["configuration_id"] in held.configurations:
            raise InTheWay(TABLES["configurations"].name, items.text(item, "configuration_id"))
    starts: Item = {":fleet": fleet_keys.FLEETS, ":group": fleet_keys.DEPLOYMENTS}
    for item in TABLES["fleets"].scan("begins_with(sk, :fleet) OR begins_with(sk, :group)", starts, "pk", "sk"):
        holder, _, name = items.text(item, "sk").partition("#")
        holds = held.fleets.keys() if holder == "fleet" else held.groups.keys()
        ours = fleet_keys.organization(organization_id) if holder == "fleet" else _partition_of(held, name)
        # An event's name is longer than a group's.
        if name in holds and item["pk"] != ours:
            raise InTheWay(TABLES["fleets"].name, f"{items.text(item, 'pk')} {items.text(item, 'sk')}")

    if held.webhooks:
        for item in TABLES["events"].scan("begins_with(sk, :webhook)", {":webhook": places.WEBHOOKS}, "pk", "sk"):
            name = items.text(item, "sk").removeprefix(places.WEBHOOKS)
            if name in held.webhooks and item["pk"] != fleet_keys.organization(organization_id):
                raise InTheWay(TABLES["events"].name, f"{items.text(item, 'pk')} {items.text(item, 'sk')}")


def _partition_of(held: Index, deployment_id: str) -> str:
    return fleet_keys.of_fleet(held.groups[deployment_id][0]) if deployment_id in held.groups else ""


def invite(organization_id: str, url: str) -> list[str]:
    """Create an account for each member who has none, with a temporary password by mail. Their addresses."""
    addresses = [items.text(person, "email") for person in export.people(organization_id)]
    return [address for address in addresses if passwords.create(address, url)]


def _people(records: Iterator[Record]) -> tuple[list[Item], Iterator[Record]]:
    """The people, who come first in the file, and the other records."""
    people: list[Item] = []
    for record in records:
        if isinstance(record, TableItem) and record.table == "identity" and record.item["sk"] == "user":
            people.append(record.item)
        else:
            return people, itertools.chain([record], records)
    return people, records


def _with_counters(records: Iterable[Record], at: datetime) -> Iterator[Record]:
    """The records, with the counters of each fleet's instances, which an export leaves out, before the fleet itself.

    The fleet's token follows the counters, so that no collector reports before it is counted.
    """
    instances: list[Item] = []
    groups: list[Item] = []
    tokens: list[Record] = []
    for record in records:
        if isinstance(record, TableItem) and record.table == "fleets":
            sort_key = str(record.item["sk"])
            if _is_fleet_token(record):
                tokens.append(record)
                continue
            # What happened to an instance is in another partition, under a similar sort key.
            of_fleet = str(record.item["pk"]).startswith(fleet_keys.of_fleet(""))
            if of_fleet and sort_key.startswith(fleet_keys.INSTANCES):
                instances.append(record.item)
            elif of_fleet and record.item.get("token_generation"):
                groups.append(record.item)
            elif sort_key.startswith(fleet_keys.FLEETS):
                fleet_id = items.text(record.item, "fleet_id")
                for item in counters.recounted(fleet_id, instances, at):
                    yield TableItem("fleets", item)
                yield from tokens
                organization_id = items.text(record.item, "organization_id")
                yield from (TableItem("fleets", _token_of_group(group, organization_id)) for group in groups)
                instances, groups, tokens = [], [], []
        yield record


def _with_executions(records: Iterable[Record], at: datetime) -> Iterator[Record]:
    """The records, and before the last one, with which all takes effect, what lets open rollouts go on here."""
    open_rollouts: list[Item] = []
    for record in records:
        if isinstance(record, TableItem):
            if record.table == "fleets" and str(record.item["sk"]).startswith(fleet_keys.ROLLOUTS):
                carried_out = rollouts.to_carry_out(record.item, at)
                open_rollouts += [carried_out] if carried_out else []
                record = TableItem("fleets", rollouts.imported(record.item))
            elif record.table == "identity" and record.item["sk"] == keys.organization("")["sk"]:
                yield from (TableItem("fleets", item) for item in open_rollouts)
        yield record


def _import_people(people: Iterable[Item]) -> tuple[Mapping[str, str], list[str]]:
    """Import people. The ids here of those who have another one, by the id in the file, and the new addresses."""
    renamed: dict[str, str] = {}
    unknown = []
    for person in people:
        address, there = items.text(person, "email"), items.text(person, "user_id")
        marker = keys.email(address) | {"user_id": there}
        named = TABLES["identity"].get(keys.user(there))
        if named is not None and named.get("email") != address:
            # The address must not become another one of that person, who may belong to other organizations.
            raise InTheWay(TABLES["identity"].name, str(keys.user(there)["pk"]))
        here = _put_unless_there("identity", marker)
        if here is not None and here["user_id"] != there:
            renamed[there] = items.text(here, "user_id")
            continue
        _put_unless_there("identity", person)
        if not passwords.has_account(address):
            unknown.append(address)
    return renamed, unknown


def _gives_access(record: Record) -> bool:
    if not isinstance(record, TableItem):
        return False
    if record.table == "fleets":
        # With a fleet, its token of this deployment is written. A rollout goes on once all of its hosts are here.
        is_open_rollout = record.item["pk"] == fleet_keys.OPEN_ROLLOUTS
        return _is_fleet_token(record) or is_open_rollout or str(record.item["sk"]).startswith(fleet_keys.FLEETS)
    return record.table == "identity" and not str(record.item["pk"]).startswith("audit#")


def _is_fleet_token(record: TableItem) -> bool:
    return record.table == "fleets" and record.item["sk"] == "token"


def _put(record: Record) -> None:
    if isinstance(record, BucketObject):
        # Its key is its hash, so an object with this key is the same one.
        objects.write(record.key, record.content)
        return
    there = _put_unless_there(record.table, record.item)
    if there is not None and _lasting(there) != _lasting(record.item):
        raise InTheWay(TABLES[record.table].name, str(_key(record)))
    if record.table == "fleets" and str(record.item["sk"]).startswith(fleet_keys.FLEETS):
        _put_token_of_this_deployment(record.item)


def _put_token_of_this_deployment(fleet: Item) -> None:
    """New installations get a token made with this deployment's key. The token of the export keeps working."""
    stored = fleets.FLEETS.read(fleet)
    token_hash = fleet_tokens.hash_at(stored.id, stored.token_generation)
    _put_unless_there("fleets", fleets.token_item(token_hash, stored.token))


def _token_of_group(group: Item, organization_id: str) -> Item:
    """The own token of a group, made with this deployment's key."""
    stored = deployments.GROUPS.read(group)
    token = FleetToken(stored.fleet_id, organization_id, stored.token_expires_at, stored.id)
    return fleets.token_item(fleet_tokens.hash_at(stored.id, stored.token_generation), token)


def _put_unless_there(table: archive.TableName, item: Item) -> Item | None:
    """One conditional write. The item that was there, None if there was none."""
    try:
        write(TABLES[table].put_new(item))
    except ConditionFailed as there:
        return there.item
    return None


def _lasting(item: Item) -> Item:
    # The same text is sealed in other bytes each time.
    return {
        name: value
        for name, value in item.items()
        if value is not None and not (name in closed.NAMES and isinstance(value, bytes))
    }


def _key(record: TableItem) -> str:
    table = TABLES[record.table]
    return f"{items.text(record.item, table.partition)} {items.text(record.item, table.sort)}"


def _as_here(record: Record, renamed: Mapping[str, str], strangers: Collection[str]) -> Record:
    """The record for this deployment, where people may have other ids, or no account yet.

    Ids are long and random, so no text has one by chance.
    """
    if isinstance(record, BucketObject):
        return record
    item = cast("Item", _replaced(record.item, renamed)) if renamed else record.item
    if record.table == "identity" and str(item["sk"]).startswith(keys.MEMBERS) and item.get("name") in strangers:
        # So that an Admin can send the invitation again.
        item = item | {"status": "invited"}
    return TableItem(record.table, item)


def _replaced(value: Value, renamed: Mapping[str, str]) -> Value:
    if isinstance(value, str):
        for there, here in renamed.items():
            value = value.replace(there, here)
        return value
    if isinstance(value, Mapping):
        return {name: _replaced(entry, renamed) for name, entry in value.items()}
    if isinstance(value, list):
        return [_replaced(entry, renamed) for entry in value]
    return value
