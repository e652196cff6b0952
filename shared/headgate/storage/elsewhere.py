"""The bucket for exports, which belongs to the operator and may be in another region. It is written only."""

from typing import IO

from headgate.foundation.settings import settings
from headgate.storage import aws


def put(key: str, content: bytes | IO[bytes]) -> None:
    """Store an object; one PUT."""
    aws.s3_in(settings().export_region).put_object(Bucket=settings().export_bucket, Key=key, Body=content)
