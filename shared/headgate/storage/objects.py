"""Objects of the bucket, written and read whole."""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError, IncompleteReadError

from headgate.observability.log import logger
from headgate.settings import settings
from headgate.storage import aws

if TYPE_CHECKING:
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef

# As often as boto3 asks for anything; it tries again until an object begins to come, and no longer.
_ATTEMPTS: Final = 3
# A question for the head alone is answered without a body, so by status.
_MISSING: Final = ("NoSuchKey", "404")
_DENIED: Final = ("AccessDenied", "403")


def write(key: str, content: bytes, content_type: str = "") -> None:
    """Put an object, over one that is there. One PUT."""
    kind: Any = {"ContentType": content_type} if content_type else {}
    aws.s3().put_object(Bucket=settings().bucket, Key=key, Body=content, **kind)


def delete(key: str) -> None:
    """One DELETE, whether it is there or not."""
    aws.s3().delete_object(Bucket=settings().bucket, Key=key)


def read_if_there(key: str, most: int | None = None) -> bytes | None:
    """An object that need not be there; None if it is not. Otherwise as `read`.

    S3 says 403 of a key that is not there to whom it is not sure that they may list it. So a denied object counts as
    missing; the log tells which it was said to be.
    """
    try:
        return read(key, most)
    except ClientError as error:
        _require_missing(error, key)
        return None


def size_if_there(key: str) -> int | None:
    """In bytes; None, as in `read_if_there`, if it is not there. One HEAD."""
    try:
        return aws.s3().head_object(Bucket=settings().bucket, Key=key)["ContentLength"]
    except ClientError as error:
        _require_missing(error, key)
        return None


def _require_missing(error: ClientError, key: str) -> None:
    code = error.response["Error"]["Code"]
    if code in _DENIED:
        logger.warning("object_denied", operation=error.operation_name, folder=key.partition("/")[0])
    elif code not in _MISSING:
        raise error


class TooLong(Exception):
    """The object is longer than what was to be read."""


def read(key: str, most: int | None = None) -> bytes:
    """An object that has to be there. One GET, and another where the object did not come to its end.

    Raises TooLong, before anything of it is read, NoSuchKey, or another ClientError or BotoCoreError.
    """
    for _ in range(_ATTEMPTS - 1):
        answer = aws.s3().get_object(Bucket=settings().bucket, Key=key)
        with suppress(BotoCoreError):
            return _whole(answer, most)
    return _whole(aws.s3().get_object(Bucket=settings().bucket, Key=key), most)


def _whole(answer: GetObjectOutputTypeDef, most: int | None) -> bytes:
    with closing(answer["Body"]) as body:
        if most is not None and answer.get("ContentLength", 0) > most:
            raise TooLong
        content = body.read() if most is None else body.read(most + 1)
    # boto3 compares the two itself, unless the answer's head was cut off before its length.
    length = answer.get("ContentLength")
    if length != len(content):
        raise IncompleteReadError(actual_bytes=len(content), expected_bytes=length)
    return content
