"""What `make release` makes: the same bytes each time, and wheels that do without a checkout."""

import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from email import message_from_bytes
from pathlib import Path

import click
import httpx
import pytest

from headgate_cli.main import headgate
from scripts.releasing import manual, programs, wheels
from scripts.releasing.source import CheckoutSource, version
from scripts.releasing.wheels import Programs
from tests.support import sizes
from tests.support.cli_support import BROKEN, EDGE
from tests.support.ports import free_port
from tests.support.service import READY, ROOT, running_service

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.sized]

FINDING = "error: 'timeout' time: unknown unit [invalid_value]"


@pytest.fixture(scope="module")
def source() -> CheckoutSource:
    """A made-up commit: these tests also run where there is no checkout of git."""
    return CheckoutSource("0" * 40, 1_763_000_000, False, version())


@pytest.fixture(scope="module")
def built() -> Programs:
    """The collector and the supervisor of this machine's platform, compressed."""
    return programs.built(programs.here())


@pytest.fixture(scope="module")
def release(source: CheckoutSource, built: Programs, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels of this machine's platform, by name."""
    folder = tmp_path_factory.mktemp("dist")
    made = [
        wheels.command_line(source, folder),
        wheels.local_service(source, folder),
        wheels.collector(source, built, folder),
    ]
    return {path.name.partition("-")[0]: path for path in made}


@pytest.fixture(scope="module")
def site(release: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the wheels are installed."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile"]
    subprocess.run([*command, "--target", folder, *release.values()], check=True)
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which no collector was ever built."""
    return tmp_path_factory.mktemp("home")


def installed(site: Path, home: Path, **variables: str) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HEADGATE", "XDG"))}
    return {**environment, "HOME": str(home), "PYTHONPATH": str(site), **variables}


@pytest.fixture(scope="module")
def service(site: Path, home: Path) -> Iterator[httpx.Client]:
    """`headgate dev` as the wheels install it; the client has its token."""
    port = free_port()
    command = [sys.executable, "-m", "headgate_cli.main", "dev", "--port", str(port), "--data", "data"]
    with subprocess.Popen(command, cwd=home, env=installed(site, home), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if line.startswith("  export SERVICE_API_TOKEN"):
                break
        assert READY in said, said
        headers = {"Authorization": f"Bearer {said.strip().rpartition('=')[2]}"}
        with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1/public", headers=headers, timeout=120) as client:
            yield client
        process.terminate()
        process.communicate()


@pytest.mark.full
def test_packing_the_same_build_again_gives_the_same_bytes(
    source: CheckoutSource,
    built: Programs,
    release: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    before = os.umask(0o077)
    try:
        again = [
            wheels.command_line(source, tmp_path),
            wheels.local_service(source, tmp_path),
            *([wheels.collector(source, built, tmp_path)] if sizes.FULL else []),
        ]
    finally:
        os.umask(before)

    before_by_name = {path.name: sha256(path) for path in release.values()}
    assert [sha256(path) for path in again] == [before_by_name[path.name] for path in again]


def test_another_commit_time_is_the_only_time_in_it(source: CheckoutSource, tmp_path: Path) -> None:
    wheel = wheels.command_line(replace(source, epoch=1_000_000_000), tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        times = {entry.date_time for entry in archive.infolist()}

    assert times == {(2001, 9, 9, 1, 46, 40)}


def test_no_file_of_it_names_a_place_of_this_machine(release: dict[str, Path]) -> None:
    places = [str(place).encode() for place in (ROOT, Path.home() / ".cache", sys.prefix)]
    for path in release.values():
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if not entry.filename.endswith(".zst"):
                    content = archive.read(entry)
                    assert not any(place in content for place in places), entry.filename


def test_the_command_line_brings_completions_and_a_manual_page(release: dict[str, Path]) -> None:
    with zipfile.ZipFile(release["headgate"]) as archive:
        names = {name.partition("/data/")[2] for name in archive.namelist()} - {""}
        metadata = message_from_bytes(archive.read(next(n for n in archive.namelist() if n.endswith("/METADATA"))))

    assert names == {
        "share/bash-completion/completions/headgate",
        "share/zsh/site-functions/_headgate",
        "share/fish/vendor_completions.d/headgate.fish",
        "share/man/man1/headgate.1",
    }
    assert {"local", "lsp"} <= set(metadata.get_all("Provides-Extra", []))


def test_the_manual_page_has_every_command(source: CheckoutSource) -> None:
    page = manual.page(source.version, source.epoch)

    for name in headgate.list_commands(click.Context(headgate)):
        assert f".SS headgate {name}" in page.replace(r"\-", "-"), name
    assert r"\-\-local" in page


def test_local_validates_without_a_checkout_or_a_server(site: Path, home: Path) -> None:
    (home / "edge.yaml").write_text(BROKEN)
    command = [sys.executable, "-m", "headgate_cli.main", "validate", "--local", "edge.yaml"]
    done = subprocess.run(command, cwd=home, env=installed(site, home), capture_output=True, text=True, check=False)

    assert done.returncode == 1, done
    assert FINDING in done.stdout


def test_dev_serves_verdicts_and_the_pages(service: httpx.Client) -> None:
    checked = service.post("/validate", json={"yaml": EDGE})
    page = httpx.get(str(service.base_url.copy_with(path="/")), follow_redirects=True)

    assert checked.json()["valid"] is True, checked.text
    assert page.status_code == 200


def at_hand(cache: Path, **where: str) -> subprocess.CompletedProcess[str]:
    """What `make dev` asks, with an empty cache."""
    path = os.pathsep.join(str(ROOT / "layers" / name) for name in ("collector", "supervisor"))
    variables = {"HEADGATE_CACHE": str(cache), "HEADGATE_COLLECTORS_DIR": str(cache / "collectors"), **where}
    command = [sys.executable, "-m", "supervisor_build", "at-hand"]
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.full
def test_make_dev_starts_on_a_wheel_of_this_build(release: dict[str, Path], tmp_path: Path) -> None:
    done = at_hand(tmp_path, HEADGATE_FIND_LINKS=str(release["headgate"].parent))
    default = (ROOT / "layers/collector/versions/DEFAULT").read_text().strip()

    assert done.returncode == 0, done.stderr
    with (
        running_service(
            tmp_path / "data", HEADGATE_CACHE=str(tmp_path), HEADGATE_COLLECTORS_DIR=str(tmp_path / "collectors")
        ) as service,
        service.client() as client,
    ):
        assert client.post("/validate", json={"yaml": EDGE}).json() | {"warnings": []} == {
            **{"valid": True, "version": default, "distribution": "otelcol-contrib"},
            **{"errors": [], "warnings": [], "findings": [], "environment": [], "valid_on_host": True},
        }


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
