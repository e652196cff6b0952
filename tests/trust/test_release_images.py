"""The image `headgate`, whole: built twice, unpacked and run. `make trust` only, for its layers take half a minute."""

import hashlib
import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from headgate_cli.local import collectors
from scripts.releasing import images, programs, wheels
from scripts.releasing.source import CheckoutSource, version
from tests.support.cli_support import BROKEN, EDGE

pytestmark = pytest.mark.full
# In namespaces of its own, with /dev and /proc as a container has them.
INSIDE = (
    'mount --rbind /dev "$1/dev" && mount --rbind /proc "$1/proc" && '
    'exec chroot "$1" /usr/bin/env -i -C /work PATH=/opt/headgate/bin:/usr/bin:/bin LANG=C.UTF-8 '
    "HEADGATE_COLLECTORS_DIR=/opt/headgate/collectors headgate validate --local edge.yaml"
)


def built(folder: Path, cache: Path) -> Path:
    folder.mkdir()
    source, made = CheckoutSource("0" * 40, 1_763_000_000, False, version()), programs.built(programs.here())
    return images.command_line(source, made, wheels.command_line(source, folder), cache, folder)


def test_the_image_gives_verdicts_and_is_the_same_when_it_is_built_again(tmp_path: Path) -> None:
    first = built(tmp_path / "first", tmp_path / "cache")
    # Nothing of the first one's layers is used again but Debian's packages, which are known by their hashes.
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "debian").symlink_to(tmp_path / "cache" / "debian")
    second = built(tmp_path / "second", tmp_path / "other")
    root = unpacked(first, tmp_path / "root")
    said = {name: validated(root, text) for name, text in (("right", EDGE), ("wrong", BROKEN))}

    assert hashlib.sha256(first.read_bytes()).digest() == hashlib.sha256(second.read_bytes()).digest()
    assert said["right"] == (0, f"edge.yaml: valid on otelcol-contrib {collectors.DEFAULT}\n")
    assert said["wrong"][0] == 1
    assert "time: unknown unit [invalid_value]" in said["wrong"][1]


def unpacked(archive: Path, root: Path) -> Path:
    with tarfile.open(archive) as layout:

        def blob(digest: str) -> bytes:
            file = layout.extractfile(f"blobs/sha256/{digest.removeprefix('sha256:')}")
            assert file is not None
            return file.read()

        index = layout.extractfile("index.json")
        assert index is not None
        manifest = json.loads(blob(json.load(index)["manifests"][0]["digest"]))
        root.mkdir()
        for one in manifest["layers"]:
            layer = root.with_name("layer.tar.gz")
            layer.write_bytes(blob(one["digest"]))
            subprocess.run(["tar", "--extract", "--no-same-owner", "--file", layer, "--directory", root], check=True)
    return root


def validated(root: Path, text: str) -> tuple[int, str]:
    (root / "work" / "edge.yaml").write_text(text)
    command = [
        "unshare",
        *(["--map-root-user"] if os.geteuid() else []),
        "--mount",
        "sh",
        "-c",
        INSIDE,
        "sh",
        str(root),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr
