"""moto as a database that many threads write to at once."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.exceptions import ClientError
from moto.dynamodb.models.dynamo_type import Item
from moto.dynamodb.models.table import Table
from moto.s3.models import FakeKey

from headgate_local import store
from tests.support.moto_database import Database, database, key, put_of

__all__ = ["database"]

pytestmark = pytest.mark.contract


def all_at_once(count: int, call: Callable[[int], object]) -> list[object]:
    barrier = threading.Barrier(count)

    def one(number: int) -> object:
        barrier.wait()
        try:
            return call(number)
        except ClientError as error:
            return error.response["Error"]["Code"]

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def test_a_write_leaves_nothing_in_memory_but_what_it_wrote(database: Database) -> None:
    tracked = [Item.instances_tracked, Table.instances_tracked, FakeKey.instances_tracked]
    before = list(map(len, tracked))

    for number in range(20):
        database.put("one", "item", number={"N": str(number)})
        database.dynamodb.transact_write_items(TransactItems=[put_of("another", "item")])
        database.s3.put_object(Bucket="texts", Key="one", Body=b"x")

    assert list(map(len, tracked)) == before


def test_of_many_transactions_over_one_marker_exactly_one_wins(database: Database) -> None:
    def claim(number: int, turn: int) -> bool:
        marker = {"name": {"S": f"round {turn}"}}
        condition = "attribute_not_exists(#name)"
        names = {"#name": "name"}
        put = {"TableName": "markers", "Item": marker, "ConditionExpression": condition}
        database.dynamodb.transact_write_items(
            TransactItems=[{"Put": {**put, "ExpressionAttributeNames": names}}, put_of(f"{turn}", f"{number}")]
        )
        return True

    for turn in range(20):
        outcomes = all_at_once(16, lambda number, turn=turn: claim(number, turn))
        assert sorted(map(str, outcomes)) == ["TransactionCanceledException"] * 15 + ["True"]

    assert len(database.things()) == 20


def test_a_transaction_that_fails_undoes_nothing_of_what_others_write_meanwhile(database: Database) -> None:
    def write(number: int) -> None:
        if number % 2:
            for turn in range(10):
                database.put("kept", f"{number} {turn}")
        else:
            failing = put_of("x", "y", ConditionExpression="attribute_exists(pk)")
            database.dynamodb.transact_write_items(TransactItems=[put_of("lost", f"{number}"), failing])

    all_at_once(16, write)

    assert set(database.things()) == {("kept", f"{number} {turn}") for number in range(1, 16, 2) for turn in range(10)}


def test_counting_in_many_threads_counts_every_one(database: Database) -> None:
    def count(_number: int) -> None:
        for _ in range(10):
            database.dynamodb.update_item(
                TableName="things",
                Key=key("a", "counter"),
                UpdateExpression="ADD seen :one",
                ExpressionAttributeValues={":one": {"N": "1"}},
            )

    all_at_once(16, count)
    database.restart()

    assert database.things()["a", "counter"]["seen"] == {"N": "160"}


def test_expired_data_are_removed_while_many_write_and_nothing_else_is_missing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_EXPIRE_EVERY_SECONDS", 0.01)
    database.restart()

    def write(number: int) -> None:
        for turn in range(40):
            expires = "9999999999" if turn % 2 else "1700000000"
            database.put(f"{number}", f"{turn}", t={"S": "x" * 500}, expires={"N": expires})

    all_at_once(8, write)
    monkeypatch.setattr(store, "_EXPIRE_EVERY_SECONDS", 3600)
    remaining = len(database.things())
    database.restart()

    assert remaining < 320
    assert {int(turn) % 2 for _, turn in database.things()} == {1}
    assert len(database.things()) == 160
