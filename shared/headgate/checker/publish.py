"""Publishing collectors in the bucket, as `published` reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from headgate.checker.published import DESCRIPTOR, Descriptor, binary_key, key

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


def upload(
    s3: S3Client, bucket: str, architecture: str, binary: Path, packed: Path, description: Mapping[str, object]
) -> bool:
    """Put a collector into the bucket, and last its descriptor, which makes it visible.

    `packed` is the binary compressed with zstd, and `description` what the binary says of itself, with its version. The
    same binary is not uploaded again: then False is returned. Nothing is deleted.
    """
    version = str(description["version"])
    descriptor = Descriptor(
        version=version,
        sha256=_sha256(packed),
        size=packed.stat().st_size,
        binary_sha256=_sha256(binary),
        binary_size=binary.stat().st_size,
        describe=dict(description),
    )
    earlier = _earlier(s3, bucket, key(version, architecture, DESCRIPTOR))
    if earlier == descriptor and _size(s3, bucket, binary_key(version, architecture)) == descriptor.size:
        return False
    s3.upload_file(
        str(packed), bucket, binary_key(version, architecture), ExtraArgs={"ContentType": "application/zstd"}
    )
    s3.put_object(
        Bucket=bucket,
        Key=key(version, architecture, DESCRIPTOR),
        Body=descriptor.model_dump_json().encode(),
        ContentType="application/json",
    )
    return True


def _earlier(s3: S3Client, bucket: str, descriptor: str) -> Descriptor | None:
    try:
        text = s3.get_object(Bucket=bucket, Key=descriptor)["Body"].read()
        return Descriptor.model_validate_json(text)
    except (s3.exceptions.NoSuchKey, ValidationError):
        return None


def _size(s3: S3Client, bucket: str, name: str) -> int | None:
    try:
        return s3.head_object(Bucket=bucket, Key=name)["ContentLength"]
    except s3.exceptions.ClientError:
        return None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
