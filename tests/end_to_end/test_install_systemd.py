"""The linux install as a service of a real systemd, in a machine that boots: nothing of it stands in for anything."""

import gzip
import hashlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from headgate.installs.releases import Artifact
from tests.support import fleet_host
from tests.support.fleet_host import Host, until
from tests.support.installing import installs, released
from tests.support.local_service import LocalService
from tests.support.systemd_machine import Machine, machine, needs_systemd

__all__ = ["installs"]

pytestmark = [
    pytest.mark.end_to_end,
    needs_systemd,
]

ARCHITECTURE = "arm64" if os.uname().machine in ("aarch64", "arm64") else "amd64"
UNIT = "headgate-supervisor"


@dataclass(kw_only=True)
class Service(Host):
    """A host whose supervisor is a service of a machine; `user` types the commands."""

    machine: Machine
    user: str = "deploy"

    @property
    def output(self) -> Path:
        """What the collector writes, as this machine reads it."""
        return self.machine.root / self.root.relative_to("/") / "var" / "output.jsonl"

    @property
    def pid(self) -> int:
        return int(self.machine.output(f"systemctl show --property MainPID --value {UNIT}"))

    def typed(self, command: str) -> subprocess.CompletedProcess[str]:
        return self.machine.run(command, user=self.user)

    def install(self) -> str:
        return self._printed(self.command)

    def uninstall(self) -> str:
        return self._printed(f"sudo {self.root}/bin/headgate-install --uninstall --root {self.root}")

    def flowing(self, step: str, **changes: object) -> str:
        return super().flowing(step, **{"output": f"{self.root}/var/output.jsonl", **changes})

    def log(self) -> str:
        return self.machine.run(f"journalctl -u {UNIT} -o cat --no-pager").stdout

    def is_well(self, n: int, step: str) -> str:
        """The instance's id once it runs version n and telemetry flows through it."""
        instance = self.wait_for("applied", n)
        until(lambda: self.flows_as(step), self.log)
        return str(instance["id"])

    def _printed(self, command: str) -> str:
        done = self.typed(command)
        assert done.returncode == 0, done.stdout + done.stderr + self.log()
        return done.stdout


@pytest.fixture
def edge(installs: LocalService, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Service]:
    """A machine that has booted and is not installed yet; `deploy` may use sudo there, and `guest` may not."""
    with machine(tmp_path) as booted:
        booted.output(
            "useradd -m deploy && useradd -m guest && echo 'deploy ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/deploy"
        )
        yield service(installs, tmp_path, booted, request.node.name)


def service(installs: LocalService, folder: Path, booted: Machine, label: str, root: str = "/opt/headgate") -> Service:
    options = {"systemd": True, "root_deploy_path": root, "arch": ARCHITECTURE}
    with fleet_host.host(folder, installs.client(), label, options=options) as plain:
        return Service(**vars(plain) | {"root": Path(root)}, machine=booted)


def with_selinux(machine: Machine) -> None:
    """Let programs stand in for those of SELinux, which a machine that shares this one's kernel cannot have."""
    for name in ("selinuxenabled", "chcon", "restorecon"):
        line = f'echo "{name} $*" >>/labels'
        machine.output(f"printf '#!/bin/sh\\n%s\\n' '{line}' >/usr/local/bin/{name}; chmod 755 /usr/local/bin/{name}")


def test_a_service_comes_back_after_a_reboot_and_a_kill_and_is_removed_whole(edge: Service) -> None:
    before = edge.machine.output("cat /etc/passwd; ls /etc/systemd/system /opt")
    with_selinux(edge.machine)
    edge.install()
    n = edge.apply(edge.flowing("first"))
    instance = edge.is_well(n, "first")
    supervisor = edge.pid

    status = edge.machine.output(f"cat /proc/{supervisor}/status")
    assert "NoNewPrivs:\t1\n" in status
    assert "Uid:\t0" not in status
    # What was moved into its place has the label of where it was made.
    programs = f"{edge.root}/bin/{UNIT} {edge.root}/bin/otelcol-contrib"
    assert f"chcon -t bin_t {programs}\nrestorecon" in edge.machine.output("cat /labels")
    edge.install()
    assert edge.pid == supervisor, "nothing has changed, so that nothing is restarted"
    elsewhere = edge.typed(edge.command.replace(str(edge.root), "/opt/elsewhere"))
    assert f"the service runs from {edge.root} already; uninstall it first" in elsewhere.stderr

    edge.machine.reboot()
    assert edge.is_well(n, "first") == instance

    supervisor = edge.pid
    edge.machine.output(f"systemctl kill --kill-who=all --signal=KILL {UNIT}")
    until(lambda: edge.pid not in (0, supervisor), edge.log)
    assert edge.is_well(n, "first") == instance

    edge.machine.output(f"echo kept >{edge.root}/etc/mine")
    assert "The files that are left there are not part of this install" in edge.uninstall()
    edge.machine.output(f"rm -r {edge.root}")
    assert edge.machine.output("cat /etc/passwd; ls /etc/systemd/system /opt") == before
    assert not {"headgate-superv", "otelcol-contrib"} & set(edge.machine.output("ps -e -o comm=").split())
    until(lambda: edge.instance()["state"] == "stopped", lambda: str(edge.instance()))


