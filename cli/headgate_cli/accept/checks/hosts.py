"""A host of a fleet: the install command, run on this machine, with the real supervisor and collector."""

from __future__ import annotations

import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from headgate_cli.accept import expect
from headgate_cli.accept.bench import EDGE, Bench
from headgate_cli.accept.errors import CheckSkipped
from headgate_cli.accept.model import check
from headgate_cli.api import Entity

_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
_INSTALL_SECONDS: Final = 180
_PATIENCE: Final = 150.0
_NO_METRICS: Final = "  telemetry: {metrics: {level: none}}\n"


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@check("hosts.applies", "An installed host appears in its fleet, and runs the version that is assigned to it.")
def applies(bench: Bench) -> None:
    architecture = _ARCHITECTURES.get(platform.machine(), "")
    if not bench.given.runs_host:
        raise CheckSkipped("it runs the server's install command on this machine: allow it with --host")
    if sys.platform != "linux" or not architecture:
        raise CheckSkipped(
            f"the supervisor runs on Linux, amd64 or arm64, and this is {sys.platform} {platform.machine()}"
        )
    if not shutil.which("curl"):
        raise CheckSkipped("the install command needs curl, which is not on this machine's PATH")
    fleet = f"/fleets/{expect.text(bench.fleet('host'), 'id')}"
    # The machine may run a collector, which has the ports that are the default.
    text = EDGE.replace("4318", str(_free_port())).replace("service:\n", f"service:\n{_NO_METRICS}", 1)
    configuration = bench.published("host", text)
    (group,) = expect.items(expect.entity(bench.write.get(f"{fleet}/deployments")))
    assignment = {"configuration_id": configuration, "version_number": 1}
    expect.entity(bench.write.patch(f"{fleet}/deployments/{expect.text(group, 'id')}", assignment))
    with tempfile.TemporaryDirectory(prefix="headgate-accept-") as folder:
        root = Path(folder, "root")
        body = {
            "platform": "linux",
            "systemd": False,
            "arch": architecture,
            "root_deploy_path": str(root),
            "env": {"HEADGATE_HEALTH_ENDPOINT": f"127.0.0.1:{_free_port()}"},
        }
        install = expect.entity(bench.write.post(f"{fleet}/install", body))
        try:
            _install(expect.text(install, "command"))
            bench.until(lambda: _applied(bench, fleet, assignment), _PATIENCE, lambda: _told(bench, fleet, root))
        finally:
            _uninstall(root)


def _install(command: str) -> None:
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", command], capture_output=True, text=True, check=False, timeout=_INSTALL_SECONDS
        )
    except subprocess.TimeoutExpired:
        expect.that(False, f"the install command did not end within {_INSTALL_SECONDS} s")
        return
    expect.that(done.returncode == 0, f"the install command ended with {done.returncode}: {expect.shown(done.stderr)}")


def _uninstall(root: Path) -> None:
    script = root / "bin" / "headgate-install"
    if script.exists():
        subprocess.run([script, "--uninstall", "--root", root], capture_output=True, check=False, timeout=60)


def _applied(bench: Bench, fleet: str, assignment: Entity) -> bool | None:
    instances = expect.items(expect.entity(bench.write.get(f"{fleet}/instances")))
    return (
        True
        if instances and instances[0].get("state") == "applied" and instances[0].get("running") == assignment
        else None
    )


def _told(bench: Bench, fleet: str, root: Path) -> str:
    instances = expect.items(expect.entity(bench.write.get(f"{fleet}/instances")))
    states = [(instance.get("state"), instance.get("state_message")) for instance in instances]
    log = root / "var" / "supervisor.log"
    said = log.read_text(errors="replace")[-300:] if log.exists() else "there is no log"
    return f"the host has not applied its version after {_PATIENCE:.0f} s: {expect.shown(states)}; the log ends: {said}"
