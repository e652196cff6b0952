"""A call to moto's handler is answered as a request is: an upgrade that changes one of the two ways fails here."""

from collections.abc import Iterator
from typing import Any, Final

import boto3
import pytest
from botocore.exceptions import ClientError

from headgate_local import direct_dynamodb, moto_patches
from tests.support.moto_database import Database, database, key, put_of

__all__ = ["database"]

pytestmark = pytest.mark.contract

ITEM: Final = key("a", "1") | {
    "text": {"S": "é\U0001f600"},
    "bytes": {"B": b"\x00\xff\x80"},
    "list": {"L": [{"B": b"\x01"}, {"M": {"deep": {"N": "1.5"}}}, {"NULL": True}]},
    "texts": {"SS": ["a", "b"]},
}
UPDATE: Final = {
    "TableName": "things",
    "Key": key("a", "1"),
    "UpdateExpression": "SET #t = :t ADD seen :one",
    "ExpressionAttributeNames": {"#t": "text"},
    "ExpressionAttributeValues": {":t": {"S": "new"}, ":one": {"N": "1"}},
}
ABSENT: Final = {"ConditionExpression": "attribute_not_exists(pk)"}
# Each begins with what the one before left; the last ones leave nothing.
CALLS: Final[list[tuple[str, dict[str, Any]]]] = [
    ("put_item", {"TableName": "things", "Item": ITEM}),
    ("get_item", {"TableName": "things", "Key": key("a", "1")}),
    ("get_item", {"TableName": "things", "Key": key("a", "none")}),
    ("put_item", {"TableName": "things", "Item": ITEM, **ABSENT}),
    ("put_item", {"TableName": "things", "Item": ITEM, **ABSENT, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}),
    ("update_item", {**UPDATE, "ReturnValues": "ALL_NEW"}),
    ("update_item", {**UPDATE, "UpdateExpression": "SET #t = "}),
    ("query", {"TableName": "things", "KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": key("a", "1")}),
    (
        "query",
        {
            "TableName": "things",
            "KeyConditionExpression": "pk = :p",
            "ExpressionAttributeValues": {":p": {"S": "a"}},
            "ReturnConsumedCapacity": "TOTAL",
        },
    ),
    ("transact_write_items", {"TransactItems": (put_of("a", "2"), put_of("a", "3"))}),
    (
        "transact_write_items",
        {
            "TransactItems": [
                put_of("a", "4"),
                {
                    "Put": {
                        "TableName": "things",
                        "Item": ITEM,
                        **ABSENT,
                        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                    }
                },
            ]
        },
    ),
    ("batch_get_item", {"RequestItems": {"things": {"Keys": [key("a", "1"), key("a", "2")]}}}),
    ("scan", {"TableName": "things", "Limit": 1}),
    ("get_item", {"TableName": "nowhere", "Key": key("a", "1")}),
    ("describe_table", {"TableName": "things"}),
    ("delete_item", {"TableName": "things", "Key": key("a", "1"), "ReturnValues": "ALL_OLD"}),
    (
        "batch_write_item",
        {"RequestItems": {"things": [{"DeleteRequest": {"Key": key("a", number)}} for number in "23"]}},
    ),
    ("scan", {"TableName": "things"}),
]


@pytest.fixture
def direct(database: Database) -> Iterator[Any]:
    with direct_dynamodb.installed():
        yield boto3.client("dynamodb")


def answer(client: Any, operation: str, asked: dict[str, Any]) -> dict[str, Any]:
    """What a call returns or raises; its headers are those of a connection."""
    try:
        said = getattr(client, operation)(**asked)
    except ClientError as error:
        said = error.response | {"class": type(error).__name__}
    said["ResponseMetadata"] = said["ResponseMetadata"]["HTTPStatusCode"]
    return dict(said)


def test_each_call_is_answered_as_a_request(database: Database, direct: Any) -> None:
    requested = [answer(database.dynamodb, *call) for call in CALLS]
    directly = [answer(direct, *call) for call in CALLS]

    for call, one, other in zip(CALLS, requested, directly, strict=True):
        assert other == one, call
    # Both ways end with nothing, and some calls were refused.
    assert directly[-1]["Items"] == []
    assert len([one for one in directly if "Error" in one]) == 6


def test_what_is_stored_and_answered_is_nobody_elses(direct: Any) -> None:
    item = key("a", "1") | {"list": {"L": [{"S": "first"}]}}
    direct.put_item(TableName="things", Item=item)
    item["list"]["L"].append({"S": "of the caller"})
    direct.get_item(TableName="things", Key=key("a", "1"))["Item"]["list"]["L"].append({"S": "of a reader"})

    assert direct.get_item(TableName="things", Key=key("a", "1"))["Item"]["list"] == {"L": [{"S": "first"}]}


def test_a_handler_of_an_event_finds_the_body_of_a_request_that_is_not_sent(direct: Any) -> None:
    bodies: list[object] = []
    direct.meta.events.register_first("before-call.dynamodb", lambda params, **_: bodies.append(params["body"]))

    direct.get_item(TableName="things", Key=key("a", "1"))

    assert bodies == [b'{"TableName": "things", "Key": {"pk": {"S": "a"}, "sk": {"S": "1"}}}']


def test_a_direct_call_sends_nothing(database: Database, direct: Any) -> None:
    sent: list[object] = []
    direct.meta.events.register("before-send", lambda request, **_: sent.append(request))

    direct.put_item(TableName="things", Item=ITEM)

    assert database.things()["a", "1"] == ITEM
    assert sent == []


def test_a_write_that_cannot_be_saved_is_tried_again_as_a_request(
    database: Database, direct: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[object] = []

    def full(*_: object) -> bool:
        tried.append(True)
        return False

    monkeypatch.setattr(moto_patches, "_saved", full)
    sent: list[object] = []
    direct.meta.events.register("before-send", lambda request, **_: sent.append(request))

    with pytest.raises(ClientError, match="could not save the write"):
        direct.put_item(TableName="things", Item=ITEM)

    assert len(sent) > 1
    assert len(tried) == len(sent) + 1
