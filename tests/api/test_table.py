"""The one way to the tables: slices of every kind, conditions, transactions, and batches that come in parts."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from headgate.foundation import errors
from headgate.foundation.settings import settings
from headgate.storage import aws, items, retry, table
from headgate.storage.items import Item
from headgate.storage.table import ConditionFailed, TableIndex, identity
from headgate_local.template import Template
from tests.support.aws import aws_for

pytestmark = pytest.mark.usefixtures("aws_here")
_OWN = TableIndex("own", "own", "by_update")


@pytest.fixture(scope="module")
def aws_here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Template]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield from aws_for(monkeypatch, tmp_path_factory.mktemp("objects"), documented=False)


@pytest.fixture(autouse=True)
def _empty(aws_here: Template) -> Iterator[None]:
    yield
    for item in identity.scan("attribute_exists(pk)", {}, "pk", "sk"):
        table.write(identity.delete(item))


def _key(sk: str) -> Item:
    return {"pk": "p", "sk": sk}


def _pages(prefix: str, limit: int, *, newest_first: bool = False) -> list[list[str]]:
    pages, after = [], None
    while True:
        part = identity.list("p", prefix, limit, after, newest_first=newest_first)
        pages.append([items.text(item, "sk") for item in part.entries])
        after = part.position
        if after is None:
            return pages


@pytest.mark.parametrize(
    ("prefix", "newest_first", "expected"),
    [
        ("b#", False, [["b#1", "b#2"], ["b#3", "b#é"]]),
        ("b#", True, [["b#é", "b#3"], ["b#2", "b#1"]]),
        ("", False, [["a#1", "b#1"], ["b#2", "b#3"], ["b#é", "c#1"]]),
        ("", True, [["c#1", "b#é"], ["b#3", "b#2"], ["b#1", "a#1"]]),
        ("c#", False, [["c#1"]]),
        ("nothing#", False, [[]]),
    ],
)
def test_a_list_gives_each_item_of_the_prefix_once(prefix: str, newest_first: bool, expected: list[list[str]]) -> None:
    for sk in ("a#1", "b#1", "b#2", "b#3", "b#é", "c#1"):
        identity.put(_key(sk))
    assert _pages(prefix, 2, newest_first=newest_first) == expected


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("after", ["", "a#9", "b#2", "b#25", "zzz"])
def test_no_position_leads_out_of_the_prefix(after: str, newest_first: bool) -> None:
    for sk in ("a#1", "b#1", "b#2", "b#3", "c#1"):
        identity.put(_key(sk))
    listed = [item["sk"] for item in identity.list("p", "b#", 9, after, newest_first=newest_first).entries]
    behind = [sk for sk in ("b#1", "b#2", "b#3") if (sk < after if newest_first else sk > after)]
    assert listed == sorted(behind, reverse=newest_first)


def test_an_index_is_listed_in_the_same_way() -> None:
    key: Item = {"organization_id": "org_table", "configuration_id": ""}
    for n in range(5):
        table.configurations.put(key | {"configuration_id": f"cfg_{n}", "own": "table", "by_update": f"2026-0{n}"})
    first = table.configurations.list("table", "", 2, newest_first=True, index=_OWN)
    second = table.configurations.list("table", "", 9, first.position, newest_first=True, index=_OWN)
    assert [item["configuration_id"] for item in [*first.entries, *second.entries]] == [
        f"cfg_{n}" for n in (4, 3, 2, 1, 0)
    ]
    assert second.position is None


def test_more_than_a_megabyte_is_listed_whole() -> None:
    large = "x" * 300_000
    for n in range(8):
        identity.put(_key(f"l#{n}") | {"text": large})
    assert [sk for page in _pages("l#", 20) for sk in page] == [f"l#{n}" for n in range(8)]
    assert [item["sk"] for item in identity.list_all("p", "l#")] == [f"l#{n}" for n in range(8)]


def test_a_read_of_some_attributes_gives_no_others() -> None:
    identity.put(_key("one") | {"name": "a", "status": "b"})
    assert identity.get(_key("one"), "status") == {"status": "b"}
    assert identity.get(_key("none"), "status") is None


def test_a_condition_that_fails_tells_what_is_there() -> None:
    table.write(identity.put_new(_key("one") | {"revision": 1, "held": frozenset({"a", "b"})}))
    with pytest.raises(ConditionFailed) as failed:
        table.write(identity.put_new(_key("one")))
    assert failed.value.item == _key("one") | {"revision": 1, "held": frozenset({"a", "b"})}
    with pytest.raises(ConditionFailed) as failed:
        table.write(identity.delete(_key("none"), "revision = :one", {":one": 1}))
    assert failed.value.item == {}


def test_a_write_returns_what_is_asked_for() -> None:
    added = table.write(identity.update(_key("one"), "ADD #used :one", values={":one": 1}), "UPDATED_NEW")
    assert added["used"] == 1
    before = table.write(identity.put_over(_key("one") | {"status": "new"}), "ALL_OLD")
    assert before == _key("one") | {"used": 1}


def test_a_transaction_says_why_it_was_refused() -> None:
    identity.put(_key("taken"))
    taken, gone = identity.put_new(_key("taken")), identity.must_exist(_key("gone"))
    refusal = errors.Conflict("The name is taken")
    with pytest.raises(errors.Conflict):
        table.transact([identity.put_new(_key("other")), taken], {1: refusal})
    with pytest.raises(retry.LostRace):
        table.transact([taken, gone], {0: refusal})
    with pytest.raises(retry.LostRace):
        table.transact([gone])
    assert identity.get(_key("other")) is None


def test_items_are_read_together_from_several_tables() -> None:
    identity.put(_key("one"))
    key: Item = {"configuration_id": "cfg", "item": "v#1"}
    table.versions.put(key)
    together = table.get_together((table.versions, key), (identity, _key("none")), (identity, _key("one")))
    assert together == [key, None, _key("one")]


def test_a_batch_that_is_answered_in_parts_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(120):
        identity.put(_key(f"{n:03d}"))
    calls = _answered_by(monkeypatch, most=70)
    read = identity.get_all([_key(f"{n:03d}") for n in range(130)])
    assert sorted(items.text(item, "sk") for item in read) == [f"{n:03d}" for n in range(120)]
    assert calls == [100, 60]


def test_a_batch_that_is_never_answered_is_an_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "_SECONDS", 0.05)
    calls = _answered_by(monkeypatch, most=0)
    with pytest.raises(errors.Unavailable):
        identity.get_all([_key("one")])
    assert len(calls) > 1


def _answered_by(monkeypatch: pytest.MonkeyPatch, most: int) -> list[int]:
    """DynamoDB answers no more than `most` of the keys of a call. The number of keys of each call."""
    client, calls = aws.dynamodb(), []
    answer: Any = client.batch_get_item

    def in_part(RequestItems: dict[str, Any]) -> dict[str, Any]:
        (wanted,) = RequestItems.values()
        calls.append(len(wanted["Keys"]))
        now, later = wanted["Keys"][:most], wanted["Keys"][most:]
        name = settings().identity_table
        found = answer(RequestItems={name: {**wanted, "Keys": now}})["Responses"] if now else {}
        return {"Responses": found, "UnprocessedKeys": {name: {**wanted, "Keys": later}} if later else {}}

    monkeypatch.setattr(client, "batch_get_item", in_part)
    return calls


def test_a_lost_race_is_tried_again_and_ends_as_contention(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def once() -> str:
        tries.append(1)
        if len(tries) < 3:
            raise retry.LostRace
        return "done"

    assert (retry.retry(once), len(tries)) == ("done", 3)
    monkeypatch.setattr(retry, "_SECONDS", 0.05)
    with pytest.raises(errors.Contention):
        retry.retry(lambda: table.transact([identity.must_exist(_key("gone"))]))


def test_a_read_of_several_items_that_meets_a_write_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    """moto answers while an item is written; DynamoDB refuses."""
    client, read = aws.dynamodb(), aws.dynamodb().transact_get_items
    conflict = {
        "Error": {"Code": "TransactionCanceledException"},
        "CancellationReasons": [{"Code": "TransactionConflict"}],
    }
    refusals = [ClientError(conflict, "TransactGetItems")] * 2

    def refused_twice(**request: Any) -> Any:
        if refusals:
            raise refusals.pop()
        return read(**request)

    monkeypatch.setattr(client, "transact_get_items", refused_twice)

    assert table.get_together((identity, _key("none"))) == [None]
    assert refusals == []