@pytest.mark.full
def test_root_installs_and_a_user_without_sudo_cannot(edge: Service) -> None:
    edge.user = "guest"
    by_guest = edge.typed(edge.command.replace("| sudo sh", "| sh"))
    assert "a service needs root; use sudo, or --no-systemd" in by_guest.stderr
    assert edge.typed(edge.command).returncode != 0
    assert edge.machine.output("ls /opt") == ""

    edge.user = "root"
    edge.install()
    edge.is_well(edge.apply(edge.flowing("root")), "root")
    edge.user = "guest"
    removed = edge.typed(f"{edge.root}/bin/headgate-install --uninstall --root {edge.root}")
    assert "run this as that user, or with sudo" in removed.stderr
    secrets = edge.typed(f"cat {edge.root}/etc/token {edge.root}/etc/environment")
    assert (secrets.stdout, secrets.stderr.count("Permission denied")) == ("", 2)
    edge.user = "root"
    edge.output.unlink()
    assert edge.uninstall() == f"Removed from {edge.root}.\n", edge.machine.run(f"ls -laR {edge.root}").stdout
    assert edge.machine.output("ls /opt") == ""


@pytest.mark.full
def test_an_upgrade_replaces_supervisor_and_collector_and_keeps_the_instance(
    edge: Service, installs: LocalService
) -> None:
    edge.install()
    n = edge.apply(edge.flowing("old"))
    instance, supervisor = edge.is_well(n, "old"), edge.pid
    names = [f"supervisor-{ARCHITECTURE}", f"collector-{ARCHITECTURE}"]

    def newer_programs(artifacts: dict[str, Artifact]) -> None:
        for name in names:
            packed = published[name] = Path(os.environ["HEADGATE_CACHE"]) / f"systemd-{os.getpid()}-{name}.gz"
            packed.write_bytes(gzip.compress(Path(artifacts[name].key).read_bytes() + b"\0", 1))
            artifacts[name] = Artifact(str(packed), hashlib.sha256(packed.read_bytes()).hexdigest(), compressed=True)

    published: dict[str, Path] = {}
    try:
        with released(installs, newer_programs):
            printed = edge.install()
    finally:
        for packed in published.values():
            packed.unlink()

    assert all(f"Fetching {name}" in printed for name in names), printed
    assert edge.pid != supervisor
    for program in (UNIT, "otelcol-contrib"):
        assert edge.machine.output(f"tail -c 1 {edge.root}/bin/{program} | od -An -tx1").strip() == "00"
    assert edge.is_well(n, "old") == instance


@pytest.mark.full
def test_an_install_for_another_group_moves_the_host(edge: Service, installs: LocalService, tmp_path: Path) -> None:
    edge.install()
    edge.is_well(edge.apply(edge.flowing("first")), "first")
    body = {"name": "second group", "configuration_id": edge.configuration_id, "version_number": 1}
    second = edge.api.post(f"/fleets/{edge.fleet_id}/deployments", json=body)
    assert second.is_success, second.text
    options = {"deployment_id": second.json()["id"], "systemd": True, "root_deploy_path": str(edge.root)}
    options |= {"platform": "linux", "arch": ARCHITECTURE}
    composed = edge.api.post(f"/fleets/{edge.fleet_id}/install", json=options)
    assert composed.is_success, composed.text
    edge.command, edge.deployment_id = composed.json()["command"], second.json()["id"]
    edge.install()

    until(lambda: edge.instance()["deployment_id"] == edge.deployment_id, lambda: f"{edge.instance()}\n{edge.log()}")
    edge.is_well(1, "first")
    edge.is_well(edge.apply(edge.flowing("second")), "second")


@pytest.mark.full
def test_a_full_disk_breaks_no_install_and_no_running_collector(
    edge: Service, installs: LocalService, tmp_path: Path
) -> None:
    edge.machine.output("mkdir /data && mount -t tmpfs -o size=20m,mode=755 none /data")
    service_on_disk = service(installs, tmp_path, edge.machine, "full disk", root="/data/headgate")
    refused = service_on_disk.typed(service_on_disk.command)
    assert refused.returncode != 0
    said = f"supervisor-{ARCHITECTURE} could not be written under /data/headgate: make room on its disk"
    assert said in refused.stderr, refused.stderr
    assert service_on_disk.machine.output("ls /data/headgate/bin") == ""

    edge.machine.output("mount -o remount,size=1500m /data")
    service_on_disk.install()
    service_on_disk.apply(service_on_disk.flowing("before", output="/dev/null"))
    instance, supervisor = service_on_disk.instance()["id"], service_on_disk.pid
    edge.machine.run("cat /dev/zero >/data/filler")
    assert " 100% " in edge.machine.output("df /data")
    later = service_on_disk.publish(service_on_disk.flowing("after", output="/dev/null"))
    service_on_disk.assign(later)
    until(
        lambda: service_on_disk.instance()["state"] not in ("applied", "pending_pickup", "applying"),
        lambda: f"{service_on_disk.instance()}\n{service_on_disk.log()[-3000:]}",
    )
    failed = service_on_disk.instance()
    assert "no space left on device" in str(failed).lower(), failed
    assert service_on_disk.sends(), "the former version goes on"

    edge.machine.output("rm /data/filler")
    service_on_disk.order("retry")
    assert service_on_disk.wait_for("applied", later)["id"] == instance
    assert service_on_disk.pid == supervisor
    edge.machine.run("cat /dev/zero >/data/filler")
    assert "Removed from /data/headgate" in service_on_disk.uninstall()
