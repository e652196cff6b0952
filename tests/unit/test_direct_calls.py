"""Calls to moto of the process that runs it: the same tables as behind the port, whichever way is taken."""

from collections.abc import Iterator

import boto3
import pytest

from headgate_local import aws_server

KEY = "a folder/ü %2F+?=&#.txt"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with aws_server.running(direct=True) as address:
        yield address


def test_an_object_written_directly_is_read_behind_the_port_with_any_name(url: str) -> None:
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket="some")
    s3.put_object(Bucket="some", Key=KEY, Body=b"\x00\xff", ContentType="text/x")
    # A session of its own, so its client goes to the port.
    other = boto3.Session().client("s3", endpoint_url=url)
    answer = other.get_object(Bucket="some", Key=KEY)

    assert (answer["Body"].read(), answer["ContentType"]) == (b"\x00\xff", "text/x")
    other.put_object(Bucket="some", Key=KEY, Body=b"new")
    assert s3.get_object(Bucket="some", Key=KEY)["Body"].read() == b"new"


def test_an_error_is_the_service_s_own(url: str) -> None:
    dynamodb = boto3.client("dynamodb", endpoint_url=url)

    with pytest.raises(dynamodb.exceptions.ResourceNotFoundException):
        dynamodb.get_item(TableName="none", Key={"a": {"S": "b"}})


def test_no_connection_is_made(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_named: object) -> None:
        raise AssertionError("a connection was made")

    dynamodb = boto3.client("dynamodb")
    monkeypatch.setattr("urllib3.connectionpool.HTTPConnectionPool.urlopen", refuse)

    assert dynamodb.list_tables()["TableNames"] == []
