"""What boto3 takes for an answer of AWS: whole ones only, however the connection broke."""

import json
import time
from collections.abc import Iterator, Sequence
from io import BytesIO
from zlib import crc32

import pytest
from botocore import endpoint
from botocore.awsrequest import AWSResponse
from botocore.client import BaseClient
from botocore.exceptions import BotoCoreError, ClientError

from headgate.foundation.settings import settings
from headgate.storage import aws, objects

ITEM = json.dumps({"Item": {"name": {"S": "Zürich"}}}, ensure_ascii=False).encode()
FOUND = (200, {"content-length": str(len(ITEM)), "x-amz-crc32": str(crc32(ITEM))}, ITEM)
REFUSED_TEXT = b'{"__type":"com.amazon#ConditionalCheckFailedException","message":"no"}'
REFUSED = (400, {"content-length": str(len(REFUSED_TEXT))}, REFUSED_TEXT)
NO_KEY = b"<Error><Code>NoSuchKey</Code><Message>no</Message></Error>"
CUT = len(ITEM) // 2

Answer = tuple[int, dict[str, str], bytes]


class _Raw(BytesIO):
    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.read()


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Credentials for nothing, and no waiting between attempts."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("HEADGATE_BUCKET", "bucket")
    monkeypatch.setattr(endpoint, "time", _NoSleep())
    settings.cache_clear()
    aws.forget_clients()
    yield
    aws.forget_clients()
    settings.cache_clear()


class _NoSleep:
    def __getattr__(self, name: str) -> object:
        return getattr(time, name)

    @staticmethod
    def sleep(_: float) -> None:
        return


def answering(client: BaseClient, answers: Sequence[Answer]) -> list[str]:
    """Make the client get these answers, the last of them for ever; what it asked for is noted in the list."""
    asked: list[str] = []

    def answer(request: object, **_: object) -> AWSResponse:
        status, headers, body = answers[min(len(asked), len(answers) - 1)]
        asked.append(str(getattr(request, "url", "")))
        return AWSResponse("", status, headers, _Raw(body))  # type: ignore[arg-type]  # moto itself passes a body that is not bytes

    client.meta.events.register("before-send", answer)
    return asked


def get_item() -> dict[str, object]:
    return dict(aws.dynamodb().get_item(TableName="table", Key={"pk": {"S": "x"}}))


BROKEN: dict[str, Answer] = {
    "cut in the body": (200, {"content-length": str(len(ITEM))}, ITEM[:CUT]),
    "cut in a letter": (200, {}, ITEM[: ITEM.index(b"\xc3") + 1]),
    "cut in the head": (200, {}, b""),
    "cut, with a length that agrees": (200, {"content-length": str(CUT)}, ITEM[:CUT]),
    "another than its checksum": (200, {"x-amz-crc32": str(crc32(ITEM))}, ITEM.replace(b"name", b"game")),
    "no object": (200, {}, b"[]"),
    "a refusal, cut": (400, {"content-length": str(len(REFUSED_TEXT))}, REFUSED_TEXT[:20]),
    "a refusal, cut in the head": (400, {}, b""),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_what_did_not_come_whole_is_asked_for_again(broken: Answer) -> None:
    asked = answering(aws.dynamodb(), [broken, FOUND])

    assert get_item()["Item"] == {"name": {"S": "Zürich"}}
    assert len(asked) == 2


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_what_never_comes_whole_is_an_error_and_not_an_empty_answer(broken: Answer) -> None:
    asked = answering(aws.dynamodb(), [broken])

    with pytest.raises(ClientError) as raised:
        get_item()
    assert raised.value.response["Error"]["Code"] == "502"
    assert len(asked) == 3


def test_a_whole_refusal_is_what_it_says() -> None:
    asked = answering(aws.dynamodb(), [REFUSED])

    with pytest.raises(ClientError) as raised:
        get_item()
    assert raised.value.response["Error"]["Code"] == "ConditionalCheckFailedException"
    assert len(asked) == 1


def test_an_answer_that_has_nothing_to_say_is_whole() -> None:
    answering(aws.s3(), [(200, {"etag": '"x"'}, b"")])
    answering(aws.cognito(), [(200, {}, b"")])

    assert aws.s3().put_object(Bucket="bucket", Key="key", Body=b"content")["ETag"] == '"x"'
    answered = aws.cognito().confirm_forgot_password(
        ClientId="client", Username="ann", ConfirmationCode="1", Password="a long one"
    )
    assert answered["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_an_object_that_stops_coming_is_asked_for_again() -> None:
    whole = (200, {"content-length": "5"}, b"whole")
    asked = answering(aws.s3(), [(200, {"content-length": "5"}, b"wh"), (200, {}, b""), whole])

    assert objects.read("key") == b"whole"
    assert len(asked) == 3


def test_an_object_that_never_comes_whole_is_an_error() -> None:
    asked = answering(aws.s3(), [(200, {"content-length": "5"}, b"wh")])

    with pytest.raises(BotoCoreError):
        objects.read("key")
    assert len(asked) == 3


def test_an_object_that_is_not_there_is_asked_for_once_and_more_often_if_that_came_in_part() -> None:
    asked = answering(aws.s3(), [(404, {"content-length": "20"}, NO_KEY[:20]), (404, {}, NO_KEY)])

    with pytest.raises(aws.s3().exceptions.NoSuchKey):
        objects.read("key")
    assert len(asked) == 2
