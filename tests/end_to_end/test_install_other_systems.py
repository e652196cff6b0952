"""Installing on systems that are not here: macOS by its script alone, Windows by Wine."""

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from headgate.installs.releases import Artifact
from headgate_local.releases import cache
from tests.support.fleet_host import Host, until
from tests.support.go_programs import go
from tests.support.installing import installs, released
from tests.support.local_service import LocalService
from tests.support.ports import free_port
from tests.support.service import ROOT
from tests.support.wine import Wine, supervisor_for_wine

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
        composition = composed(installs, "macos", env={"A": "it's \u00e9"}, root_deploy_path="/opt/else where")
        done = subprocess.run(
            ["/bin/sh", "-c", composition["command"]], env=environment, capture_output=True, text=True, check=False
        )

    assert done.returncode == 0, done.stderr
    install, root, order, values = said.read_text().splitlines()
    assert (install, root) == ("install", "/opt/else where")
    assert json.loads(order)["variables"] == {"A": "it's \u00e9"}
    assert json.loads(order)["token"] == composition["connection"]["token"]
    assert json.loads(values)["platform"] == "macos"


@dataclass(kw_only=True)
class UnderWine(Host):
    wine: Wine

    @property
    def output(self) -> Path:
        return self.wine.disk / "output.jsonl"

    def flowing(self, step: str, **changes: object) -> str:
        return super().flowing(step, **{"output": "C:/output.jsonl", **changes})

    def log(self) -> str:
        path = self.root / "var" / "supervisor.log"
        return path.read_text(errors="replace")[-6_000:] if path.exists() else "there is no log"


@pytest.mark.full
def test_under_wine_a_package_becomes_a_host_that_applies_versions_and_goes_back(
    installs: LocalService, tmp_path: Path
) -> None:
    wine, health = Wine.started(tmp_path / "wine"), free_port()
    programs = {"supervisor-windows-amd64": supervisor_for_wine(tmp_path)}
    programs["collector-windows-amd64"] = build("building", "--os", "windows", "first", "0.139.0")
    variables = {"REGION": "eu", "HEADGATE_HEALTH_ENDPOINT": f"127.0.0.1:{health}", "HEADGATE_STOP_TIMEOUT": "2s"}
    with published(installs, programs):
        install = composed(installs, "windows", env=variables)
        script = installs.client().get(install["install_url"]).text
        values = re.search(r"@'\n(.*)\n'@", script)
        order = re.search(r"-Order '(.*)'$", install["command"])
        assert values
        assert order
        root = wine.disk / "Program Files" / "Headgate"
        group = install["connection"]["deployment_id"]
        host = UnderWine(
            tmp_path, installs.client(), install["fleet"], group, install["command"], root, health, wine=wine
        )
        package = tmp_path / "headgate.msi"
        subprocess.run(["make", "--silent", "-C", ROOT / "layers" / "supervisor", "msi", f"MSI={package}"], check=True)
        try:
            with wine.staying():
                wine.run("msiexec.exe", "/i", package, "/qn")
                assert (root / "bin" / "headgate-supervisor.exe").is_file()
                assert "STOPPED" in wine.run("sc.exe", "query", "headgate-supervisor")
                given = f"{order[1].replace(chr(39) * 2, chr(39))}\n{values[1]}\n"
                # A program has this name on Windows alone.
                printed = wine.run(programs["supervisor-windows-amd64"], "install", given=given)
                assert "Installed in" in printed, f"{printed}\n{host.log()}"
                service = wine.run("reg.exe", "query", _SERVICE, "/v", "ImagePath")
                instances = f"/fleets/{host.fleet_id}/instances"
                until(lambda: bool(host.api.get(instances).json()["items"]), host.log)
                host.apply(host.flowing("first"))
                assert host.flows_as("first")
                second = host.apply(host.flowing("second"))
                assert host.flows_as("second")
                broken = host.publish(host.flowing("third", output="C:/nowhere/output.jsonl"))
                host.assign(broken)
                failed = host.wait_for("apply_failed", broken)
                until(lambda: host.instance()["running"]["version_number"] == second, host.log)
                until(lambda: host.flows_as("second"), host.log)
                environment = (root / "etc" / "environment").read_text().split("\0")
                log = (root / "var" / "supervisor.log").read_text(errors="replace")
        finally:
            wine.end()

    assert "nowhere" in failed["state_message"], failed
    assert "the collector cannot be asked to stop and is killed" in log
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
