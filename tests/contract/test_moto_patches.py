"""moto as a database: an upgrade that moves what `headgate_local.moto_patches` takes hold of fails here."""

import http.client
from typing import Any
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.dynamodb.models.dynamo_type import Item
from moto.s3.models import s3_backends

from headgate_local import aws_server, moto_patches
from headgate_local import database as database_file
from tests.support.moto_database import Database, database, key, put_of

__all__ = ["database"]

pytestmark = pytest.mark.contract


EVERY_KIND_OF_ATTRIBUTE = {
    "pk": {"S": "kinds"},
    "sk": {"S": "é\U0001f600"},
    "text": {"S": ""},
    "number": {"N": "-12.5"},
    "bytes": {"B": b"\x00\xff\x80"},
    "yes": {"BOOL": True},
    "nothing": {"NULL": True},
    "list": {"L": [{"B": b"\x01"}, {"M": {"deep": {"L": [{"N": "1"}]}}}]},
    "map": {"M": {"bytes": {"B": b"\x02"}}},
    "texts": {"SS": ["a", "b"]},
    "numbers": {"NS": ["1", "2"]},
    "several_bytes": {"BS": [b"\x03"]},
}


def test_every_kind_of_write_to_a_table_is_there_after_a_restart(database: Database) -> None:
    for sk in ("updated", "deleted", "batch deleted", "transaction deleted"):
        database.put("a", sk, text={"S": "before"})
    database.dynamodb.put_item(TableName="things", Item=EVERY_KIND_OF_ATTRIBUTE)
    database.dynamodb.put_item(TableName="markers", Item={"name": {"S": "alone"}})
    update = {"UpdateExpression": "SET #t = :t", "ExpressionAttributeNames": {"#t": "text"}}
    update["ExpressionAttributeValues"] = {":t": {"S": "after"}}
    database.dynamodb.update_item(TableName="things", Key=key("a", "updated"), **update)
    database.dynamodb.update_item(TableName="things", Key=key("a", "made by an update"), **update)
    database.dynamodb.delete_item(TableName="things", Key=key("a", "deleted"))
    database.dynamodb.batch_write_item(
        RequestItems={
            "things": [
                {"PutRequest": {"Item": key("a", "batch put")}},
                {"DeleteRequest": {"Key": key("a", "batch deleted")}},
            ]
        }
    )
    database.dynamodb.transact_write_items(
        TransactItems=[
            put_of("a", "transaction put"),
            {"Update": {"TableName": "things", "Key": key("a", "transaction updated"), **update}},
            {"Delete": {"TableName": "things", "Key": key("a", "transaction deleted")}},
            {
                "ConditionCheck": {
                    "TableName": "things",
                    "Key": key("a", "updated"),
                    "ConditionExpression": "attribute_exists(pk)",
                }
            },
        ]
    )
    before = database.items("things"), database.items("markers")

    database.restart()

    assert not database.fresh
    assert (database.items("things"), database.items("markers")) == before
    stored = database.things()
    assert stored["kinds", "é\U0001f600"] == EVERY_KIND_OF_ATTRIBUTE
    assert {sk for pk, sk in stored if pk == "a"} == {
        "updated",
        "made by an update",
        "batch put",
        "transaction put",
        "transaction updated",
    }


def test_an_item_reads_the_same_in_every_way_to_read_it(database: Database) -> None:
    item = EVERY_KIND_OF_ATTRIBUTE
    whole = {name: item[name] for name in ("pk", "sk")}
    database.dynamodb.put_item(TableName="things", Item=item)
    names = {"#name": "number"}
    touch = {"UpdateExpression": "SET #name = #name", "ExpressionAttributeNames": names, "ReturnValues": "ALL_NEW"}
    hash_key = {":pk": item["pk"]}
    query = {"KeyConditionExpression": "pk = :pk", "ExpressionAttributeValues": hash_key}

    client = database.dynamodb
    get = {"Get": {"TableName": "things", "Key": whole}}
    answers = [
        client.get_item(TableName="things", Key=whole)["Item"],
        client.query(TableName="things", **query)["Items"][0],
        client.scan(TableName="things")["Items"][0],
        client.batch_get_item(RequestItems={"things": {"Keys": [whole]}})["Responses"]["things"][0],
        client.transact_get_items(TransactItems=[get])["Responses"][0]["Item"],
        client.update_item(TableName="things", Key=whole, **touch)["Attributes"],
        client.put_item(TableName="things", Item=item, ReturnValues="ALL_OLD")["Attributes"],
        client.delete_item(TableName="things", Key=whole, ReturnValues="ALL_OLD")["Attributes"],
    ]

    assert answers == [item] * len(answers)
    assert "Item" not in client.get_item(TableName="things", Key=whole)
    assert client.query(TableName="things", Select="COUNT", **query)["Count"] == 0


