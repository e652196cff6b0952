"""The key of an installed host: its messages and its secrets, with the real supervisor, collector and script."""

import os
import signal
from pathlib import Path

import httpx
import pytest

from headgate.foundation.ids import number_of
from tests.support.fleet_host import Host, until
from tests.support.installing import host, installs
from tests.support.local_service import LocalService
from tests.support.opamp_agent import Agent

__all__ = ["host", "installs"]

pytestmark = pytest.mark.end_to_end


def composed(host: Host) -> dict[str, object]:
    """Another command for the same folder."""
    body = {"platform": "linux", "systemd": False, "root_deploy_path": str(host.root)}
    answer: dict[str, object] = host.api.post(f"/fleets/{host.fleet_id}/install", json=body).json()
    host.command = str(answer["command"])
    return answer


@pytest.mark.full
def test_an_installed_host_signs_moves_with_its_key_and_gets_secrets_sealed(host: Host, installs: LocalService) -> None:
    connection = composed(host)["connection"]
    host.install()
    host.apply(host.flowing("first"))
    before, key_file = host.instance(), host.root / "var" / "host-key.json"
    assert (before["host_key"] is not None, key_file.stat().st_mode & 0o777) == (True, 0o600)

    # Somebody else with the host's own token and id.
    assert isinstance(connection, dict)
    uid = number_of(before["id"]).to_bytes(16, "big")
    forged = Agent(lambda body: body, uid=uid, sequence_num=9_000, host_name="forged").full()
    headers = {"authorization": f"Bearer {connection['token']}", "x-deployment-id": host.deployment_id}
    refused = httpx.post(f"{installs.base_url}/v1/opamp", content=forged.SerializeToString(), headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "signature_missing")
    assert host.instance()["host_name"] == before["host_name"]

    # The group's first secret gives it a token of its own: another scope, which the key moves the host to.
    env = f"/fleets/{host.fleet_id}/deployments/{host.deployment_id}/env"
    secret = "it's `a` $secret"
    assert host.api.patch(env, json={"secrets": {"API_KEY": secret}}).status_code == 200
    assert composed(host)["connection"] != connection
    host.install()
    environment = (host.root / "etc" / "environment").read_text()
    assert f"API_KEY={secret}\0" in environment
    until(lambda: host.instance()["token_id"] != before["token_id"], host.log)
    after = host.instance()
    assert (after["id"], after["host_key"], after["state"]) == (before["id"], before["host_key"], "applied")
    host.apply(host.flowing("${env:API_KEY}"))
    assert host.flows_as(secret)

    # Without its key it is another host.
    os.kill(host.pid, signal.SIGTERM)
    until(lambda: not Path(f"/proc/{host.pid}").exists(), host.log)
    key_file.unlink()
    host.install()
    until(lambda: len(host.api.get(f"/fleets/{host.fleet_id}/instances").json()["items"]) == 2, host.log)
