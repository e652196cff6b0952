"""The programs of the wheel `headgate-collector`: unpacked once, never other than they were packed."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from headgate_cli import collector_wheel
from headgate_cli.local import collectors
from headgate_cli.local.collectors import NoCollector
from tests.support.service import ROOT

CONTENT = b"the program" * 1_000
PLACE = "collectors/0.139.0/otelcol-contrib"
UNPACK = "import headgate_collector as wheel, pathlib, sys; print(wheel.unpacked(pathlib.Path(sys.argv[1])))"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of packages with the wheel in it."""
    package = tmp_path / "site" / "headgate_collector"
    shutil.copytree(ROOT / "wheels/collector/headgate_collector", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "otelcol-contrib.zst").write_bytes(zstandard.compress(CONTENT))
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    program = {"packed": "otelcol-contrib.zst", "build": "b" * 64, "sha256": sha256, "size": len(CONTENT)}
    described = {"collector_version": "0.139.0", "supervisor_version": "0.149.0", "programs": {PLACE: program}}
    (package / "programs.json").write_text(json.dumps(described))
    return package.parent


@pytest.fixture
def installed(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """It is installed beside the command line, and this is the cache."""
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delenv("HEADGATE_COLLECTORS_DIR", raising=False)
    monkeypatch.setenv("HEADGATE_CACHE", str(tmp_path / "cache"))
    yield tmp_path / "cache"
    sys.modules.pop(collector_wheel.PACKAGE, None)


def find() -> Path:
    return collectors.of_wheel()[collectors.default()]


def unpacking(site: Path, cache: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", UNPACK, str(cache)]
    return subprocess.Popen(command, cwd=site, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_local_finds_it_without_a_checkout(installed: Path) -> None:
    binary = find()

    assert binary.read_bytes() == CONTENT
    assert binary.stat().st_mode & 0o111
    assert binary.is_relative_to(installed)
    assert collectors.installed() == ["0.139.0"]


def test_it_is_unpacked_once(installed: Path) -> None:
    first = find().stat()

    assert find().stat().st_ino == first.st_ino


def test_processes_that_start_at_once_find_the_same_whole_program(site: Path, tmp_path: Path) -> None:
    processes = [unpacking(site, tmp_path / "cache") for _ in range(4)]
    folders = {process.communicate()[0].strip() for process in processes}

    assert len(folders) == 1
    (folder,) = folders
    assert (Path(folder) / PLACE).read_bytes() == CONTENT
    assert [path.name for path in Path(folder).parent.iterdir() if path.is_dir()] == [Path(folder).name]


def test_a_program_that_was_cut_is_unpacked_again(installed: Path) -> None:
    find().write_bytes(CONTENT[:100])

    assert find().read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("packed", "said"),
    [
        (zstandard.compress(CONTENT[::-1]), "is not the program of this release"),
        (zstandard.compress(CONTENT + b"more"), "is not the program of this release"),
        (zstandard.compress(CONTENT)[:-8], "headgate-collector again"),
        (b"not compressed", "cannot be unpacked"),
    ],
    ids=["another", "longer", "cut", "not compressed"],
)
def test_a_damaged_wheel_is_refused_and_leaves_nothing(installed: Path, site: Path, packed: bytes, said: str) -> None:
    (site / "headgate_collector" / "otelcol-contrib.zst").write_bytes(packed)

    with pytest.raises(NoCollector, match=said):
        find()
    assert [path.name for path in (installed / "wheel").iterdir()] == [".lock"]


def test_a_cache_that_cannot_be_written_is_named(installed: Path) -> None:
    installed.write_text("a file")

    with pytest.raises(NoCollector, match=r"cannot unpack the collector: .*cache"):
        find()


def test_only_the_last_two_releases_stay_unpacked(site: Path, installed: Path) -> None:
    description = site / "headgate_collector" / "programs.json"
    for build in "123":
        described = json.loads(description.read_text())
        described["programs"][PLACE]["build"] = build
        description.write_text(json.dumps(described))
        find()

    assert len([path for path in (installed / "wheel").iterdir() if path.is_dir()]) == 2
