"""Installs into containers: the printed helm line with the real Helm, the docker line, the image without a Docker."""

import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
from base64 import b64decode
from pathlib import Path
from typing import Any

import httpx
import pytest

from headgate.foundation.settings import settings
from tests.support import fleet_host, helm
from tests.support.fleet_host import Host
from tests.support.local_service import LocalService
from tests.support.ports import free_port
from tests.support.programs import MACHINE, cached_programs

pytestmark = pytest.mark.end_to_end

# Texts that mean something to a shell, to YAML, to Helm's --set, or to Kubernetes.
STRANGE = {
    "A": 'it\'s "$HOME" `x` \\ a,b={c}[0] é\n\tend',
    "B": "{{ .Release.Name }} $(HEADGATE_ENDPOINT) %s",
    "C": "",
    "D": "- yaml: [true, null]",
    "E": "007",
}


def configured(client: httpx.Client) -> str:
    """A configuration with a published version."""
    made = client.post("/configurations", json={"name": "any", "yaml": "receivers: {}"}).raise_for_status().json()
    client.post(f"/configurations/{made['id']}/versions/1/publish").raise_for_status()
    return str(made["id"])


def installed(client: httpx.Client, fleet_id: str, **fields: object) -> dict[str, Any]:
    answer = client.post(f"/fleets/{fleet_id}/install", json=fields)
    assert answer.is_success, answer.text
    made: dict[str, Any] = answer.json()
    return made


def test_the_printed_helm_line_works_as_it_is(service: LocalService, tmp_path: Path) -> None:
    client = service.client()
    fleet = client.post("/fleets", json={"label": "cluster", "type": "kubernetes-supervisor"}).json()
    group = {"name": "edge", "role": "gateway", "replicas": 4, "namespace": "observed"}
    assignment = {"configuration_id": configured(client), "version_number": 1}
    made = client.post(f"/fleets/{fleet['id']}/deployments", json={**group, **assignment}).raise_for_status().json()
    command = installed(client, fleet["id"], platform="kubernetes", env=STRANGE)["command"]
    # There is no cluster here: the same line renders what it would apply.
    given, words = helm.line(command, tmp_path)
    assert words[:2] == ["upgrade", "--install"]
    assert not [word for word in words if "ft_" in word or STRANGE["A"] in word]
    objects = helm.rendered(words[2:], tmp_path, given)

    workload, secret = helm.one_of(objects, "Deployment"), helm.one_of(objects, "Secret", made["id"][4:])
    assert workload["spec"]["replicas"] == 4
    assert words[words.index("--namespace") + 1] == "observed"
    env = {one["name"]: one.get("value") for one in workload["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert env["HEADGATE_DEPLOYMENT_ID"] == made["id"]
    assert env["HEADGATE_ENDPOINT"] == f"{service.base_url}/v1/opamp"
    assert b64decode(secret["data"]["token"]).startswith(b"ft_")
    variables = helm.one_of(objects, "Secret", "-env")["data"]
    assert {name: b64decode(value).decode() for name, value in variables.items()} == STRANGE


def test_the_entry_point_of_the_image_runs_as_the_docker_line_has_it(service: LocalService, tmp_path: Path) -> None:
    """Without a Docker: the image's own settings, then those of the line, in folders of this test."""
    client = service.client()
    fleet = client.post("/fleets", json={"label": "containers", "type": "server-supervisor"}).json()
    made = installed(client, fleet["id"], platform="docker", server_name="web-1", env={"A": STRANGE["A"]})
    printed = subprocess.run(
        ["/bin/sh", "-c", 'docker() { for word in "$@"; do printf \'%s\\0\' "$word"; done; }\n' + made["command"]],
        capture_output=True,
        check=True,
    )
    words = printed.stdout.decode().split("\0")[:-1]
    given = [value for flag, value in itertools.pairwise(words) if flag == "--env"]
    dockerfile = (helm.ROOT / "images" / "supervisor" / "Dockerfile").read_text().replace("\\\n", "")
    (of_image,) = re.findall(r"^ENV (.*)$", dockerfile, re.MULTILINE)
    (entry,) = re.findall(r'^ENTRYPOINT \["(.*)"\]$', dockerfile, re.MULTILINE)
    programs = cached_programs()
    variables = dict(one.split("=", 1) for one in [*of_image.split(), *given])
    assert {variables["HEADGATE_COLLECTOR"], entry} == {f"/usr/local/bin/{name}" for name in programs}
    # The image's paths are of its own file system; a port may be taken on this machine.
    variables["HEADGATE_COLLECTOR"] = str(programs["otelcol-contrib"])
    variables["HEADGATE_STORAGE"] = str(tmp_path) + variables["HEADGATE_STORAGE"]
    variables["HEADGATE_HEALTH_ENDPOINT"] = f"127.0.0.1:{free_port()}"

    with subprocess.Popen([programs[Path(entry).name]], env=variables, stderr=subprocess.PIPE) as process:
        try:
            one = Host(tmp_path, client, fleet["id"], made["deployment_id"], "", tmp_path, 0)
            fleet_host.until(lambda: client.get(f"/fleets/{fleet['id']}/instances").json()["items"] != [], lambda: "")
            one_there = one.instance()
            health = httpx.get(f"http://{variables['HEADGATE_HEALTH_ENDPOINT']}/health")
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=120)

    assert one_there["deployment_id"] == made["deployment_id"]
    assert health.status_code == 200
    assert process.returncode == 0
    assert words[words.index("--hostname") + 1] == "web-1"


@pytest.mark.full
def test_the_script_of_a_docker_link_builds_the_image_of_what_was_published(
    service: LocalService, tmp_path: Path
) -> None:
    """With a `docker` that keeps what it is asked to build."""
    client = service.client()
    fleet = client.post("/fleets", json={"label": "built", "type": "server-supervisor"}).json()
    made = installed(client, fleet["id"], platform="docker")
    docker = tmp_path / "docker"
    docker.write_text(
        f'#!/bin/sh\n[ "$1" = version ] && echo {MACHINE} && exit\necho "$*" >"{tmp_path}/asked"\n'
        f'for last; do :; done\ncp -R "$last" "{tmp_path}/context"\n'
    )
    docker.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    line = f"curl -fsSL {shlex.quote(made['install_url'])} | sh"
    done = subprocess.run(["/bin/sh", "-c", line], env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert (
        (tmp_path / "asked").read_text().startswith(f"build --tag headgate-supervisor:{settings().collector_version} ")
    )
    for name, program in cached_programs().items():
        copied = tmp_path / "context" / name
        assert subprocess.run(["cmp", copied, program], check=False).returncode == 0
        assert copied.stat().st_mode & 0o111
    built = (tmp_path / "context" / "Dockerfile").read_text()
    assert built == (helm.ROOT / "images" / "supervisor" / "Dockerfile").read_text()
    shutil.rmtree(tmp_path / "context")
