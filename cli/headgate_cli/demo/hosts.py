"""The simulated hosts of a demo, in this process or in one of their own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headgate_cli.api import Api
from headgate_cli.demo.content import HOSTS, LABEL, DemoHost
from headgate_cli.errors import Failed
from headgate_cli.ids import is_id
from headgate_cli.output import say
from headgate_cli.shapes import InstalledVersionOut, InstallOut, InstanceOut
from headgate_cli.untrusted import quoted

if TYPE_CHECKING:
    from headgate_cli.demo.agent import Agent

_SECONDS: Final = 30.0
_PAUSE: Final = 0.5
# For the hosts to stop in order.
_SECONDS_TO_STOP: Final = 20.0
# A service that is away for longer is not waited for: it may never come back.
_LONGEST_SILENCE: Final = 1_800.0


@dataclass(frozen=True, slots=True)
class HostConnection:
    """Address and token by which the hosts of a group report; they do not let anybody call the API."""

    endpoint: str
    deployment_id: str
    token: str


@dataclass(frozen=True, slots=True)
class DemoHosts:
    """All that the hosts of a demo need to report."""

    fleet_id: str
    collector_version: str
    groups: Mapping[str, HostConnection]

    @classmethod
    def of_groups(cls, api: Api, fleet_id: str, groups: Mapping[str, str]) -> DemoHosts:
        """`groups` are their ids by name. Composes an install command for each, which has the fleet's token."""
        installed = api.items(InstalledVersionOut, "/collector-versions")
        version = next((collector["version"] for collector in installed if collector["default"]), "0.0.0")
        return cls(fleet_id, version, {name: connection(api, fleet_id, group) for name, group in groups.items()})

    def text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def parse(cls, written: str) -> DemoHosts:
        said = json.loads(written)
        return cls(**{**said, "groups": {name: HostConnection(**fields) for name, fields in said["groups"].items()}})


def connection(api: Api, fleet_id: str, deployment_id: str) -> HostConnection:
    """Get the connection that an install command would give a host."""
    request = {"platform": "linux", "deployment_id": deployment_id}
    install = api.post(InstallOut, f"/fleets/{fleet_id}/install", request)["connection"]
    if not install or not install["token"]:
        raise Failed("the server gives no connection for a host: is it a Headgate server?")
    return HostConnection(install["endpoint"], deployment_id, install["token"])


def agent(to: HostConnection, host: DemoHost, uid: bytes, version: str) -> Agent:
    """A host that reports there. Raises httpx.HTTPError from each of its methods if that fails."""
    import httpx

    from headgate_cli.demo.agent import Agent

    http = httpx.Client(
        headers={"Authorization": f"Bearer {to.token}", "X-Deployment-Id": to.deployment_id}, timeout=_SECONDS
    )

    def post(message: bytes) -> bytes:
        return (
            http.post(to.endpoint, content=message, headers={"Content-Type": "application/x-protobuf"})
            .raise_for_status()
            .content
        )

    return Agent(post, host, uid, version)


def begin(hosts: DemoHosts) -> list[Agent]:
    """The hosts, each of which has reported once. Raises Failed if the fleet service does not take that."""
    import httpx

    from headgate_cli.demo.agent import uid_of

    agents = [
        agent(hosts.groups[host.group], host, uid_of(hosts.fleet_id, host.name), hosts.collector_version)
        for host in HOSTS
    ]
    try:
        for simulated in agents:
            simulated.start()
    except httpx.HTTPError as error:
        raise Failed(f"the fleet service does not take the messages of the simulated hosts: {error}") from error
    return agents


def report(agents: Sequence[Agent], *, address: str = "") -> None:
    """Report until a signal, or until the service no longer knows the fleet. Stops the hosts in order at the end.

    With the `address` of its pages it tells a person where to look, and why it ended.
    """
    import httpx

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    due, heard_at = 0.0, time.monotonic()
    try:
        if address:
            # From here on, Ctrl-C stops the hosts in order.
            say(f"See it at {address}. The hosts are simulated, and report until you press Ctrl-C.")
        while time.monotonic() - heard_at < _LONGEST_SILENCE:
            if time.monotonic() >= due:
                due = time.monotonic() + min(simulated.heartbeat_seconds for simulated in agents)
                for simulated in agents:
                    try:
                        simulated.beat()
                        heard_at = time.monotonic()
                    except httpx.HTTPStatusError as error:
                        if error.response.status_code in (401, 403, 404):
                            if address:
                                say("The fleet of the demo is gone, and its hosts with it.")
                            return
                    except httpx.HTTPError:
                        # As a supervisor, it reports again when the service is back.
                        continue
            time.sleep(_PAUSE)
    except KeyboardInterrupt:
        pass
    for simulated in agents:
        with contextlib.suppress(httpx.HTTPError):
            simulated.stop()


def detach(hosts: DemoHosts) -> int:
    """Let the hosts report from a process of their own, unless they do already; returns its number."""
    place = _place(hosts.fleet_id)
    known = running(hosts.fleet_id)
    if known is not None:
        return known
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "headgate_cli.demo.hosts", str(place)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(hosts.text())
    process.stdin.close()
    return process.pid


def running(fleet_id: str) -> int | None:
    """The number of the process in which this machine's hosts of the demo report, None if there is none."""
    try:
        with _place(fleet_id).open("r+") as file:
            try:
                flock(file, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                # Whoever has the lock has written its number; a process that ended has it no longer.
                return int(file.read() or 0) or None
    except FileNotFoundError:
        pass
    return None


def end(fleet_id: str) -> bool:
    """End the process of this machine's hosts, if there is one. Raises Failed if it does not end."""
    number = running(fleet_id)
    if number is not None:
        os.kill(number, signal.SIGTERM)
        until = time.monotonic() + _SECONDS_TO_STOP
        while running(fleet_id) is not None:
            if time.monotonic() > until:
                raise Failed(f"the process {number} of the simulated hosts does not end: end it, and try again")
            time.sleep(_PAUSE / 5)
    _place(fleet_id).unlink(missing_ok=True)
    return number is not None


def of_demo(instances: Sequence[InstanceOut]) -> list[InstanceOut]:
    """Those that are simulated by their own label."""
    return [instance for instance in instances if instance["labels"].get(LABEL[0]) == LABEL[1]]


def _place(fleet_id: str) -> Path:
    # The server says it, and it becomes the name of a file that is written to.
    if not is_id("flt", fleet_id):
        raise Failed(f"the server sent {quoted(fleet_id)} as a fleet's id: is it a Headgate server?")
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "headgate" / f"{fleet_id}.demo"


def _main() -> None:
    """The process of `detach`: it holds the lock of its file for as long as it lives."""
    with Path(sys.argv[1]).open("a+") as file:
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        report(begin(DemoHosts.parse(sys.stdin.read())))


if __name__ == "__main__":
    _main()
