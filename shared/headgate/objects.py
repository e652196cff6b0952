"""Objects of the bucket, read whole."""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, IncompleteReadError

from headgate import aws
from headgate.settings import settings

if TYPE_CHECKING:
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef

# As often as boto3 asks for anything; it tries again until an object begins to come, and no longer.
_ATTEMPTS: Final = 3


def read(key: str) -> bytes:
    """One GET, and another where the object did not come to its end.

    Raises NoSuchKey, or another ClientError or BotoCoreError.
    """
    for _ in range(_ATTEMPTS - 1):
        answer = aws.s3().get_object(Bucket=settings().bucket, Key=key)
        with suppress(BotoCoreError):
            return _whole(answer)
    return _whole(aws.s3().get_object(Bucket=settings().bucket, Key=key))


def _whole(answer: GetObjectOutputTypeDef) -> bytes:
    with closing(answer["Body"]) as body:
        content = body.read()
    # boto3 compares the two itself, unless the answer's head was cut off before its length.
    length = answer.get("ContentLength")
    if length != len(content):
        raise IncompleteReadError(actual_bytes=len(content), expected_bytes=length)
    return content
