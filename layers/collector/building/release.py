"""Installs another version of otelcol-contrib: built from source if it can be, else the official release.

A release is checked against the checksums published with it. It gives plain verdicts only, for it has no `check`.
"""

import hashlib
import os
import re
import shutil
import tarfile
from pathlib import Path
from typing import IO

from building import collector, regeneration
from building.cache import Cache
from building.download import open_url
from building.errors import BuildError
from building.target import Target

# The official releases. HEADGATE_RELEASES_URL replaces the address by a mirror's.
RELEASES = "https://github.com/open-telemetry/opentelemetry-collector-releases/releases/download"
CHECKSUMS = "opentelemetry-collector-releases_otelcol-contrib_checksums.txt"
_VERSION = re.compile(r"(0|[1-9]\d{0,5})(\.(0|[1-9]\d{0,5})){2}", re.ASCII)


def install(cache: Cache, target: Target, version: str, manifest: Path | None = None, *, reduced: bool = False) -> Path:
    """The path of a version's collector. Raises BuildError.

    A whole version of `versions/` is built. Any other is made of its official manifest, or of this one, in the same
    way, if the module proxy serves all of it; else its official release is downloaded and verified. With `reduced`, it
    is built without the components that are not served.
    """
    if not _VERSION.fullmatch(version):
        raise BuildError(f"{version!r} is not a version: a version has the form X.Y.Z")
    if manifest is None and _is_buildable(version, reduced=reduced):
        return collector.build(cache, target, version)
    folder = cache.collectors / version
    # A build is a link, so this is an official release.
    if manifest is None and not reduced and _is_release(folder):
        return folder / collector.BINARY
    if regeneration.make(cache, version, manifest, reduced=reduced):
        return collector.build(cache, target, version)
    with cache.locked("release"):
        if not _is_release(folder):
            with cache.new_folder(folder) as part:
                _download(target, version, part)
    return folder / collector.BINARY


def _is_buildable(version: str, *, reduced: bool) -> bool:
    """Whether there are sources of the version, whole unless it may be reduced."""
    if version in collector.versions():
        return reduced or not regeneration.is_reduced(version)
    return reduced and version in collector.versions(collector.FIXTURES)


def _is_release(folder: Path) -> bool:
    return (folder / collector.BINARY).is_file() and not folder.is_symlink()


def _download(target: Target, version: str, folder: Path) -> None:
    base = os.environ.get("HEADGATE_RELEASES_URL") or RELEASES
    archive = f"otelcol-contrib_{version}_{target.os}_{target.architecture}.tar.gz"
    with open_url(f"{base}/v{version}/{CHECKSUMS}", f"release {version} of otelcol-contrib") as response:
        expected = _checksum(response.read(1 << 20).decode(errors="replace"), archive)
    if expected is None:
        # So in releases 0.123 to 0.129 for Linux: open-telemetry/opentelemetry-collector-releases#1002.
        raise BuildError(
            f"The checksums published with release {version} do not cover {archive}; nothing was installed"
        )
    packed = folder / archive
    with open_url(f"{base}/v{version}/{archive}", archive) as response, packed.open("wb") as file:
        actual = _copy(response, file, archive)
    if actual != expected:
        raise BuildError(
            f"{archive} does not match its published checksum: {actual}, not {expected}; nothing was installed"
        )
    _unpack(packed, folder / collector.BINARY)
    packed.unlink()


def _checksum(text: str, archive: str) -> str | None:
    for line in text.splitlines():
        match line.split():
            case [checksum, name] if name.removeprefix("*") == archive and re.fullmatch("[0-9a-f]{64}", checksum):
                return checksum
    return None


def _copy(response: IO[bytes], file: IO[bytes], archive: str) -> str:
    total = hashlib.sha256()
    try:
        while chunk := response.read(1 << 20):
            total.update(chunk)
            file.write(chunk)
    except OSError as error:
        raise BuildError(f"The download of {archive} broke off: {error}; nothing was installed") from error
    return total.hexdigest()


def _unpack(packed: Path, binary: Path) -> None:
    try:
        with tarfile.open(packed, "r:gz") as archive:
            member = archive.extractfile(collector.BINARY)
            if member is None:
                raise KeyError(collector.BINARY)
            with member, binary.open("wb") as file:
                shutil.copyfileobj(member, file, 1 << 20)
    except (tarfile.TarError, KeyError, EOFError, OSError) as error:
        raise BuildError(f"{packed.name} contains no {collector.BINARY}: {error}; nothing was installed") from error
    binary.chmod(0o755)
