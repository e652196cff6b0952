"""The objects of the bucket: written and read whole, and links to them."""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError, IncompleteReadError

from headgate.foundation.log import logger
from headgate.foundation.settings import settings
from headgate.storage import aws

if TYPE_CHECKING:
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef

TEXT: Final = "text/plain; charset=utf-8"
# As many as boto3 makes; it repeats a request until a response begins, and not when one breaks off.
_ATTEMPTS: Final = 3
# A HEAD is answered without a body, so with a status instead of a code.
_MISSING: Final = ("NoSuchKey", "404")
_DENIED: Final = ("AccessDenied", "403")


class TooLong(Exception):
    """The object is longer than the most that was to be read."""


def read(key: str, limit: int | None = None) -> bytes:
    """An object that has to exist. One GET, and another if the response broke off.

    Raises TooLong, before anything of it is read, or a ClientError or BotoCoreError.
    """
    for _ in range(_ATTEMPTS - 1):
        answer = aws.s3().get_object(Bucket=settings().bucket, Key=key)
        with suppress(BotoCoreError):
            return _whole(answer, limit)
    return _whole(aws.s3().get_object(Bucket=settings().bucket, Key=key), limit)


def read_unless_missing(key: str, limit: int | None = None) -> bytes | None:
    """The same, or None if there is no such object. Access that is denied is an error."""
    try:
        return read(key, limit)
    except ClientError as error:
        if error.response["Error"]["Code"] in _MISSING:
            return None
        raise


def read_if_there(key: str, limit: int | None = None) -> bytes | None:
    """The same, or None if there is no such object or access to it is denied, which goes to the log.

    S3 answers 403 for a missing object if it cannot tell whether the caller may list the bucket.
    """
    try:
        return read(key, limit)
    except ClientError as error:
        _require_missing(error, key)
        return None


def size_if_there(key: str) -> int | None:
    """In bytes; None in the same cases. One HEAD."""
    try:
        return aws.s3().head_object(Bucket=settings().bucket, Key=key)["ContentLength"]
    except ClientError as error:
        _require_missing(error, key)
        return None


def write(key: str, content: bytes, content_type: str = "") -> None:
    """Store an object; it replaces one with that key. One PUT."""
    kind: Any = {"ContentType": content_type} if content_type else {}
    aws.s3().put_object(Bucket=settings().bucket, Key=key, Body=content, **kind)


def delete(key: str) -> None:
    """Delete an object if there is one. One DELETE."""
    aws.s3().delete_object(Bucket=settings().bucket, Key=key)


def delete_for_good(prefix: str) -> None:
    """Delete every object whose key begins so, with its earlier versions, which `delete` leaves in the bucket.

    One LIST, and one DELETE for each version.
    """
    listed = aws.s3().list_object_versions(Bucket=settings().bucket, Prefix=prefix)
    for version in (*listed.get("Versions", ()), *listed.get("DeleteMarkers", ())):
        aws.s3().delete_object(Bucket=settings().bucket, Key=version["Key"], VersionId=version["VersionId"])
    if listed.get("IsTruncated"):
        delete_for_good(prefix)


def link(key: str, seconds: int) -> str:
    """A URL that serves one object to whoever has it, for some time. No request."""
    parameters = {"Bucket": settings().bucket, "Key": key}
    return aws.s3().generate_presigned_url("get_object", Params=parameters, ExpiresIn=seconds)


def upload_form(key: str, limit: int, seconds: int) -> dict[str, object]:
    """The URL and fields of a form that stores one text of up to `limit` bytes, for some time. No request."""
    kind = {"Content-Type": TEXT}
    return aws.s3().generate_presigned_post(
        Bucket=settings().bucket,
        Key=key,
        Fields=kind,
        Conditions=[kind, ["content-length-range", 0, limit]],
        ExpiresIn=seconds,
    )


def _require_missing(error: ClientError, key: str) -> None:
    code = error.response["Error"]["Code"]
    if code in _DENIED:
        logger.warning("object_denied", operation=error.operation_name, folder=key.partition("/")[0])
    elif code not in _MISSING:
        raise error


def _whole(answer: GetObjectOutputTypeDef, limit: int | None) -> bytes:
    with closing(answer["Body"]) as body:
        if limit is not None and answer.get("ContentLength", 0) > limit:
            raise TooLong
        content = body.read() if limit is None else body.read(limit + 1)
    # boto3 compares the two itself, unless the response's headers broke off before the length.
    length = answer.get("ContentLength")
    if length != len(content):
        raise IncompleteReadError(actual_bytes=len(content), expected_bytes=length)
    return content
