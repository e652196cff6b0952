"""A secret that a gated rollout changes on two real hosts, with telemetry: no install, and back if it is wrong."""

import itertools
import os
import re
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import helm, rolling_hosts
from tests.support.fleet_host import until
from tests.support.installing import installs
from tests.support.local_service import LocalService
from tests.support.ports import free_port
from tests.support.programs import cached_programs
from tests.support.rolling_hosts import Hosts

__all__ = ["installs"]
pytestmark = [pytest.mark.end_to_end, pytest.mark.full]
FIRST = {"secrets": {"PLACE": "/first-key"}, "variables": {"OLD": "yes"}}


@pytest.fixture
def group(installs: LocalService, tmp_path: Path) -> Iterator[Hosts]:
    place = "${env:PLACE}"
    with rolling_hosts.hosts(
        tmp_path, installs.client(), number=2, a_second=20, stored=FIRST, place=place, apply_timeout="5s"
    ) as found:
        yield found


def environment(group: Hosts, name: str) -> dict[str, str]:
    """What the collector's process of a host was started with."""
    until(lambda: len(group.collectors(name)) == 1, group.log)
    content = Path(f"/proc/{group.collectors(name)[0]}/environ").read_bytes().decode()
    return dict(entry.split("=", 1) for entry in content.split("\0") if entry)


def places(group: Hosts) -> list[str | None]:
    return [environment(group, name).get("PLACE") for name in group.hosts]


def installed(group: Hosts) -> dict[str, bytes]:
    """The files of the installs."""
    folders = [host.root / part for host in group.hosts.values() for part in ("etc", "bin")]
    return {str(file): file.read_bytes()[:4_096] for folder in folders for file in sorted(folder.iterdir())}


def of_hosts(group: Hosts) -> Any:
    return group.api.get(f"{group.group}/env/hosts").json()


def test_a_changed_secret_reaches_hosts_by_a_rollout_and_a_wrong_one_is_taken_back(group: Hosts) -> None:
    files, pids = installed(group), [host.pid for host in group.hosts.values()]
    assert (places(group), of_hosts(group)["running"]) == (["/first-key"] * 2, [{"revision": None, "hosts": 2}])
    revision = group.stores(secrets={"PLACE": "/second-key"}, variables={"OLD": None})

    ended = group.ends(group.start(1, "another key", 2, 2, variables=revision))

    assert ended["status"] == "completed", ended
    assert ended["variables"] == {"revision": 2, "before": None, "names": ["OLD", "PLACE"]}
    assert places(group) == ["/second-key"] * 2
    assert all("OLD" not in environment(group, name) for name in group.hosts)
    assert of_hosts(group)["running"] == [{"revision": 2, "hosts": 2}]
    group.flow()
    assert {"/first-key/v1/logs", "/second-key/v1/logs"} <= group.backend.places.keys()

    refused = group.ends(group.start(1, "a wrong key", 40, 2, variables=group.stores(secrets={"PLACE": "/wrong"})), 240)

    assert (refused["status"], refused["failures"][0]["gate"]) == ("rolled_back", "send_failed"), refused
    assert group.backend.places["/wrong/v1/logs"] > 0
    assert places(group) == ["/second-key"] * 2
    assert of_hosts(group)["running"] == [{"revision": 2, "hosts": 2}]
    for host in group.hosts.values():
        kept = list((host.root / "var" / "programs" / "variables").iterdir())
        assert all(file.stat().st_mode & 0o777 == 0o600 for file in kept)
        # The collector itself logs the address at which it was refused.
        ours = [line for line in host.log().splitlines() if line.startswith("headgate-supervisor:")]
        assert not [line for line in ours if "second-key" in line or "/wrong" in line]
    assert (installed(group), [host.pid for host in group.hosts.values()]) == (files, pids)


