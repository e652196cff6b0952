"""An organization moved from one running service to another by the operator's commands."""

import base64
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.cli_support import Founder
from tests.support.local_service import LocalService
from tests.support.service import ROOT

pytestmark = pytest.mark.end_to_end

YAML = "receivers: {nop: }\nexporters: {nop: }\nservice: {pipelines: {logs: {receivers: [nop], exporters: [nop]}}}\n"


@pytest.fixture
def there(tmp_path: Path) -> Iterator[LocalService]:
    """Another service, which knows nothing of the first."""
    started = LocalService(tmp_path / "there")
    started.start()
    yield started
    started.stop()


def organization(service: LocalService, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scripts.organization", *arguments, "--local"],
        cwd=ROOT,
        env={**os.environ, "HEADGATE_DATA": str(service.data)},
        capture_output=True,
        text=True,
        check=False,
    )


def fill(client: httpx.Client) -> None:
    """Something of everything, a text among it that is too large for a table."""
    large = base64.b64encode(random.Random(1).randbytes(310_000)).decode()
    for number, text in enumerate((YAML, f"# {large}\n{YAML}")):
        created = client.post("configurations", json={"name": f"Edge {number}", "yaml": text}).raise_for_status()
        path = f"configurations/{created.json()['id']}/versions"
        client.post(f"{path}/1/publish").raise_for_status()
        client.post(path, json={"yaml": YAML}).raise_for_status()
    fleet = client.post("fleets", json={"label": "Edge", "type": "server-supervisor"}).raise_for_status().json()
    (group,) = client.get(f"fleets/{fleet['id']}/deployments").json()["items"]
    client.patch(
        f"fleets/{fleet['id']}/deployments/{group['id']}", json={"configuration_id": created.json()["id"]}
    ).raise_for_status()


def everything(client: httpx.Client) -> dict[str, object]:
    """What the API answers about all that `fill` made."""
    found: dict[str, object] = {}
    waiting = ["identity", "configurations", "fleets"]
    while waiting:
        path = waiting.pop()
        answer = client.get(path).raise_for_status().json(object_hook=_without_token)
        found[path] = answer
        for item in answer.get("items", []):
            if path == "configurations":
                waiting += [f"{path}/{item['id']}", f"{path}/{item['id']}/versions"]
            elif path == "fleets":
                waiting += [f"{path}/{item['id']}", f"{path}/{item['id']}/deployments"]
            elif path.endswith("/versions"):
                waiting.append(f"{path}/{item['n' if 'n' in item else 'version_number']}")
    return found


def _without_token(answer: dict[str, object]) -> dict[str, object]:
    """Install commands of another deployment contain a token that is made with its key."""
    return {name: value for name, value in answer.items() if name != "token_id"}


@pytest.mark.full
def test_an_organization_moves_to_another_deployment_with_all_it_has(
    service: LocalService, founder: Founder, there: LocalService, tmp_path: Path
) -> None:
    archive = tmp_path / "acme.jsonl.gz"
    token = founder.token("acme")
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{service.base_url}/api/v1/public", headers=headers, timeout=120) as client:
        fill(client)
        before = everything(client)
        organization_id = client.get("identity").json()["organization_id"]

    listed = organization(service, "list")
    exported = organization(service, "export", organization_id, "--to", str(archive))
    again = organization(service, "export", organization_id, "--to", str(archive))
    seal_key = organization(service, "seal-key", str(archive))
    not_here = organization(there, "seal-key", str(archive))
    imported = organization(there, "import", str(archive), "--seal-key", seal_key.stdout.strip())
    twice = organization(there, "import", str(archive))
    invited = organization(there, "invite", organization_id)

    assert organization_id in listed.stdout
    assert exported.returncode == 0, exported.stderr
    assert re.search(r"\d+ items and 1 objects in ", exported.stdout)
    assert again.returncode == 1
    assert "exists: name another file" in again.stderr
    assert seal_key.stdout.strip() in exported.stdout
    assert (not_here.returncode, not_here.stdout) == (1, "")
    assert imported.returncode == 0, imported.stderr
    assert "Not imported" not in imported.stdout
    assert twice.returncode == 1
    assert "exists already" in twice.stderr
    assert invited.returncode == 0, invited.stderr
    with httpx.Client(base_url=f"{there.base_url}/api/v1/public", headers=headers) as client:
        assert everything(client) == before
        # It goes on from where it was.
        path = next(path for path in before if path.endswith("/versions"))
        assert client.post(path, json={"yaml": YAML}).status_code == 201
    # What was imported is kept like all else.
    there.restart()
    with httpx.Client(base_url=f"{there.base_url}/api/v1/public", headers=headers) as client:
        assert client.get("identity").json() == before["identity"]


def test_without_a_running_service_the_command_says_how_to_start_one(tmp_path: Path) -> None:
    nowhere = LocalService(tmp_path / "nothing")

    result = organization(nowhere, "list")

    assert result.returncode == 1
    assert "start it with `make dev`" in result.stderr
    assert result.stdout == ""
