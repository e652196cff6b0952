"""Brings a stack's tables back to what they held at a time: `make restore AT=2026-11-26T09:00:00Z`.

DynamoDB restores each table beside the stack's, under a name with that time. Then the stack's functions are held still,
what differs is copied into the stack's own tables, and the functions go on. Names stay, so nothing of the stack is
replaced. A run that broke off is repeated: it goes on with the tables that were restored already.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from scripts import stack
from scripts.stack import Stop

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_TABLE: Final = "AWS::DynamoDB::Table"
_FUNCTION: Final = "AWS::Lambda::Function"
# Runs last minutes, and their executions would not be there.
_LEFT_OUT: Final = ("RunsTable",)
_BATCH: Final = 25
_POLL_SECONDS: Final = 10.0
_TRIES: Final = 8
# It takes a quarter of an hour, and writes to no table.
_READS_ONLY: Final = "ExportsFunction"

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TablePair:
    """A table of the stack, and the restored one beside it. `key` are the names of its key's attributes."""

    logical_id: str
    live: str
    restored: str
    key: Sequence[str]


@dataclass(frozen=True, slots=True)
class TableDifference:
    """The writes that make a table equal the restored one: items to put, and keys to delete."""

    pair: TablePair
    puts: Sequence[Item]
    deletes: Sequence[Item]

    def __str__(self) -> str:
        return (
            f"  {self.pair.logical_id}: {len(self.puts):,} items are written back, "
            f"{len(self.deletes):,} that came later are deleted"
        )


def pairs(stack_name: str, at: datetime, only: Sequence[str] = ()) -> list[TablePair]:
    """The tables of the stack that are restored. Raises Stop for a name that is not one of them."""
    client = _dynamodb()
    matches = {logical: name for logical, kind, name in stack.resources(stack_name) if kind == _TABLE}
    requested = list(only) or [logical for logical in matches if logical not in _LEFT_OUT]
    if unknown := [logical for logical in requested if logical not in matches]:
        raise Stop(f"The stack {stack_name} has no table {unknown[0]}; its tables are {', '.join(sorted(matches))}")
    return [
        TablePair(
            logical,
            matches[logical],
            f"{matches[logical][:230]}-at-{at:%Y%m%dT%H%M%SZ}",
            [
                entry["AttributeName"]
                for entry in client.describe_table(TableName=matches[logical])["Table"]["KeySchema"]
            ],
        )
        for logical in requested
    ]


def begin(tables: Sequence[TablePair], at: datetime) -> None:
    """Restore each table beside the stack's, unless that was done. Raises Stop if AWS refuses."""
    client = _dynamodb()
    for pair in tables:
        if _status(client, pair.restored) is not None:
            print(f"{pair.logical_id}: {pair.restored} is there already.")
            continue
        try:
            client.restore_table_to_point_in_time(
                SourceTableName=pair.live, TargetTableName=pair.restored, RestoreDateTime=at
            )
        except ClientError as error:
            raise Stop(f"{pair.logical_id} cannot be restored to {at:%Y-%m-%dT%H:%M:%SZ}: {error}") from error
        print(f"{pair.logical_id}: restoring it as {pair.restored}.", flush=True)


def wait(tables: Sequence[TablePair], seconds: float = _POLL_SECONDS) -> None:
    """Wait until all are restored: minutes for each, whatever its size."""
    client = _dynamodb()
    while waiting := [pair for pair in tables if _status(client, pair.restored) != "ACTIVE"]:
        print(f"Waiting for {', '.join(pair.logical_id for pair in waiting)} ...", flush=True)
        time.sleep(seconds)


def difference(pair: TablePair, *, only_missing: bool) -> TableDifference:
    """The difference of the stack's table from the restored one. With `only_missing`, existing items stay."""
    client = _dynamodb()
    live = {_key(pair, item): item for item in _items(client, pair.live)}
    puts, seen = [], set()
    for item in _items(client, pair.restored):
        key = _key(pair, item)
        seen.add(key)
        if key not in live or (not only_missing and live[key] != item):
            puts.append(item)
    later = [] if only_missing else [item for key, item in live.items() if key not in seen and not _is_record(item)]
    return TableDifference(pair, puts, [{name: item[name] for name in pair.key} for item in later])


def write(difference: TableDifference) -> None:
    """Make the stack's table as the restored one. Raises Stop if DynamoDB does not take it all."""
    requests: list[Any] = [{"PutRequest": {"Item": item}} for item in difference.puts]
    requests += [{"DeleteRequest": {"Key": key}} for key in difference.deletes]
    client = _dynamodb()
    for begins in range(0, len(requests), _BATCH):
        left = requests[begins : begins + _BATCH]
        for attempt in range(_TRIES):
            answer = client.batch_write_item(RequestItems={difference.pair.live: left})
            left = answer.get("UnprocessedItems", {}).get(difference.pair.live, [])
            if not left:
                break
            time.sleep(0.1 * 2**attempt)
        else:
            raise Stop(f"{difference.pair.logical_id} takes no more writes now: run the same command again")


