"""`python -m building release`: an official release is installed whole and verified, or not at all."""

import hashlib
import io
import os
import platform
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support.go_programs import go
from tests.support.listening import listening

MODULE = Path(__file__).resolve().parents[2] / "layers" / "collector"
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
ARCHIVE = f"otelcol-contrib_1.2.3_linux_{ARCHITECTURE}.tar.gz"
CHECKSUMS = "opentelemetry-collector-releases_otelcol-contrib_checksums.txt"
PROGRAM = b"#!/bin/sh\necho otelcol-contrib version 1.2.3\n"


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """The folder of release 1.2.3 as it is published, with its checksums."""
    folder = tmp_path / "releases" / "v1.2.3"
    folder.mkdir(parents=True)
    with tarfile.open(folder / ARCHIVE, "w:gz") as archive:
        for name, content in (("README.md", b"read me"), ("otelcol-contrib", PROGRAM)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    digest = hashlib.sha256((folder / ARCHIVE).read_bytes()).hexdigest()
    (folder / CHECKSUMS).write_text(f"{'0' * 64}  otelcol-contrib_1.2.3_windows_amd64.tar.gz\n{digest}  {ARCHIVE}\n")
    return folder


@pytest.fixture
def base_url(published: Path) -> Iterator[str]:
    handler = partial(Silent, directory=str(published.parent))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with listening(server):
        yield f"http://127.0.0.1:{server.server_port}"


def install(version: str, base_url: str, cache: Path, **more: str) -> subprocess.CompletedProcess[str]:
    env = {
        **{name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")},
        "HEADGATE_CACHE": str(cache),
        "HEADGATE_COLLECTORS_DIR": str(cache / "collectors"),
        "HEADGATE_RELEASES_URL": base_url,
        "HEADGATE_MANIFESTS_URL": base_url,
        **more,
    }
    command = [sys.executable, "-m", "building", "release", version]
    return subprocess.run(command, cwd=MODULE, env=env, capture_output=True, text=True, check=False, timeout=120)


def installed(cache: Path) -> list[str]:
    """What stands in the folder of collectors, hidden leftovers included."""
    return sorted(str(path.relative_to(cache / "collectors")) for path in (cache / "collectors").rglob("*"))


def test_a_release_that_matches_its_checksum_is_installed(base_url: str, tmp_path: Path) -> None:
    done = install("1.2.3", base_url, tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "collectors" / "1.2.3" / "otelcol-contrib")
    assert installed(tmp_path) == ["1.2.3", "1.2.3/otelcol-contrib"]
    said = subprocess.run([done.stdout.strip()], capture_output=True, check=True).stdout
    assert said == b"otelcol-contrib version 1.2.3\n"


def test_a_release_that_is_there_is_not_downloaded_again(base_url: str, published: Path, tmp_path: Path) -> None:
    install("1.2.3", base_url, tmp_path)
    (published / ARCHIVE).unlink()

    assert install("1.2.3", base_url, tmp_path).returncode == 0


def test_a_release_that_does_not_match_its_checksum_is_not_installed(
    base_url: str, published: Path, tmp_path: Path
) -> None:
    with (published / ARCHIVE).open("ab") as archive:
        archive.write(b"something more")

    assert_refused(install("1.2.3", base_url, tmp_path), "does not match its published checksum", tmp_path)


def test_a_release_whose_checksums_leave_it_out_is_not_installed(
    base_url: str, published: Path, tmp_path: Path
) -> None:
    (published / CHECKSUMS).write_text(f"{'0' * 64}  otelcol-contrib_1.2.3_windows_amd64.tar.gz\n")

    assert_refused(install("1.2.3", base_url, tmp_path), "do not cover", tmp_path)


def test_an_archive_without_a_collector_is_not_installed(base_url: str, published: Path, tmp_path: Path) -> None:
    (published / ARCHIVE).write_bytes(b"no archive")
    digest = hashlib.sha256(b"no archive").hexdigest()
    (published / CHECKSUMS).write_text(f"{digest}  {ARCHIVE}\n")

    assert_refused(install("1.2.3", base_url, tmp_path), "contains no otelcol-contrib", tmp_path)


def test_a_reduced_version_for_tests_is_not_what_an_operator_gets(tmp_path: Path) -> None:
    """The module proxy serves nothing here: what is missing is named, and the way to build it all the same."""
    fixture = next((MODULE / "fixtures").iterdir()).name
    # Otherwise Go would be installed into the cache of this test.
    path = f"{Path(go()).parent}{os.pathsep}{os.environ['PATH']}"
    done = install(fixture, "http://127.0.0.1:1", tmp_path, GOPROXY="off", PATH=path)

    assert (done.returncode, done.stdout) == (1, "")
    # It serves none, or what Go has in its cache.
    assert f"Collector {fixture} is not built from source: the module proxy " in done.stderr
    assert "cannot be reached" in done.stderr
    assert installed(tmp_path) == []
    assert not (MODULE / "versions" / fixture).exists()


@pytest.mark.parametrize(("reduced", "buildable"), [("True", "True"), ("False", "False")])
def test_a_reduced_version_is_built_only_on_request(reduced: str, buildable: str) -> None:
    fixture = next((MODULE / "fixtures").iterdir()).name
    asked = f"from building import release; print(release._is_buildable({fixture!r}, reduced={reduced}))"
    said = subprocess.check_output([sys.executable, "-c", asked], cwd=MODULE, text=True)

    assert said.strip() == buildable


def test_a_release_that_does_not_exist_is_named(base_url: str, tmp_path: Path) -> None:
    assert_refused(install("9.9.9", base_url, tmp_path), "There is no release 9.9.9", tmp_path)


def test_unreachable_releases_are_one_clear_line(tmp_path: Path) -> None:
    assert_refused(install("1.2.3", "http://127.0.0.1:1", tmp_path), "cannot be reached", tmp_path)


@pytest.mark.parametrize("version", ["1.2", "../1.2.3", "v1.2.3", "1.2.3-rc1"])
def test_what_is_not_a_version_is_refused(version: str, tmp_path: Path) -> None:
    done = install(version, "http://127.0.0.1:1", tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert "is not a version" in done.stderr


def assert_refused(done: subprocess.CompletedProcess[str], reason: str, cache: Path) -> None:
    assert (done.returncode, done.stdout) == (1, "")
    from_source, from_release = done.stderr.splitlines()
    assert "is not built from source: its manifest cannot be read" in from_source
    assert reason in from_release
    assert installed(cache) == []


@pytest.mark.parametrize("address", ["file:///etc", "ftp://127.0.0.1", "/etc"])
def test_releases_are_read_over_http_only(address: str, tmp_path: Path) -> None:
    assert_refused(install("1.2.3", address, tmp_path), "is not an address of http or https", tmp_path)