def test_a_value_that_hangs_the_collector_is_taken_back_and_the_host_resolves_a_reference(
    group: Hosts, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    hangs = "${file:" + str(tmp_path / "pipe") + "}"
    for value in (hangs, '"not a place', hangs):
        revision = group.stores(secrets={"PLACE": value})
        ended = group.ends(group.start(1, "a bad value", 2, 2, variables=revision), 300)
        assert (ended["status"], ended["failures"][0]["gate"]) == ("rolled_back", "apply_failed"), ended
        group.all_run(1)
        assert places(group) == ["/first-key"] * 2

    # A secret that Headgate never has.
    (tmp_path / "key").write_text("/of-the-host")
    revision = group.stores(variables={"PLACE": "${file:" + str(tmp_path / "key") + "}"})
    assert group.ends(group.start(1, "a reference", 2, 2, variables=revision))["status"] == "completed"
    until(lambda: group.backend.places["/of-the-host/v1/logs"] > 0, group.log)


def of_image() -> dict[str, str]:
    """The variables of the image."""
    dockerfile = (helm.ROOT / "images" / "supervisor" / "Dockerfile").read_text().replace("\\\n", "")
    (line,) = re.findall(r"^ENV (.*)$", dockerfile, re.MULTILINE)
    return dict(pair.split("=", 1) for pair in line.split())


def of_docker(command: str, folder: Path) -> dict[str, str]:
    """The variables with which the printed line starts a container: those of its file, then its own."""
    docker = 'cd "$0"\ndocker() { for word in "$@"; do printf \'%s\\0\' "$word"; done >words; cat; }\n'
    file = subprocess.run(["/bin/sh", "-c", docker + command, folder], capture_output=True, check=True).stdout.decode()
    words = (folder / "words").read_text().split("\0")
    own = [value for flag, value in itertools.pairwise(words) if flag == "--env"]
    return dict(pair.split("=", 1) for pair in [*file.splitlines(), *own])


def of_kubernetes(command: str, folder: Path) -> dict[str, str]:
    """The variables of the pod that the printed line makes, without those that a node fills in."""
    content, words = helm.line(command, folder)
    objects = helm.rendered(words[2:], folder, content)
    (container,) = helm.one_of(objects, "Deployment")["spec"]["template"]["spec"]["containers"]
    secrets = {each["metadata"]["name"]: each["data"] for each in objects if each["kind"] == "Secret"}
    (stored,) = [secrets[each["secretRef"]["name"]] for each in container["envFrom"]]
    (token,) = [data["token"] for data in secrets.values() if "token" in data]
    (folder / "token").write_bytes(b64decode(token))
    variables = {name: b64decode(value).decode() for name, value in stored.items()}
    variables |= {each["name"]: each["value"] for each in container["env"] if "value" in each}
    return variables | {"HEADGATE_FLEET_TOKEN_FILE": str(folder / "token")}


def key_of_collector(storage: Path) -> set[str]:
    """The secret in the environment of each collector that runs with a file of the storage."""
    keys = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(storage) in (process / "cmdline").read_text() and "otelcol" in (process / "exe").readlink().name:
                entries = (process / "environ").read_text().split("\0")
                keys |= {entry.removeprefix("KEY=") for entry in entries if entry.startswith("KEY=")}
        except OSError:
            continue
    return keys


@pytest.mark.parametrize("platform", ["docker", "kubernetes"])
def test_a_container_takes_changed_secrets_by_a_rollout(installs: LocalService, tmp_path: Path, platform: str) -> None:
    """The programs of the image, started with the variables of the printed line; no container runtime."""
    api, on_kubernetes = installs.client(), platform == "kubernetes"
    kind = "kubernetes-supervisor" if on_kubernetes else "server-supervisor"
    fleet = api.post("/fleets", json={"label": f"sealed {platform}", "type": kind}).json()["id"]
    text = (
        "receivers: {nop: }\nexporters: {nop: }\nservice: {pipelines: {logs: {receivers: [nop], exporters: [nop]}}}\n"
    )
    configuration = api.post("/configurations", json={"name": f"sealed {platform}", "yaml": text}).json()["id"]
    api.post(f"/configurations/{configuration}/versions/1/publish").raise_for_status()
    body = {"name": "web", "configuration_id": configuration, "version_number": 1}
    created = api.post(f"/fleets/{fleet}/deployments", json=body | ({"role": "gateway"} if on_kubernetes else {}))
    group = f"/fleets/{fleet}/deployments/{created.json()['id']}"
    api.patch(f"{group}/env", json={"secrets": {"KEY": "first"}}).raise_for_status()
    asked = {"platform": platform, "deployment_id": created.json()["id"]}
    command = api.post(f"/fleets/{fleet}/install", json=asked).json()["command"]

    variables = of_image() | (of_kubernetes if on_kubernetes else of_docker)(command, tmp_path)
    assert (variables["KEY"], variables["HEADGATE_PLATFORM"]) == ("first", platform)
    storage = tmp_path / "storage"
    variables["HEADGATE_STORAGE"] = str(storage)
    variables["HEADGATE_COLLECTOR"] = str(cached_programs()["otelcol-contrib"])
    variables["HEADGATE_HEALTH_ENDPOINT"] = f"127.0.0.1:{free_port()}"
    log = tmp_path / "log"
    with (
        log.open("wb") as output,
        subprocess.Popen([cached_programs()["headgate-supervisor"]], env=variables, stderr=output) as supervisor,
    ):
        try:
            until(lambda: key_of_collector(storage) == {"first"}, log.read_text)
            revision = api.patch(f"{group}/env", json={"secrets": {"KEY": "second"}}).json()["revision"]
            rollout = {"version_number": 1, "variables_revision": revision}
            steps = {"strategy": {"steps": [{"percent": 100, "soak_seconds": 1}]}}
            until(lambda: api.get(f"{group}/env/hosts").json()["hosts"] == 1, log.read_text)
            answer = api.post(f"{group}/rollouts", json=rollout | steps)
            assert answer.status_code == 201, answer.text
            path = f"{group}/rollouts/{answer.json()['id']}"
            until(lambda: api.get(path).json()["status"] != "in_progress", log.read_text)
            ended, running = api.get(path).json(), key_of_collector(storage)
        finally:
            supervisor.terminate()

    assert (ended["status"], ended["hosts"]["not_moved"], running) == ("completed", 0, {"second"}), ended
    (file,) = (storage / "programs" / "variables").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
