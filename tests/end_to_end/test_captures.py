"""A capture from the command line to a test that passes: the real service, supervisor and collector."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support import fleet_host
from tests.support.admin import Admin
from tests.support.cli_support import Cli
from tests.support.fleet_host import Host
from tests.support.local_service import LocalService

pytestmark = pytest.mark.end_to_end
SECRETS = {"password=correct-horse-9": "correct-horse", "wrote to jane.doe@example.org": "jane.doe"}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[LocalService]:
    started = LocalService(tmp_path / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS="1")
    started.start()
    yield started
    started.stop()


@pytest.fixture
def host(service: LocalService, tmp_path: Path) -> Iterator[Host]:
    with fleet_host.host(tmp_path, service.client(), "servers") as one:
        one.install()
        one.apply(one.flowing("first"))
        yield one


@pytest.mark.full
def test_a_production_sample_becomes_a_test_that_passes(service: LocalService, host: Host, tmp_path: Path) -> None:
    cli = Cli(tmp_path, service.base_url, service.read_write_token)
    refused = cli.run("capture", "start", "servers", "--group", "Default", "--pipeline", "logs", "--component", "otlp")
    assert "an Admin allows them with `headgate capture allow`" in refused.err
    allowed = f"/api/v1/public/fleets/{host.fleet_id}/deployments/{host.deployment_id}/captures"
    assert Admin(service).http.put(allowed, json={"allowed": True}).status_code == 200

    done = threading.Event()

    def sends() -> None:
        while not done.wait(0.05):
            for text in (*SECRETS, "nothing secret"):
                record = {"body": {"stringValue": text}}
                log = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
                try:
                    httpx.post(f"http://127.0.0.1:{host.port}/v1/logs", json=log, timeout=10)
                except httpx.TransportError:
                    continue

    sender = threading.Thread(target=sends)
    sender.start()
    try:
        where = ("--group", "Default", "--pipeline", "logs", "--component", "otlp")
        asked = ("--condition", 'not IsMatch(body, "nothing")', "--records", "4")
        started = cli.run("capture", "start", "servers", *where, *asked, "--json")
    finally:
        done.set()
        sender.join()
    capture = json.loads(started.out)
    assert (capture["status"], capture["records"], capture["redacted"]) == ("completed", 4, 4), started
    assert "The host's collector restarts to begin" in started.err
    sample = cli.ok("capture", "sample", "servers", capture["id"])
    assert [secret for secret in SECRETS.values() if secret in sample] == []
    assert host.instance()["drifted"] == []

    published = cli.run("capture", "save", "servers", capture["id"], "checkout")
    assert "add --new-version for a draft" in published.err
    saved = cli.ok("capture", "save", "servers", capture["id"], "checkout", "--new-version")
    assert f"The test checkout is saved with {host.configuration_id}@2" in saved
    suite = cli.run("test", "suite", f"{host.configuration_id}@2")
    assert (suite.code, suite.err.splitlines()[-1]) == (0, "1 test passed")
    shown = host.api.get(f"/fleets/{host.fleet_id}/instances/{capture['instance_id']}/history").json()["items"]
    assert {"capture", "capture_ended"} <= {one["event"] for one in shown}
    assert "apply_failed" not in {one["event"] for one in shown}