def queried(database: Database, name: str, value: str, **more: Any) -> list[tuple[str, str]]:
    """The keys of the items, over pages of two."""
    pages = database.dynamodb.get_paginator("query").paginate(
        TableName="things",
        KeyConditionExpression=f"{name} = :value AND begins_with(sk, :s)",
        ExpressionAttributeValues={":value": {"S": value}, ":s": {"S": "s"}},
        PaginationConfig={"PageSize": 2},
        **more,
    )
    return [(item["pk"]["S"], item["sk"]["S"]) for page in pages for item in page["Items"]]


def test_a_query_answers_its_partition_in_order_and_looks_at_no_other(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for sk in ("s3", "s1", "t", "s5", "s2", "s4"):
        for pk in ("b", "a", "c"):
            database.put(pk, sk, **({"owner": {"S": "ann"}} if pk != "b" and sk < "s4" else {}))
    in_order = [f"s{number}" for number in range(1, 6)]

    assert queried(database, "pk", "a") == [("a", sk) for sk in in_order]
    assert queried(database, "pk", "b", ScanIndexForward=False) == [("b", sk) for sk in reversed(in_order)]
    assert queried(database, "pk", "nobody") == []
    by_owner = queried(database, "#owner", "ann", IndexName="by-owner", ExpressionAttributeNames={"#owner": "owner"})
    assert [sk for _, sk in by_owner] == ["s1", "s1", "s2", "s2", "s3", "s3"]
    assert set(by_owner) == {(pk, sk) for pk in "ac" for sk in in_order[:3]}
    assert list(database.things()) == [(pk, sk) for pk in "abc" for sk in [*in_order, "t"]]

    looked_at: list[str] = []

    def noted(item: Item) -> tuple[str, str]:
        looked_at.append(item.hash_key.value)
        return item.hash_key.value, item.range_key.value

    monkeypatch.setattr(moto_patches, "_key", noted)
    queried(database, "pk", "c")
    assert set(looked_at) == {"c"}


def test_a_refused_write_answers_with_the_item_that_stood_in_its_way(database: Database) -> None:
    database.dynamodb.put_item(TableName="things", Item=EVERY_KIND_OF_ATTRIBUTE)
    condition = {"ConditionExpression": "attribute_not_exists(pk)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}

    with pytest.raises(database.dynamodb.exceptions.ConditionalCheckFailedException) as refused:
        database.dynamodb.put_item(TableName="things", Item=EVERY_KIND_OF_ATTRIBUTE, **condition)

    assert refused.value.response["Item"] == EVERY_KIND_OF_ATTRIBUTE


def test_an_item_that_is_too_large_is_refused_however_its_bytes_are_spread(database: Database) -> None:
    spread = {f"part-{place}": {"S": "é" * 20_000} for place in range(10)}
    database.put("a", "large", **spread)

    for more in ({"text": {"S": "x" * 5_001}}, {"list": {"L": [{"M": {"text": {"S": "x" * 5_001}}}]}}):
        with pytest.raises(ClientError, match="Item size has exceeded the maximum allowed size"):
            database.put("a", "larger", **spread, **more)
    assert list(database.things()) == [("a", "large")]


def test_a_condition_of_the_same_words_is_judged_by_its_own_names_and_values(database: Database) -> None:
    database.put("a", "b", colour={"S": "red"}, size={"N": "1"})

    def is_so(name: str, value: dict[str, str]) -> bool:
        try:
            database.dynamodb.update_item(
                TableName="things",
                Key=key("a", "b"),
                UpdateExpression="SET checked = :value",
                ConditionExpression="attribute_exists(pk) AND (#name = :value OR #name IN (:value, :value))",
                ExpressionAttributeNames={"#name": name},
                ExpressionAttributeValues={":value": value},
            )
        except database.dynamodb.exceptions.ConditionalCheckFailedException:
            return False
        return True

    values = [("colour", {"S": "red"}), ("colour", {"S": "blue"}), ("size", {"N": "1"}), ("size", {"N": "2"})]
    assert [is_so(name, value) for name, value in values] == [True, False, True, False]


def test_every_kind_of_write_to_a_bucket_is_there_after_a_restart(database: Database) -> None:
    database.s3.put_object(Bucket="texts", Key="a/put", Body=b"\x00one", ContentType="text/x", Metadata={"by": "me"})
    database.s3.put_object(Bucket="texts", Key="a/replaced", Body=b"before")
    database.s3.put_object(Bucket="texts", Key="a/replaced", Body=b"after")
    database.s3.copy_object(Bucket="texts", Key="a/copied", CopySource="texts/a/put")
    for name in ("deleted", "deleted too"):
        database.s3.put_object(Bucket="texts", Key=f"a/{name}", Body=b"x")
    database.s3.delete_object(Bucket="texts", Key="a/deleted")
    database.s3.delete_objects(Bucket="texts", Delete={"Objects": [{"Key": "a/deleted too"}]})
    upload = database.s3.create_multipart_upload(Bucket="texts", Key="a/parts")["UploadId"]
    part = database.s3.upload_part(Bucket="texts", Key="a/parts", UploadId=upload, PartNumber=1, Body=b"parted")
    database.s3.complete_multipart_upload(
        Bucket="texts",
        Key="a/parts",
        UploadId=upload,
        MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]},
    )
    written = database.s3.head_object(Bucket="texts", Key="a/put")["LastModified"]

    database.restart()

    listed = [entry["Key"] for entry in database.s3.list_objects_v2(Bucket="texts")["Contents"]]
    assert listed == ["a/copied", "a/parts", "a/put", "a/replaced"]
    contents = [database.s3.get_object(Bucket="texts", Key=name)["Body"].read() for name in listed]
    assert contents == [b"\x00one", b"parted", b"\x00one", b"after"]
    put = database.s3.get_object(Bucket="texts", Key="a/put")
    assert (put["ContentType"], put["Metadata"], put["LastModified"]) == ("text/x", {"by": "me"}, written)


