"""The Debian packages of the images: locked by SHA-256 in images/packages.lock, fetched once, unpacked without dpkg.

`python -m scripts.releasing.debian` locks what images/packages.in names, as apt finds it: apt checks the signatures.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import httpx

from scripts.releasing.source import ROOT, CannotRelease

SUITE: Final = "bookworm"
# HEADGATE_DEBIAN_MIRROR replaces it. A mirror removes a version when the next one comes; the snapshots keep all.
MIRROR: Final = "https://deb.debian.org"
SNAPSHOT: Final = "https://snapshot.debian.org/archive"
NAMED: Final = ROOT / "images" / "packages.in"
LOCK: Final = ROOT / "images" / "packages.lock"
_SECONDS: Final = 120
# Not needed to run anything; the licences in usr/share/doc stay.
_LEFT_OUT: Final = re.compile(
    r"usr/share/(man|locale|info|lintian|bash-completion|doc-base|menu|bug)/|usr/share/doc/[^/]+/(?!copyright$)|"
    r"etc/(cron|logrotate|init)\.|usr/lib/python3\.11/(test|idlelib|ensurepip|lib2to3|pydoc_data)/"
)
_MERGED: Final = re.compile(r"(bin|sbin|lib|lib64)(/|$)")


@dataclass(frozen=True, slots=True, order=True)
class Package:
    """A line of the lock. `archive` is `debian` or `debian-security`."""

    architecture: str
    name: str
    version: str
    sha256: str
    archive: str
    path: str


@dataclass(frozen=True, slots=True)
class PackageEntry:
    """A file, link or folder of a package; `content` is that of a file."""

    name: str
    kind: bytes
    mode: int
    content: bytes = b""
    target: str = ""


def locked(architecture: str) -> list[Package]:
    """The packages of an architecture."""
    lines = [line.split() for line in LOCK.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [package for package in (Package(*line) for line in lines) if package.architecture == architecture]


def locked_at() -> int:
    """The time at which the packages were locked, in seconds since 1970: the time of every file in them."""
    result = re.search(r"^# snapshot \S+ (\d+)$", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    assert result is not None
    return int(result[1])


def entries(package: Package, cache: Path) -> Iterator[PackageEntry]:
    """The package's files, below `usr` where Debian has merged folders, and its description for scanners."""
    parts = dict(_members(_fetched(package, cache)))
    with _tar(parts, "control") as control:
        described = control.extractfile(next(item for item in control if item.name.removeprefix("./") == "control"))
        assert described is not None
        yield PackageEntry(f"var/lib/dpkg/status.d/{package.name}", tarfile.REGTYPE, 0o644, described.read())
    with _tar(parts, "data") as data:
        for entry in data:
            name = _merged(entry.name.removeprefix("./").rstrip("/"))
            if not name or _LEFT_OUT.match(name) or (entry.isdir() and _MERGED.fullmatch(entry.name.strip("./"))):
                continue
            if entry.isdir():
                yield PackageEntry(name, tarfile.DIRTYPE, entry.mode)
            elif entry.issym():
                yield PackageEntry(name, tarfile.SYMTYPE, 0o777, target=entry.linkname)
            elif entry.islnk():
                yield PackageEntry(name, tarfile.LNKTYPE, entry.mode, target=_merged(entry.linkname.removeprefix("./")))
            else:
                file = data.extractfile(entry)
                assert file is not None
                yield PackageEntry(name, tarfile.REGTYPE, entry.mode, file.read())


def _merged(name: str) -> str:
    return f"usr/{name}" if _MERGED.match(name) else name


def _fetched(package: Package, cache: Path) -> bytes:
    """The package's file, compared with its SHA-256. Raises CannotRelease."""
    file = cache / "debian" / f"{package.sha256}.deb"
    if not file.is_file():
        mirror = os.environ.get("HEADGATE_DEBIAN_MIRROR") or MIRROR
        snapshot = re.search(r"^# snapshot (\S+) ", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
        assert snapshot is not None
        content = _first(
            [f"{mirror}/{package.archive}/{package.path}", f"{SNAPSHOT}/{package.archive}/{snapshot[1]}/{package.path}"]
        )
        if hashlib.sha256(content).hexdigest() != package.sha256:
            raise CannotRelease(f"{package.path} has another SHA-256 than images/packages.lock says")
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_bytes(content)
        part.replace(file)
    return file.read_bytes()


def _first(addresses: list[str]) -> bytes:
    """The content of the first address that has any."""
    reasons = []
    for address in addresses:
        try:
            return httpx.get(address, timeout=_SECONDS, follow_redirects=True).raise_for_status().content
        except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise CannotRelease(f"{address} is not an address of http or https: mend HEADGATE_DEBIAN_MIRROR") from error
        except httpx.HTTPError as error:
            reasons.append(f"{address}: {error}")
    raise CannotRelease("A package cannot be fetched: " + "; ".join(reasons))


def _members(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """The members of an archive of `ar`, which a .deb is."""
    file = io.BytesIO(archive)
    if file.read(8) != b"!<arch>\n":
        raise CannotRelease("A package is not an archive of `ar`")
    while header := file.read(60):
        size = int(header[48:58])
        yield header[:16].decode().strip().rstrip("/"), file.read(size)
        file.seek(size % 2, io.SEEK_CUR)


def _tar(parts: dict[str, bytes], name: str) -> tarfile.TarFile:
    packed = next(content for member, content in parts.items() if member.startswith(f"{name}.tar"))
    return tarfile.open(fileobj=io.BytesIO(packed), mode="r:*")


def lock(architecture: str, folder: Path) -> list[Package]:
    """The newest version of each named package, from indexes whose signatures apt has checked."""
    sources = folder / "sources.list"
    sources.write_text(
        f"deb {MIRROR}/debian {SUITE} main\ndeb {MIRROR}/debian-security {SUITE}-security main\n", encoding="utf-8"
    )
    (folder / "lists" / "partial").mkdir(parents=True)
    settings = {
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        # Otherwise an index that cannot be fetched is a warning, and its updates would not be locked.
        "APT::Update::Error-Mode": "any",
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": folder / "lists",
        "Dir::State::status": "/dev/null",
        "Dir::Cache": folder,
    }
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    subprocess.run(["apt-get", *options, "update", "-qq"], check=True)
    names = [line for line in NAMED.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    results = []
    for name in names:
        shown = subprocess.check_output(["apt-cache", *options, "--no-all-versions", "show", name], text=True)
        fields = dict(re.findall(r"^(\S+): (.*)$", shown, re.MULTILINE))
        archive = "debian-security" if fields["Filename"].startswith("pool/updates/") else "debian"
        results.append(Package(architecture, name, fields["Version"], fields["SHA256"], archive, fields["Filename"]))
    return results


def main() -> int:
    at = datetime.now(UTC).replace(microsecond=0)
    packages = []
    for architecture in ("amd64", "arm64"):
        with tempfile.TemporaryDirectory() as folder:
            packages += lock(architecture, Path(folder))
    lines = [
        "# Written by `python -m scripts.releasing.debian` from packages.in.",
        "# Architecture, name, version, SHA-256, archive, path.",
        f"# snapshot {at:%Y%m%dT%H%M%SZ} {int(at.timestamp())}",
        *(" ".join(astuple(package)) for package in sorted(packages)),
    ]
    LOCK.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
