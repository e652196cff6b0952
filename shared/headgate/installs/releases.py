"""What an install fetches: collector, supervisor and chart, as an operator published them.

They are objects of the bucket under `install/`, where `manifest.json` names them. The programs are larger than an
answer of a function, so a host is sent to them by S3's own signed URLs. A local service does not keep hundreds of
megabytes twice: its manifest names programs by their paths, below the folders that HEADGATE_RELEASES_DIRS allows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from headgate.foundation import errors
from headgate.settings import settings
from headgate.storage import objects

PREFIX: Final = "install/"
MANIFEST: Final = "manifest.json"
CHART: Final = "headgate-supervisor.tgz"
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

    def __init__(self) -> None:
        super().__init__("An install has no such file")


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file to fetch. `key` is its object's key, or its path on this machine; `sha256` is of the bytes to fetch."""

    key: str
    sha256: str
    compressed: bool


@dataclass(frozen=True, slots=True)
class Release:
    """What is published: `collector-amd64`, `supervisor-arm64` and so on, and the chart; an architecture may lack."""

    collector_version: str
    supervisor_version: str
    artifacts: Mapping[str, Artifact]

    def artifact(self, name: str) -> Artifact:
        """Raises ReleaseNotPublished, ArtifactNotFound."""
        if name not in names():
            raise ArtifactNotFound
        artifact = self.artifacts.get(name)
        if artifact is None:
            raise ReleaseNotPublished(name)
        return artifact

    def encode(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode()

    @classmethod
    def decode(cls, content: bytes) -> Release:
        described = json.loads(content)
        artifacts = {name: Artifact(**artifact) for name, artifact in described["artifacts"].items()}
        return cls(described["collector_version"], described["supervisor_version"], artifacts)


def names() -> list[str]:
    """Names of the files that a release may contain."""
    return [f"{part}-{arch}" for part in ("collector", "supervisor") for arch in ("amd64", "arm64")] + [CHART]


def current() -> Release:
    """One read. Raises ReleaseNotPublished."""
    return Release.decode(_object(PREFIX + MANIFEST))


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
