"""A build that is taken from a wheel: only exactly this build, and only as it was packed."""

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import zstandard

from tests.support.service import ROOT

LAYERS = ROOT / "layers"
PATH = os.pathsep.join(str(LAYERS / name) for name in ("collector", "supervisor"))
NOT_AT_HAND = 3
CONTENT = {"otelcol-contrib": b"the collector" * 100, "headgate-supervisor": b"the supervisor" * 100}
BUILDS = """
import json; import supervisor_build; from building import collector; from building.target import Target
target, version = Target.named(None), collector.default_version()
print(json.dumps({f"collectors/{version}/otelcol-contrib": collector.digest(target, version),
    f"supervisor/linux-{target.architecture}/headgate-supervisor": supervisor_build.digest(target)}))
"""


@pytest.fixture(scope="module")
def builds() -> dict[str, str]:
    """The hash of what each program is built from, by its path."""
    command = [sys.executable, "-c", BUILDS]
    said = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": PATH}, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    found: dict[str, str] = json.loads(said)
    return found


def pack(folder: Path, builds: dict[str, str], content: dict[str, bytes] = CONTENT) -> None:
    """A wheel with programs of these builds, described as CONTENT."""
    programs, packed = {}, {}
    for path, build in builds.items():
        name = Path(path).name
        packed[f"{name}.zst"] = zstandard.compress(content[name])
        sha256, size = hashlib.sha256(CONTENT[name]).hexdigest(), len(CONTENT[name])
        programs[path] = {"packed": f"{name}.zst", "build": build, "sha256": sha256, "size": size}
    folder.mkdir()
    with zipfile.ZipFile(folder / "headgate_collector-0.1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("headgate_collector/programs.json", json.dumps({"programs": programs}))
        for name, bytes_ in packed.items():
            archive.writestr(f"headgate_collector/{name}", bytes_)
        information = "headgate_collector-0.1.0.dist-info"
        archive.writestr(f"{information}/METADATA", "Metadata-Version: 2.1\nName: headgate-collector\nVersion: 0.1.0\n")
        archive.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{information}/RECORD", "")


def at_hand(cache: Path, links: Path) -> subprocess.CompletedProcess[str]:
    variables = {
        "HEADGATE_CACHE": str(cache),
        "HEADGATE_COLLECTORS_DIR": str(cache / "collectors"),
        "HEADGATE_FIND_LINKS": str(links),
        "PYTHONPATH": PATH,
    }
    command = [sys.executable, "-m", "supervisor_build", "at-hand"]
    return subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)


def test_a_wheel_of_this_build_takes_the_place_of_building(tmp_path: Path, builds: dict[str, str]) -> None:
    pack(tmp_path / "dist", builds)
    done = at_hand(tmp_path / "cache", tmp_path / "dist")
    (collector,) = (tmp_path / "cache" / "collectors").glob("*/otelcol-contrib")
    (supervisor,) = (tmp_path / "cache" / "supervisor").glob("linux-*/headgate-supervisor")

    assert done.returncode == 0, done.stderr
    assert (collector.read_bytes(), supervisor.read_bytes()) == tuple(CONTENT.values())
    assert os.access(collector, os.X_OK)


def test_a_wheel_of_another_build_is_left_alone(tmp_path: Path, builds: dict[str, str]) -> None:
    pack(tmp_path / "dist", dict.fromkeys(builds, "0" * 64))
    done = at_hand(tmp_path / "cache", tmp_path / "dist")

    assert (done.returncode, "is of another build than this checkout" in done.stderr) == (NOT_AT_HAND, True)
    assert not (tmp_path / "cache" / "collectors").exists()


def test_a_program_that_is_not_the_one_described_is_refused(tmp_path: Path, builds: dict[str, str]) -> None:
    pack(tmp_path / "dist", builds, {name: content[::-1] for name, content in CONTENT.items()})
    done = at_hand(tmp_path / "cache", tmp_path / "dist")

    assert done.returncode == 1
    assert "otelcol-contrib is not the program that it describes; remove it, or build it again" in done.stderr
    assert not list((tmp_path / "cache").rglob("otelcol-contrib"))


def test_without_a_wheel_it_has_to_be_built(tmp_path: Path) -> None:
    (tmp_path / "dist").mkdir()
    done = at_hand(tmp_path / "cache", tmp_path / "dist")

    assert (done.returncode, "There is no wheel headgate-collector at hand" in done.stderr) == (NOT_AT_HAND, True)
