"""Image layouts: every digest and size is that of what it names, and the same files give the same bytes.

Also the folder of a release.
"""

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest

from scripts.releasing import __main__ as making
from scripts.releasing import debian, images, oci
from scripts.releasing.source import CannotRelease

EPOCH = 1_700_000_000
LABELS = {"org.opencontainers.image.title": "headgate"}


def layer(epoch: int = EPOCH) -> oci.Layer:
    made = oci.Layer(epoch)
    made.add("usr/bin/program", mode=0o755, content=b"program")
    made.add("usr/bin/again", tarfile.LNKTYPE, 0o755, target="usr/bin/program")
    made.add("bin", tarfile.SYMTYPE, 0o777, target="usr/bin")
    made.add("tmp", tarfile.DIRTYPE, 0o1777)
    return made


def archive(folder: Path) -> Path:
    folder.mkdir()
    blobs = [oci.compressed(layer(), folder / "layer")]
    made = oci.Image("headgate", "1.2.3", "amd64", EPOCH, {"User": "65532:65532"}, LABELS, blobs)
    oci.write(made, folder / "image.tar")
    return folder / "image.tar"


@pytest.fixture
def layout(tmp_path: Path) -> dict[str, bytes]:
    """The files of a written layout."""
    with tarfile.open(archive(tmp_path / "image")) as written:
        files = {one.name: written.extractfile(one) for one in written if one.isfile()}
        return {name: file.read() for name, file in files.items() if file is not None}


def blob(layout: dict[str, bytes], descriptor: dict[str, object]) -> bytes:
    algorithm, _, digest = str(descriptor["digest"]).partition(":")
    content = layout[f"blobs/{algorithm}/{digest}"]
    assert len(content) == descriptor["size"]
    assert hashlib.sha256(content).hexdigest() == digest
    return content


def test_every_descriptor_names_what_is_there(layout: dict[str, bytes]) -> None:
    (entry,) = json.loads(layout["index.json"])["manifests"]
    manifest = json.loads(blob(layout, entry))
    config = json.loads(blob(layout, manifest["config"]))
    layers = [gzip.decompress(blob(layout, one)) for one in manifest["layers"]]

    assert json.loads(layout["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    assert [f"sha256:{hashlib.sha256(one).hexdigest()}" for one in layers] == config["rootfs"]["diff_ids"]
    assert (config["os"], config["architecture"]) == ("linux", "amd64")
    assert config["config"] == {"User": "65532:65532", "Labels": LABELS}
    assert entry["annotations"] == {"org.opencontainers.image.ref.name": "1.2.3"}


def test_a_layer_has_folders_before_files_and_links_after_them(layout: dict[str, bytes]) -> None:
    (entry,) = json.loads(layout["index.json"])["manifests"]
    (descriptor,) = json.loads(blob(layout, entry))["layers"]
    with tarfile.open(fileobj=io.BytesIO(blob(layout, descriptor))) as packed:
        entries = [(one.name, one.mtime, one.uid, oct(one.mode)) for one in packed]

    assert entries == [
        ("bin", EPOCH, 0, "0o777"),
        ("tmp", EPOCH, 0, "0o1777"),
        ("usr", EPOCH, 0, "0o755"),
        ("usr/bin", EPOCH, 0, "0o755"),
        ("usr/bin/program", EPOCH, 0, "0o755"),
        ("usr/bin/again", EPOCH, 0, "0o755"),
    ]


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    assert archive(tmp_path / "one").read_bytes() == archive(tmp_path / "two").read_bytes()


@pytest.mark.parametrize("architecture", ["amd64", "arm64"])
def test_every_named_package_is_locked_by_its_hash(architecture: str) -> None:
    lines = debian.NAMED.read_text().splitlines()
    named = [line for line in lines if line and not line.startswith("#")]
    locked = debian.locked(architecture)

    assert [one.name for one in locked] == sorted(named)
    assert all(len(one.sha256) == 64 for one in locked)
    assert all(one.path.endswith((f"_{architecture}.deb", "_all.deb")) for one in locked)


def test_a_package_with_another_hash_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = debian.Package("amd64", "netbase", "1", "0" * 64, "debian", "pool/netbase_1_all.deb")
    monkeypatch.setattr(debian, "_first", lambda _addresses: b"another package")

    with pytest.raises(CannotRelease, match=r"has another SHA-256 than images/packages.lock says"):
        list(debian.entries(package, tmp_path))


def test_the_command_line_needs_what_it_names_and_no_service() -> None:
    needed = images.closure(("click", "httpx", "pyyaml"))

    assert {"click", "httpx", "httpcore", "certifi", "pyyaml"} <= needed
    assert not needed & {"boto3", "moto", "fastapi"}


def test_an_earlier_release_is_removed_from_its_folder(tmp_path: Path) -> None:
    for name in ("headgate-1.0.0-py3-none-any.whl", "SHA256SUMS"):
        (tmp_path / name).write_text("earlier")
    making.clear(tmp_path)

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["notes.txt", "headgate/cli.py"])
def test_a_folder_with_something_else_is_not_removed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")

    with pytest.raises(CannotRelease, match="which is not of a release: name another folder with INTO"):
        making.clear(tmp_path)
    assert (tmp_path / name).read_text() == "mine"
