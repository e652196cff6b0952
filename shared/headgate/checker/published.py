"""The collectors in the bucket: versions beside the default one, for the checker's function and for the test runner.

Beside each compressed binary, `collectors/<version>/<architecture>/otelcol-contrib.zst`, is `collector.json`. It is
written last, so a version without it is not published. The functions that ask read it and sign a link to the binary.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Annotated, Final

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import BaseModel, Field, StringConstraints, ValidationError

from headgate.checker.fetched import MAX_BYTES, MAX_COMPRESSED_BYTES
from headgate.foundation.settings import settings
from headgate.storage import objects
from headgate_engine.checker.descriptions import Described
from headgate_engine.checker.errors import CheckerUnreachable
from headgate_engine.collector import DISTRIBUTION

PREFIX: Final = "collectors/"
DESCRIPTOR: Final = "collector.json"
_MAX_DESCRIPTOR_BYTES: Final = 1 << 20
_REMEMBERED_SECONDS: Final = 60
_ARCHITECTURES: Final = {"aarch64": "arm64"}

_Sha256 = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class Descriptor(BaseModel):
    """The content of `collector.json`: SHA-256 in hex and sizes in bytes of the compressed and the unpacked binary.

    `describe` is what the binary says of itself (the operation `describe`) without components and feature gates.
    """

    version: str
    sha256: _Sha256
    size: Annotated[int, Field(gt=0, le=MAX_COMPRESSED_BYTES)]
    binary_sha256: _Sha256
    binary_size: Annotated[int, Field(gt=0, le=MAX_BYTES)]
    describe: dict[str, object]


_remembered: dict[str, tuple[float, Descriptor | None]] = {}
_reading = threading.Lock()


def key(version: str, architecture: str, name: str) -> str:
    """The key of an object; `architecture` is as in template.yaml."""
    return f"{PREFIX}{version}/{architecture}/{name}"


def binary_key(version: str, architecture: str) -> str:
    """The key of the compressed binary."""
    return key(version, architecture, f"{DISTRIBUTION}.zst")


class MalformedDescriptor(CheckerUnreachable):
    """The descriptor of one version cannot be used; other versions are not affected."""

    def __init__(self, version: str) -> None:
        super().__init__(f"The descriptor of collector version {version} in the bucket is malformed; publish it again")


def described() -> tuple[Described, ...]:
    """The published versions among those that this deployment names, in its order. Raises CheckerUnreachable."""
    descriptions = (_described(version) for version in settings().collector_versions)
    return tuple(each for each in descriptions if each is not None)


def source(version: str, seconds: int) -> dict[str, object] | None:
    """The source for `fetched`, with a link that expires; None if the version is not in the bucket.

    The default version is not: it is where the collector runs. Raises CheckerUnreachable.
    """
    if version == settings().collector_version or version not in settings().collector_versions:
        return None
    descriptor = _descriptor(version)
    if descriptor is None:
        return None
    fields = descriptor.model_dump(exclude={"describe"})
    return {**fields, "url": objects.link(binary_key(version, architecture()), seconds)}


def architecture() -> str:
    """This machine's, as template.yaml names it: every function and the runner have the same one."""
    machine = os.uname().machine
    return _ARCHITECTURES.get(machine, machine)


def forget() -> None:
    """Read every descriptor again."""
    with _reading:
        _remembered.clear()


def _described(version: str) -> Described | None:
    try:
        descriptor = _descriptor(version)
    except MalformedDescriptor as error:
        return Described(version, None, error.detail)
    return None if descriptor is None else Described(version, descriptor.describe)


def _descriptor(version: str) -> Descriptor | None:
    with _reading:
        until, descriptor = _remembered.get(version, (0.0, None))
        if time.monotonic() < until:
            return descriptor
        descriptor = _read(version)
        _remembered[version] = (time.monotonic() + _REMEMBERED_SECONDS, descriptor)
        return descriptor


def _read(version: str) -> Descriptor | None:
    try:
        text = objects.read_if_there(key(version, architecture(), DESCRIPTOR), _MAX_DESCRIPTOR_BYTES)
    except (BotoCoreError, ClientError, objects.TooLong) as error:
        raise CheckerUnreachable(f"What is published of collector version {version} could not be read") from error
    if text is None:
        return None
    try:
        descriptor = Descriptor.model_validate_json(text)
    except ValidationError as error:
        raise MalformedDescriptor(version) from error
    if descriptor.version != version:
        raise MalformedDescriptor(version)
    return descriptor