@contextmanager
def held_still(stack_name: str) -> Iterator[None]:
    """No function of the stack runs in the block: each has a reserved concurrency of zero meanwhile.

    That ends nothing that runs already, so the block begins after the longest time that a function may take.
    """
    client = boto3.client("lambda")
    functions = {name: logical_id for logical_id, kind, name in stack.resources(stack_name) if kind == _FUNCTION}
    writing = [name for name, logical_id in functions.items() if logical_id != _READS_ONLY]
    reserved = {name: client.get_function_concurrency(FunctionName=name) for name in functions}
    try:
        for name in functions:
            client.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
        seconds = max((client.get_function_configuration(FunctionName=name)["Timeout"] for name in writing), default=0)
        print(f"The functions are held still. Waiting {seconds} seconds for what runs already ...", flush=True)
        time.sleep(seconds)
        yield
    finally:
        still = [name for name in functions if not _let_go(name, reserved[name].get("ReservedConcurrentExecutions"))]
        if still:
            raise Stop(f"{', '.join(still)} could not be let go: run the same command again")


def _let_go(function: str, reserved: int | None) -> bool:
    """Give a function its reservation back. False if AWS refuses, so that the others are let go too."""
    client = boto3.client("lambda")
    try:
        if reserved:
            client.put_function_concurrency(FunctionName=function, ReservedConcurrentExecutions=reserved)
        else:
            client.delete_function_concurrency(FunctionName=function)
    except (BotoCoreError, ClientError) as error:
        print(f"{function}: {error}", file=sys.stderr)
        return False
    return True


def parsed(text: str) -> datetime:
    """The time, in UTC. Raises Stop unless it is one, and past."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise Stop(f"{text!r} is not a time: write AT=2026-11-26T09:00:00Z") from error
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    if at >= datetime.now(UTC):
        raise Stop(f"{text} is not past: DynamoDB restores to a second of the last 35 days, up to five minutes ago")
    return at


def _is_record(item: Item) -> bool:
    """True if it is an audit record: such items are never deleted."""
    return str(item.get("pk", {}).get("S", "")).startswith("audit#")


def _status(client: DynamoDBClient, name: str) -> str | None:
    try:
        return client.describe_table(TableName=name)["Table"]["TableStatus"]
    except client.exceptions.ResourceNotFoundException:
        return None


def _items(client: DynamoDBClient, name: str) -> Iterator[Item]:
    for page in client.get_paginator("scan").paginate(TableName=name, ConsistentRead=True):
        yield from page["Items"]


def _key(pair: TablePair, item: Item) -> tuple[str, ...]:
    return tuple(str(item[name]) for name in pair.key)


def _dynamodb() -> DynamoDBClient:
    return boto3.client("dynamodb")


def main() -> int:
    parser = argparse.ArgumentParser(description="Bring a stack's tables back to a time.")
    parser.add_argument("--at", required=True, help="the time, as 2026-11-26T09:00:00Z")
    parser.add_argument("--table", action="append", default=[], help="only this table of template.yaml; several times")
    parser.add_argument("--only-missing", action="store_true", help="bring back what was deleted, no more")
    parser.add_argument("--keep", action="store_true", help="do not delete the restored tables afterwards")
    return stack.command(parser, _restore, "Stopped. Run the same command again to go on.")


def _restore(options: argparse.Namespace) -> None:
    at = parsed(options.at)
    name, _ = stack.existing(options.stage)
    tables = pairs(name, at, options.table)
    begin(tables, at)
    wait(tables)
    print(f"\nThis makes tables of {name} what they were at {at:%Y-%m-%dT%H:%M:%SZ}:")
    print("\n".join(str(difference(pair, only_missing=options.only_missing)) for pair in tables))
    print("The service answers nothing meanwhile. Collectors keep the configuration that they have, and report again.")
    refusal = "Nothing was changed. The restored tables stay; the same command finds them again."
    stack.require_name(name, "go on", refusal)
    with held_still(name):
        for pair in tables:
            # Once more, since until now the service went on.
            write(difference(pair, only_missing=options.only_missing))
            print(f"{pair.logical_id} is restored.", flush=True)
    if not options.keep:
        for pair in tables:
            _dynamodb().delete_table(TableName=pair.restored)
    print("Done.")


if __name__ == "__main__":
    sys.exit(main())
