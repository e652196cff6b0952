"""Image layouts to the OCI image specification 1.1, written without a daemon, as one archive each.

https://github.com/opencontainers/image-spec: image-layout.md, manifest.md, config.md, layer.md.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_LEVEL: Final = 6
_LAYER: Final = "application/vnd.oci.image.layer.v1.tar+gzip"
_CONFIG: Final = "application/vnd.oci.image.config.v1+json"
_MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
_INDEX: Final = "application/vnd.oci.image.index.v1+json"


class Layer:
    """The files of a layer: sorted, of root, with one time on all of them."""

    def __init__(self, epoch: int) -> None:
        self._epoch = epoch
        self._entries: dict[str, tuple[tarfile.TarInfo, bytes | Path]] = {}

    def add(
        self, name: str, kind: bytes = tarfile.REGTYPE, mode: int = 0o644, content: bytes | Path = b"", target: str = ""
    ) -> None:
        """A file, folder or link at a path without a leading slash. The folders above it are made."""
        folder = name.rpartition("/")[0]
        if folder and folder not in self._entries:
            self.add(folder, tarfile.DIRTYPE, 0o755)
        if kind == tarfile.DIRTYPE and name in self._entries:
            return
        entry = tarfile.TarInfo(name)
        entry.type, entry.mode, entry.mtime, entry.linkname = kind, mode, self._epoch, target
        if kind == tarfile.REGTYPE:
            entry.size = content.stat().st_size if isinstance(content, Path) else len(content)
        self._entries[name] = (entry, content)

    def write(self, file: IO[bytes]) -> None:
        """Write the layer as a tar archive, hard links behind what they link to."""
        with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for entry, content in sorted(self._entries.values(), key=lambda item: (item[0].islnk(), item[0].name)):
                if isinstance(content, Path):
                    with content.open("rb") as source:
                        archive.addfile(entry, source)
                else:
                    archive.addfile(entry, io.BytesIO(content))


@dataclass(frozen=True, slots=True)
class LayerBlob:
    """A compressed layer: its file, the digest of that, and the digest of what is in it (`diff_id`)."""

    file: Path
    digest: str
    diff_id: str


@dataclass(frozen=True, slots=True)
class Image:
    """The command of an image. `labels` go into the configuration, and as annotations into the manifest."""

    name: str
    version: str
    architecture: str
    created: int
    config: Mapping[str, object]
    labels: Mapping[str, str]
    layers: list[LayerBlob] = field(default_factory=list)


def compressed(layer: Layer, file: Path) -> LayerBlob:
    """Write the layer to the file."""
    whole, packed = hashlib.sha256(), hashlib.sha256()
    with (
        file.open("wb") as target,
        gzip.GzipFile(
            fileobj=_Hashing(target, packed), mode="wb", compresslevel=_LEVEL, mtime=0, filename=""
        ) as zipped,
    ):
        layer.write(_Hashing(zipped, whole))
    return LayerBlob(file, packed.hexdigest(), whole.hexdigest())


def write(image: Image, archive: Path) -> None:
    """Write the image's layout as a tar archive (`oci-archive` of skopeo and podman, `docker load`)."""
    config = _json(
        {
            "architecture": image.architecture,
            "os": "linux",
            "created": datetime.fromtimestamp(image.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "config": {**image.config, "Labels": dict(image.labels)},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{entry.diff_id}" for entry in image.layers]},
        }
    )
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": _descriptor(_CONFIG, _sha256(config), len(config)),
            "layers": [_descriptor(_LAYER, entry.digest, entry.file.stat().st_size) for entry in image.layers],
            "annotations": dict(image.labels),
        }
    )
    named = {"org.opencontainers.image.ref.name": image.version}
    platform = {"architecture": image.architecture, "os": "linux"}
    described = _descriptor(_MANIFEST, _sha256(manifest), len(manifest))
    index = _json(
        {
            "schemaVersion": 2,
            "mediaType": _INDEX,
            "manifests": [{**described, "platform": platform, "annotations": named}],
        }
    )
    layout = Layer(image.created)
    layout.add("oci-layout", content=_json({"imageLayoutVersion": "1.0.0"}))
    layout.add("index.json", content=index)
    for content in (config, manifest):
        layout.add(f"blobs/sha256/{_sha256(content)}", content=content)
    for layer in image.layers:
        layout.add(f"blobs/sha256/{layer.digest}", content=layer.file)
    with archive.open("wb") as file:
        layout.write(file)


def _descriptor(media_type: str, digest: str, size: int) -> dict[str, object]:
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": size}


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class _Hashing(io.BytesIO):
    """Passes on what is written, and hashes it; holds nothing."""

    def __init__(self, target: IO[bytes] | gzip.GzipFile, digest: hashlib._Hash) -> None:
        super().__init__()
        self._target = target
        self._digest = digest
        self._written = 0

    def write(self, data: ReadableBuffer, /) -> int:
        self._digest.update(data)
        self._written += self._target.write(data)
        return memoryview(data).nbytes

    def tell(self) -> int:
        return self._written