def test_a_table_may_be_named_by_its_arn(database: Database) -> None:
    arn = database.dynamodb.describe_table(TableName="things")["Table"]["TableArn"]
    database.dynamodb.put_item(TableName=arn, Item=key("a", "b"))

    database.restart()

    assert set(database.things()) == {("a", "b")}


def test_a_transaction_that_is_sent_again_with_its_token_is_done_once(database: Database) -> None:
    once = {"TransactItems": [put_of("a", "b", ConditionExpression="attribute_not_exists(pk)")]}
    for _ in range(2):
        database.dynamodb.transact_write_items(ClientRequestToken="the same", **once)

    with pytest.raises(database.dynamodb.exceptions.TransactionCanceledException):
        database.dynamodb.transact_write_items(ClientRequestToken="another", **once)


def test_an_update_that_is_refused_halfway_changes_nothing(database: Database) -> None:
    database.put("a", "b", text={"S": "before"})

    with pytest.raises(ClientError):
        database.dynamodb.update_item(
            TableName="things",
            Key=key("a", "b"),
            UpdateExpression="SET #t = :t, big = :big",
            ExpressionAttributeNames={"#t": "text"},
            ExpressionAttributeValues={":t": {"S": "after"}, ":big": {"S": "x" * 410_000}},
        )

    assert database.things()["a", "b"]["text"] == {"S": "before"}


def test_what_cannot_be_kept_is_refused_and_undone(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    database.put("a", "b", text={"S": "before"})
    database.s3.put_object(Bucket="texts", Key="a", Body=b"before")

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(database_file.Database, "write", full_disk)
        with pytest.raises(ClientError, match="could not save"):
            database.put("a", "b", text={"S": "after"})
        with pytest.raises(ClientError, match="could not save"):
            database.dynamodb.transact_write_items(TransactItems=[put_of("a", "c"), put_of("a", "d")])
        with pytest.raises(ClientError):
            database.s3.put_object(Bucket="texts", Key="a", Body=b"after")

    def read() -> tuple[object, object]:
        return database.things(), database.s3.get_object(Bucket="texts", Key="a")["Body"].read()

    expected = {("a", "b"): {**key("a", "b"), "text": {"S": "before"}}}, b"before"
    assert read() == expected
    database.restart()
    assert read() == expected


def test_a_write_of_a_kind_that_would_not_be_kept_is_refused(database: Database) -> None:
    with pytest.raises(ClientError, match="cannot save what ExecuteStatement writes"):
        database.dynamodb.execute_statement(Statement="INSERT INTO things VALUE {'pk': 'a', 'sk': 'b'}")


def test_what_expired_long_ago_goes_at_the_next_start_and_nothing_else_does(database: Database) -> None:
    database.put("a", "expired long ago", expires={"N": "1700000000"})
    database.put("a", "expires some day", expires={"N": "9999999999"})
    database.put("a", "does not expire")
    for name in ("old/one", "new/one"):
        database.s3.put_object(Bucket="texts", Key=name, Body=b"x")
        found = s3_backends["123456789012"]["aws"].buckets["texts"].keys[name]
        found.last_modified = found.last_modified.replace(year=2020)
    database.s3.delete_object(Bucket="texts", Key="nothing")
    database.s3.copy_object(Bucket="texts", Key="new/copy", CopySource="texts/old/one")

    database.restart()
    database.restart()

    assert {sk for _, sk in database.things()} == {"expires some day", "does not expire"}
    listed = database.s3.list_objects_v2(Bucket="texts")["Contents"]
    assert [entry["Key"] for entry in listed] == ["new/copy", "new/one", "old/one"]


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/moto-api/reset", {}),
        ("/", {"Origin": "https://example.org"}),
        ("/", {"Host": "rebound.example.org"}),
    ],
    ids=["moto's own switches", "another site's page", "a name bound to this address"],
)
def test_a_web_page_cannot_reach_the_data(database: Database, path: str, headers: dict[str, str]) -> None:
    database.put("a", "b")
    connection = http.client.HTTPConnection(urlsplit(database.url).netloc)
    connection.request("POST", path, headers=headers)

    assert connection.getresponse().status == 403
    connection.close()
    assert database.things()


def test_a_server_that_starts_after_another_is_empty(database: Database) -> None:
    database.stop()

    with aws_server.running():
        assert boto3.client("dynamodb").list_tables()["TableNames"] == []
    database.start()
