"""How the binary of a version is found, and unpacked where it travels compressed."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import zstandard

from headgate_engine.checker.errors import CheckerFailed, NotInstalled
from headgate_engine.checker.installed import Installed

PROGRAM = b"#!/bin/sh\n" + bytes(range(256)) * 4096


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    compressed = tmp_path / "layer" / "1.2.3" / "otelcol-contrib.zst"
    compressed.parent.mkdir(parents=True)
    compressed.write_bytes(zstandard.compress(PROGRAM))
    return tmp_path / "layer"


def test_a_binary_is_used_where_it_is(tmp_path: Path) -> None:
    binary = tmp_path / "1.2.3" / "otelcol-contrib"
    binary.parent.mkdir()
    binary.touch()

    assert binary == Installed(tmp_path).binary("1.2.3")


def test_a_compressed_binary_is_unpacked_once_for_all_who_ask_at_once(layer: Path, tmp_path: Path) -> None:
    installed = Installed(layer, tmp_path / "unpacked")
    with ThreadPoolExecutor(8) as askers:
        binaries = set(askers.map(installed.binary, ["1.2.3"] * 8))

    (binary,) = binaries
    assert binary.read_bytes() == PROGRAM
    assert binary.stat().st_mode == 0o100755
    assert [binary] == list(binary.parent.iterdir())


def test_a_damaged_archive_leaves_nothing_behind(layer: Path, tmp_path: Path) -> None:
    (layer / "1.2.3" / "otelcol-contrib.zst").write_bytes(zstandard.compress(PROGRAM)[:-100] + b"x" * 100)

    with pytest.raises(CheckerFailed, match="could not be unpacked"):
        Installed(layer, tmp_path / "unpacked").binary("1.2.3")

    assert list((tmp_path / "unpacked" / "1.2.3").iterdir()) == []


def test_what_is_not_there_is_not_installed(layer: Path) -> None:
    with pytest.raises(NotInstalled, match=r"Collector version 9\.9\.9 is not installed"):
        Installed(layer).binary("9.9.9")
