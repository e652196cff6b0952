"""Installing on systems that are not here: macOS by its script alone, Windows by Wine."""

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from headgate.installs.releases import Artifact
from headgate_local.releases import cache
from tests.support.fleet_host import until
from tests.support.installing import installs, released
from tests.support.local_service import LocalService
from tests.support.official_supervisor import go
from tests.support.service import ROOT
from tests.support.wine import Wine

__all__ = ["installs"]

pytestmark = pytest.mark.end_to_end

_SERVICE = r"HKLM\SYSTEM\CurrentControlSet\Services\headgate-supervisor"


@contextmanager
def published(service: LocalService, programs: dict[str, Path]) -> Iterator[None]:
    """Programs of a release, which are served from the folder of builds."""
    linked: list[Path] = []

    def add(artifacts: dict[str, Artifact]) -> None:
        for name, program in programs.items():
            place = cache(Path(os.environ["HEADGATE_COLLECTORS_DIR"])) / f"test-{os.getpid()}-{name}"
            place.write_bytes(program.read_bytes())
            linked.append(place)
            sha256 = hashlib.sha256(place.read_bytes()).hexdigest()
            size = place.stat().st_size
            artifacts[name] = Artifact(str(place), sha256, compressed=False, binary_sha256=sha256, size=size)

    try:
        with released(service, add):
            yield
    finally:
        for place in linked:
            place.unlink()


def composed(service: LocalService, platform: str, **fields: object) -> dict[str, Any]:
    api = service.client()
    fleet = api.post("/fleets", json={"label": f"on {platform}", "type": "server-supervisor"}).json()["id"]
    answer = api.post(f"/fleets/{fleet}/install", json={"platform": platform, **fields})
    assert answer.is_success, answer.text
    return {"fleet": fleet, **answer.json()}


def test_the_script_for_macos_verifies_the_supervisor_and_gives_it_the_order(
    installs: LocalService, tmp_path: Path
) -> None:
    supervisor = tmp_path / "supervisor"
    supervisor.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >"$SAID"\ncat >>"$SAID"\n')
    # This machine passes for a Mac.
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, text in (("uname", "case $1 in -s) echo Darwin ;; *) echo arm64 ;; esac"), ("sudo", 'exec "$@"')):
        (commands / name).write_text(f"#!/bin/sh\n{text}\n")
        (commands / name).chmod(0o700)
    said = tmp_path / "said"
    environment = {**os.environ, "PATH": f"{commands}:{os.environ['PATH']}", "SAID": str(said)}
    with published(installs, {"supervisor-macos-arm64": supervisor}):
        made = composed(installs, "macos", env={"A": "it's \u00e9"}, root_deploy_path="/opt/else where")
        done = subprocess.run(
            ["/bin/sh", "-c", made["command"]], env=environment, capture_output=True, text=True, check=False
        )

    assert done.returncode == 0, done.stderr
    install, root, order, values = said.read_text().splitlines()
    assert (install, root) == ("install", "/opt/else where")
    assert json.loads(order)["variables"] == {"A": "it's \u00e9"}
    assert json.loads(order)["token"] == made["connection"]["token"]
    assert json.loads(values)["platform"] == "macos"


@pytest.mark.full
def test_under_wine_the_supervisor_becomes_a_service_and_starts_the_collector(
    installs: LocalService, tmp_path: Path
) -> None:
    """Wine 8 tells no process group to end, so that the supervisor gets no further than its collector's first start."""
    wine = Wine.started(tmp_path / "wine")
    programs = {"supervisor-windows-amd64": build("supervisor_build", "supervisor", "amd64", "windows")}
    programs["collector-windows-amd64"] = build("building", "--os", "windows", "first", "0.139.0")
    with published(installs, programs):
        made = composed(installs, "windows", env={"REGION": "eu"})
        script = installs.client().get(made["install_url"]).text
        values = re.search(r"@'\n(.*)\n'@", script)
        order = re.search(r"-Order '(.*)'$", made["command"])
        assert values
        assert order
        program = tmp_path / "headgate-supervisor.exe"
        program.write_bytes(programs["supervisor-windows-amd64"].read_bytes())
        try:
            given = f"{order[1].replace(chr(39) * 2, chr(39))}\n{values[1]}\n"
            process = wine.start(program, "install", given=given)
            root = wine.disk / "Program Files" / "Headgate"
            log = root / "var" / "supervisor.log"
            until(
                lambda: log.exists() and "Everything is ready" in log.read_text(),
                lambda: log.read_text() if log.exists() else "there is no log",
                seconds=180,
            )
            process.kill()
            process.wait()
            service = wine.run("reg.exe", "query", _SERVICE, "/v", "ImagePath").stdout
            environment = (root / "etc" / "environment").read_text().split("\0")
        finally:
            wine.end()

    assert r"Headgate\bin\headgate-supervisor.exe" in service, service
    assert {"REGION=eu", "HEADGATE_PLATFORM=windows"} <= set(environment)


def build(module: str, *words: str) -> Path:
    """A program for another system."""
    paths = os.pathsep.join(str(ROOT / "layers" / name) for name in ("collector", "supervisor"))
    environment = {**os.environ, "PYTHONPATH": paths, "PATH": f"{Path(go()).parent}:{os.environ['PATH']}"}
    python = ROOT / ".venv" / "bin" / "python"
    done = subprocess.run(
        [python, "-m", module, *words], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return Path(done.stdout.strip().splitlines()[-1])
