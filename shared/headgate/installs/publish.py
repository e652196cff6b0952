"""Publishing what installs fetch: the files are compressed, and put into the bucket under their hashes."""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from headgate.installs.releases import CHART, MANIFEST, PREFIX, Artifact, Release

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_LEVEL: Final = 6
_CHUNK: Final = 1 << 20


def packed_chart(folder: Path) -> bytes:
    """The chart as `helm package` packs it; the same files give the same bytes."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as zipped, tarfile.open(fileobj=zipped, mode="w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = tarfile.TarInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}")
                entry.size, entry.mode = path.stat().st_size, 0o644
                with path.open("rb") as file:
                    archive.addfile(entry, file)
    return packed.getvalue()


def upload(s3: S3Client, bucket: str, versions: tuple[str, str], binaries: Mapping[str, Path], chart: bytes) -> Release:
    """Put the files under their hashes, then the manifest that makes them the release; returns the release.

    `versions` are those of collector and supervisor. The files of earlier releases stay, for hosts that are fetching
    them.
    """
    artifacts = {}
    for name, path in binaries.items():
        packed = compressed(path)
        with path.open("rb") as binary:
            digest = sha256(binary)
        with packed.open("rb") as file:
            fetched = _put(s3, bucket, file, compressed=True)
        artifacts[name] = replace(fetched, binary_sha256=digest, size=path.stat().st_size)
    return release(s3, bucket, versions, artifacts, chart)


def release(
    s3: S3Client, bucket: str, versions: tuple[str, str], programs: Mapping[str, Artifact], chart: bytes
) -> Release:
    """Put the chart, then the manifest; returns the release."""
    artifacts = {**programs, CHART: _put(s3, bucket, io.BytesIO(chart), compressed=False)}
    release = Release(*versions, artifacts)
    s3.put_object(Bucket=bucket, Key=PREFIX + MANIFEST, Body=release.encode(), ContentType="application/json")
    return release


def compressed(path: Path) -> Path:
    """The path of the file's gzip, beside it; written only if the file has changed."""
    packed = path.with_name(path.name + ".gz")
    if not packed.exists() or packed.stat().st_mtime < path.stat().st_mtime:
        part = packed.with_suffix(".part")
        with path.open("rb") as source, gzip.GzipFile(part, "wb", compresslevel=_LEVEL, mtime=0) as target:
            shutil.copyfileobj(source, target, _CHUNK)
        part.replace(packed)
    return packed


def sha256(file: IO[bytes]) -> str:
    """The hash in hex of the rest of the file."""
    total = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        total.update(chunk)
    return total.hexdigest()


def _put(s3: S3Client, bucket: str, file: IO[bytes], *, compressed: bool) -> Artifact:
    digest = sha256(file)
    key = f"{PREFIX}{digest}"
    file.seek(0)
    s3.upload_fileobj(file, bucket, key)
    return Artifact(key, digest, compressed)
