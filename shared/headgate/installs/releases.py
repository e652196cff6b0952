"""Files for installs: collector, supervisor and chart, as an operator published them.

They are objects of the bucket under `install/`, where `manifest.json` names them. The programs are larger than an
answer of a function, so a host is sent to them by S3's own signed URLs. A local service does not keep hundreds of
megabytes twice: its manifest names programs by their paths, below the folders that HEADGATE_RELEASES_DIRS allows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from headgate.deployments.programs import Architecture, Program, ProgramFile
from headgate.foundation import errors
from headgate.foundation.settings import settings
from headgate.storage import objects

PREFIX: Final = "install/"
MANIFEST: Final = "manifest.json"
CHART: Final = "headgate-supervisor.tgz"
ARCHITECTURES: Final[tuple[Architecture, ...]] = ("amd64", "arm64")
SYSTEMS: Final = {"windows": "windows", "macos": "darwin"}
"""Names in Go of the platforms whose programs have their name."""
_URL_SECONDS: Final = 900
"""Long enough to begin; S3 lets a download end that began in time."""


class ReleaseNotPublished(errors.Unavailable):
    """The operator has not published what is to be installed."""

    code = "release_not_published"
    no_fault = True

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not published on this server; its operator runs `make publish-install`")


class ArtifactNotFound(errors.NotFound):
    """No release has a file of that name."""

    code = "artifact_not_found"
    detail = "An install has no such file"


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file to fetch. `key` is its object's key, or its path on this machine; `sha256` is of the bytes to fetch.

    `binary_sha256` and `size` are of a program itself; empty for the chart.
    """

    key: str
    sha256: str
    compressed: bool
    binary_sha256: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Release:
    """Published files: `collector-amd64`, `supervisor-windows-arm64` and so on, and the chart; any may be missing.

    Collectors of other versions, to which hosts can be moved, are `collector-0.158.0-amd64`.
    """

    collector_version: str
    supervisor_version: str
    artifacts: Mapping[str, Artifact]

    def artifact(self, name: str) -> Artifact:
        """Raises ReleaseNotPublished, ArtifactNotFound."""
        artifact = self.artifacts.get(name)
        if artifact is None and name in names():
            raise ReleaseNotPublished(name)
        if artifact is None:
            raise ArtifactNotFound
        return artifact

    def program(self, sha256: str) -> Artifact:
        """The program with that hash of what is fetched. Raises ArtifactNotFound."""
        for name, artifact in self.artifacts.items():
            if artifact.sha256 == sha256 and name != CHART:
                return artifact
        raise ArtifactNotFound

    def collector(self, version: str) -> Program | None:
        """The collector of that version, to pin; None if it is not published for any architecture."""
        default = "collector-{arch}" if version == self.collector_version else ""
        return self._pinned(version, (f"collector-{version}-{{arch}}", default))

    def supervisor(self) -> Program | None:
        """The supervisor, to pin."""
        return self._pinned(self.supervisor_version, ("supervisor-{arch}",))

    def collectors(self) -> Mapping[str, Sequence[Architecture]]:
        """The versions of the collector that hosts can be moved to, each with its architectures."""
        parts = [name.split("-") for name in self.artifacts]
        others = {version for part, *more in parts if part == "collector" for version in more[:-1]}.difference(SYSTEMS)
        pinned = filter(None, map(self.collector, {*others, self.collector_version}))
        return {each.version: [arch for arch in ARCHITECTURES if arch in each.files] for each in pinned}

    def _pinned(self, version: str, patterns: Sequence[str]) -> Program | None:
        files: dict[str, ProgramFile] = {}
        for arch in ARCHITECTURES:
            for pattern in filter(None, patterns):
                artifact = self.artifacts.get(pattern.format(arch=arch))
                if artifact and artifact.binary_sha256:
                    files[arch] = ProgramFile(
                        artifact.sha256, artifact.compressed, artifact.binary_sha256, artifact.size
                    )
                    break
        return Program(version, files) if files else None

    def encode(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode()

    @classmethod
    def decode(cls, content: bytes) -> Release:
        described = json.loads(content)
        artifacts = {name: Artifact(**artifact) for name, artifact in described["artifacts"].items()}
        return cls(described["collector_version"], described["supervisor_version"], artifacts)


def names() -> list[str]:
    """Names of the files that a release may contain, beside collectors of further versions."""
    systems = ("", *(f"{platform}-" for platform in SYSTEMS))
    parts = ("collector", "supervisor")
    return [f"{part}-{system}{arch}" for part in parts for system in systems for arch in ARCHITECTURES] + [CHART]


def current() -> Release:
    """One read. Raises ReleaseNotPublished."""
    return Release.decode(_object(PREFIX + MANIFEST))


def collectors() -> Mapping[str, Sequence[Architecture]]:
    """The versions that hosts can be moved to, each with its architectures; none if nothing is published. One read."""
    content = objects.read_if_there(PREFIX + MANIFEST)
    return Release.decode(content).collectors() if content else {}


def path(artifact: Artifact) -> Path | None:
    """The file's path on this machine; None if it is an object. Raises ArtifactNotFound outside the allowed folders."""
    if not artifact.key.startswith("/"):
        return None
    path = Path(artifact.key).resolve()
    if not any(path.is_relative_to(Path(allowed).resolve()) for allowed in settings().releases_dirs):
        raise ArtifactNotFound
    return path


def url(artifact: Artifact) -> str:
    """S3's signed URL of this one object, valid for a quarter of an hour; no call to S3."""
    return objects.link(artifact.key, _URL_SECONDS)


def content(artifact: Artifact) -> bytes:
    """The whole object; for small ones. One read. Raises ReleaseNotPublished."""
    return _object(artifact.key)


def _object(key: str) -> bytes:
    content = objects.read_if_there(key)
    if content is None:
        raise ReleaseNotPublished("A release")
    return content
