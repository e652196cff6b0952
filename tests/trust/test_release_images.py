"""The released images, whole: built, unpacked and run. `make trust` only, for their layers take half a minute."""

import hashlib
import json
import os
import shlex
import signal
import subprocess
import tarfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from headgate_cli.local import collectors
from scripts.releasing import images, programs, wheels
from scripts.releasing.source import CheckoutSource, version
from tests.support.cli_support import BROKEN, EDGE
from tests.support.ports import free_port
from tests.support.service import SIGN_IN_LINK

pytestmark = pytest.mark.full
RUN = {
    "target_pipeline": "logs",
    "signal_type": "logs",
    "sample": "a line",
    "rules": [{"name": "of the team", "condition": 'log.attributes["team"] == "edge"', "expect": "all"}],
}
# In namespaces of its own, with /dev and /proc as a container has them.
UNSHARED = ["unshare", *(["--map-root-user"] if os.geteuid() else []), "--mount", "--pid", "--fork", "--kill-child"]
MOUNTED = 'mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && exec chroot "$1"'
INSIDE = (
    f"{MOUNTED} /usr/bin/env -i -C /work PATH=/opt/headgate/bin:/usr/bin:/bin LANG=C.UTF-8 "
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


def test_the_image_of_the_local_service_serves_validates_and_runs_tests(tmp_path: Path) -> None:
    source, entry = CheckoutSource("0" * 40, 1_763_000_000, False, version()), programs.built(programs.here())
    packages = [make(source, tmp_path) for make in (wheels.command_line, wheels.local_service)]
    archive = images.local_service(source, entry, packages, tmp_path / "cache", tmp_path)
    root, port = unpacked(archive, tmp_path / "root"), free_port()
    settings = configuration(archive)
    assert settings["User"] == "0:0"
    environment = [*settings["Env"], f"HEADGATE_PORT={port}"]
    inside = ["/usr/bin/env", "-i", "-C", settings["WorkingDir"], *environment, *settings["Entrypoint"]]
    command = [*UNSHARED, "sh", "-c", f"{MOUNTED} {shlex.join(inside)}", "sh", str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            printed = ""
            while SIGN_IN_LINK not in printed:
                line = process.stdout.readline()
                assert line, printed
                printed += line
            # What `docker stop` sends, to the first process of the container; `unshare` itself blocks it.
            (service,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            token = json.loads((root / "data" / "tokens.json").read_text())["read_write_token"]
            with httpx.Client(
                base_url=f"http://127.0.0.1:{port}/api/v1/public",
                headers={"Authorization": f"Bearer {token}"},
                timeout=120,
            ) as api:
                verdict = api.post("/validate", json={"yaml": EDGE}).json()
                run = api.post("/testing/runs", json={"yaml": EDGE, **RUN}).raise_for_status().json()
                while run["status"] in ("Queued", "Running"):
                    time.sleep(0.5)
                    run = api.get(f"/testing/runs/{run['id']}").json()
            os.kill(int(service), signal.SIGTERM)
            process.communicate(timeout=60)
        finally:
            process.kill()

    assert (verdict["valid"], verdict["errors"]) == (True, [])
    assert run["status"] == "Success", run
    assert process.returncode == 0


def configuration(archive: Path) -> Mapping[str, Any]:
    """What the image runs, as its own configuration says."""
    with tarfile.open(archive) as layout:

        def read(name: str) -> Mapping[str, Any]:
            file = layout.extractfile(name)
            assert file is not None
            content: Mapping[str, Any] = json.load(file)
            return content

        def blob(digest: str) -> Mapping[str, Any]:
            return read(f"blobs/sha256/{digest.removeprefix('sha256:')}")

        manifest = blob(read("index.json")["manifests"][0]["digest"])
        settings: Mapping[str, Any] = blob(manifest["config"]["digest"])["config"]
        return settings


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
    command = [*UNSHARED, "sh", "-c", INSIDE, "sh", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr
