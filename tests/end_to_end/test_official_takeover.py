"""From the official supervisor, a service as its packages install it, to ours by one command, under a real systemd."""

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import pytest
import yaml

from tests.end_to_end.test_install_systemd import UNIT, Service, edge
from tests.support.fleet_host import LOG, until
from tests.support.installing import installs
from tests.support.official_supervisor import CAPABILITIES, built
from tests.support.programs import cached_programs
from tests.support.systemd_machine import needs_systemd

__all__ = ["edge", "installs"]

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.full,
    needs_systemd,
]

OFFICIAL = "opampsupervisor"
# The paths, the account and the way to end are those of the packages of opentelemetry-collector-releases.
_SERVICE = """\
[Service]
EnvironmentFile=/etc/opampsupervisor/opampsupervisor.conf
ExecStart=/usr/bin/opampsupervisor $OPAMP_OPTIONS
KillMode=mixed
Restart=on-failure
User=opampsupervisor
Group=opampsupervisor
StateDirectory=opampsupervisor
[Install]
WantedBy=multi-user.target
"""


@dataclass
class Gap:
    """The longest time in which a collector took nothing."""

    port: int
    seconds: float = 0.0

    @contextmanager
    def measured(self) -> Iterator[None]:
        ended = threading.Event()

        def send() -> None:
            last = time.monotonic()
            with httpx.Client(timeout=5) as client:
                while not ended.wait(0.02):
                    try:
                        client.post(f"http://127.0.0.1:{self.port}/v1/logs", json=LOG).raise_for_status()
                    except httpx.HTTPError:
                        continue
                    now = time.monotonic()
                    self.seconds, last = max(self.seconds, now - last), now

        sender = threading.Thread(target=send)
        sender.start()
        try:
            yield
        finally:
            ended.set()
            sender.join()


def with_official(host: Service, text: str) -> dict[str, object]:
    """Install the official supervisor there, and let it apply a version. The instance."""
    variables = {"HEADGATE_HEALTH_ENDPOINT": f"127.0.0.1:{host.health_port}"}
    request = {"platform": "linux", "systemd": True, "root_deploy_path": str(host.root), "env": variables}
    number = host.publish(text)
    host.assign(number)
    answer = host.api.post(f"/fleets/{host.fleet_id}/install", json=request | {"from_official": True})
    assert answer.is_success, answer.text
    composed = answer.json()
    assert any("What stays: the instance" in note for note in composed["notes"])
    host.command = composed["command"]
    connection = composed["connection"]
    root = host.machine.root
    for program, path in (
        (built(), "usr/bin/opampsupervisor"),
        (cached_programs()["otelcol-contrib"], "usr/bin/otelcol"),
    ):
        shutil.copy(program, root / path)
    folder = root / "etc/opampsupervisor"
    folder.mkdir()
    headers = {"Authorization": "Bearer ${HEADGATE_FLEET_TOKEN}", "X-Deployment-Id": connection["deployment_id"]}
    description = {"non_identifying_attributes": {"zone": "a", "not a label": "b"}}
    agent = {
        "executable": "/usr/bin/otelcol",
        "bootstrap_timeout": "30s",
        "env": {"TEAM": "core"},
        # The machine shares its ports with this one, where another collector may serve its metrics on 8888.
        "args": ["--set=service.telemetry.metrics.level=none"],
    }
    file = {
        "server": {"endpoint": connection["endpoint"], "headers": headers},
        "capabilities": CAPABILITIES,
        "agent": {**agent, "description": description},
        "storage": {"directory": "/var/lib/opampsupervisor/"},
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(file))
    (folder / "opampsupervisor.conf").write_text(
        f'OPAMP_OPTIONS="--config=/etc/opampsupervisor/config.yaml"\nHEADGATE_FLEET_TOKEN={connection["token"]}\n'
    )
    (root / "lib/systemd/system/opampsupervisor.service").write_text(_SERVICE)
    host.machine.output(f"useradd --system --user-group {OFFICIAL} && systemctl enable --quiet --now {OFFICIAL}")
    instances = f"/fleets/{host.fleet_id}/instances"
    until(lambda: bool(host.api.get(instances).json()["items"]), lambda: log_of_both(host))
    return host.wait_for("applied", number)


def log_of_both(host: Service) -> str:
    return host.machine.run(f"journalctl -u {UNIT} -u {OFFICIAL} -o short-monotonic --no-pager | tail -n 60").stdout


def test_ours_takes_its_place_and_the_host_stays_the_same(edge: Service) -> None:
    # Both may write there: ours has a /tmp of its own.
    before = with_official(edge, edge.flowing("first", output="/tmp/output.jsonl"))
    until(edge.sends, lambda: log_of_both(edge))
    gap = Gap(edge.port)
    with gap.measured():
        began = time.monotonic()
        printed = edge.install()
        took = time.monotonic() - began
        until(edge.sends, lambda: log_of_both(edge))
    print(f"{printed}\nthe command took {took:.1f} s, and the collector took nothing for {gap.seconds:.1f} s")

    def moved() -> bool:
        told = edge.told()
        return told["state"] == "applied" and told["labels"] == {"zone": "a"} and bool(told["supervisor_version"])

    until(moved, lambda: f"{edge.told()}\n{log_of_both(edge)}")
    assert edge.instance()["id"] == before["id"]
    state = edge.machine.run(f"systemctl is-enabled {OFFICIAL}; systemctl is-active {OFFICIAL} {UNIT}").stdout.split()
    assert state == ["disabled", "inactive", "active"]
    assert "TEAM=core" in edge.machine.output(f"tr '\\0' '\\n' <{edge.root}/etc/environment")
    stays = ("Stays: the instance", "Stays: the configuration", "TEAM", "labels: zone=a", "attributes not a label")
    assert all(words in printed for words in (*stays, "write to /tmp/output.jsonl")), printed
    until(lambda: edge.told()["host_key"] is not None, lambda: str(edge.told()))

    # Not the command of a takeover, which finds none.
    assert f"the service {OFFICIAL} does not run on this host" in edge.typed(edge.command).stderr
    edge.apply(edge.flowing("second", output="/tmp/output.jsonl"))


def test_the_official_supervisor_goes_on_where_ours_does_not_run(edge: Service) -> None:
    # Ours may not write there, so that its collector ends again and again.
    before = with_official(edge, edge.flowing("first", output="/var/lib/opampsupervisor/output.jsonl"))
    supervisor = edge.machine.output(f"systemctl show --property MainPID --value {OFFICIAL}")

    def hang() -> None:
        until(lambda: edge.pid != 0, lambda: log_of_both(edge))
        edge.machine.output(f"systemctl kill --kill-who=all --signal=STOP {UNIT}")

    def goes_on(reason: str) -> None:
        began = time.monotonic()
        refused = edge.typed(edge.command)
        print(f"{refused.stderr}\nafter {time.monotonic() - began:.1f} s")
        assert refused.returncode != 0
        assert reason in refused.stderr, refused.stderr
        assert "the official supervisor runs again" in refused.stderr
        state = edge.machine.run(
            f"systemctl is-enabled {OFFICIAL} {UNIT}; systemctl is-active {OFFICIAL} {UNIT}"
        ).stdout
        assert state.split() == ["enabled", "disabled", "active", "inactive"]
        assert edge.machine.output(f"systemctl show --property MainPID --value {OFFICIAL}") != supervisor
        until(edge.sends, lambda: log_of_both(edge))
        # Its messages are taken, although it does not sign them.
        edge.apply(edge.flowing(reason.split()[-1], output="/var/lib/opampsupervisor/output.jsonl"))
        assert edge.instance()["id"] == before["id"]

    goes_on("the collector did not run")
    hanging = threading.Thread(target=hang)
    hanging.start()
    goes_on("the supervisor did not become ready")
    hanging.join()
