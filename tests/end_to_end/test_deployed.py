"""One walk through the service as it is deployed: every function from what SAM built, on the Python that AWS runs.

Each runs under AWS's own runtime emulator, with the layers alone on its path and under a filter of system calls like
Lambda's, and gets the events that API Gateway, Step Functions, SQS and EventBridge's scheduler send.
"""

import gzip
import platform
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from headgate.storage import aws, table
from tests.support import deployed_service
from tests.support.admin import APP, PUBLIC, Admin
from tests.support.aws import read_template
from tests.support.counting_hosts import CountingHost, image
from tests.support.deployed_service import DeployedService, Functions
from tests.support.lambda_emulator import runtime
from tests.support.opamp_agent import Agent

# A minute, and more where the layers are not built yet.
pytestmark = [pytest.mark.end_to_end, pytest.mark.full]

ROOT = Path(__file__).parents[2]
TEMPLATE = read_template()
YAML = """\
receivers: {filelog: {include: [/var/log/app.log]}}
processors:
  transform: {log_statements: ['set(log.severity_text, "ERROR")']}
exporters: {debug: {}}
service: {pipelines: {logs: {receivers: [filelog], processors: [transform], exporters: [debug]}}}
"""
RULE = {"name": "an error", "condition": 'log.severity_text == "ERROR"', "expect": "all"}


def deployed_python() -> Path:
    """The interpreter of the template's runtime. Skips where it is missing."""
    name = str(TEMPLATE.resolve({"Ref": "PythonRuntime"}))
    candidates = [
        shutil.which(name),
        *Path("~/.pyenv/versions").expanduser().glob(f"{name.removeprefix('python')}*/bin/{name}"),
    ]
    for candidate in filter(None, candidates):
        if subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
            return Path(candidate)
    pytest.skip(f"{name}, on which the functions are deployed, is not installed here")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeployedService]:
    python, folder = deployed_python(), tmp_path_factory.mktemp("deployed")
    architecture = "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64"
    sam = ROOT / ".venv-sam" / "bin" / "sam"
    artefacts = deployed_service.built(sam, ROOT, folder / "built", python, architecture)
    data = folder / "data"
    data.mkdir()
    on = runtime(python, python.name.removeprefix("python"), folder)
    with deployed_service.deployed(Functions(TEMPLATE, artefacts, on, folder, allow=()), data) as running:
        yield running


@pytest.fixture(scope="module")
def admin(service: DeployedService) -> Admin:
    """Who signed in on the page."""
    return Admin(service)


@pytest.fixture(scope="module")
def published(admin: Admin) -> str:
    """A configuration with a published version."""
    configuration_id = admin.made(f"{PUBLIC}/configurations", {"name": "Edge", "yaml": YAML})
    answer = admin.http.post(f"{PUBLIC}/configurations/{configuration_id}/versions/1/publish")
    assert answer.status_code == 200, answer.text
    return configuration_id


@pytest.fixture(scope="module")
def fleet(admin: Admin) -> str:
    return admin.made(f"{PUBLIC}/fleets", {"label": "Servers", "type": "server-supervisor"})


@pytest.fixture(scope="module")
def group(admin: Admin, fleet: str, published: str) -> str:
    """A group that is assigned the published version."""
    body = {"name": "web", "configuration_id": published, "version_number": 1}
    return admin.made(f"{PUBLIC}/fleets/{fleet}/deployments", dict(body))


@pytest.fixture(scope="module")
def host(admin: Admin, service: DeployedService, fleet: str, group: str) -> Agent:
    """A collector's supervisor that runs what it was offered."""
    asked = {"platform": "linux", "deployment_id": group}
    install = admin.http.post(f"{PUBLIC}/fleets/{fleet}/install", json=asked)
    assert install.status_code == 200, install.text
    headers = {
        "Authorization": f"Bearer {install.json()['connection']['token']}",
        "Content-Type": "application/x-protobuf",
        "X-Deployment-Id": group,
    }

    def post(body: bytes) -> bytes:
        answer = httpx.post(f"{service.base_url}/v1/opamp", content=body, headers=headers, timeout=60)
        assert answer.status_code == 200, answer.text
        return answer.content

    agent = Agent(post)
    agent.start()
    agent.applies()
    return agent


def test_a_text_is_validated_and_linted(admin: Admin) -> None:
    good = admin.http.post(f"{PUBLIC}/validate", json={"yaml": YAML})
    bad = admin.http.post(f"{PUBLIC}/validate", json={"yaml": YAML.replace("debug", "debugg")})
    lint = admin.http.post(f"{PUBLIC}/ottl/lint", json={"yaml": YAML})

    assert (good.status_code, good.json()["valid"]) == (200, True)
    assert (bad.json()["valid"], bad.json()["errors"][0]["code"]) == (False, "unknown_component")
    assert (lint.json()["valid"], lint.json()["checked"]) == (True, 1)


def test_a_pipeline_test_succeeds(admin: Admin, published: str) -> None:
    body = {
        "configuration_id": published,
        "version_number": 1,
        "signal_type": "logs",
        "target_pipeline": "logs",
        "sample": "order 1 paid",
        "duration_seconds": 1,
        "rules": [RULE],
    }
    started = admin.http.post(f"{PUBLIC}/testing/runs", json=body)
    assert started.status_code == 202, started.text

    run = until(lambda: admin.http.get(f"{PUBLIC}/testing/runs/{started.json()['id']}").json(), ended)

    assert (run["status"], run["validation_results"][0]["passed"]) == ("Success", True), run["stderr"]


def ended(run: dict[str, Any]) -> bool:
    return run["status"] not in ("Queued", "Running")


def test_a_host_gets_its_version_and_is_shown_as_applied(admin: Admin, fleet: str, host: Agent) -> None:
    (instance,) = admin.http.get(f"{PUBLIC}/fleets/{fleet}/instances").json()["items"]

    assert b"filelog" in (host.config or b"")
    assert (instance["state"], instance["host_name"]) == ("applied", "edge-1")


def test_a_secret_of_a_group_is_stored_encrypted(admin: Admin, fleet: str, group: str) -> None:
    env = f"{PUBLIC}/fleets/{fleet}/deployments/{group}/env"

    assert admin.http.patch(env, json={"secrets": {"API_KEY": "of the owner"}}).status_code == 200
    assert "of the owner" not in admin.http.get(env).text


def test_a_rollout_ticks(admin: Admin, fleet: str, group: str, host: Agent, published: str) -> None:
    version = f"{PUBLIC}/configurations/{published}/versions"
    assert admin.http.post(version, json={"yaml": YAML.replace("ERROR", "WARN")}).status_code == 201
    assert admin.http.post(f"{version}/2/publish").status_code == 200
    rollouts = f"{PUBLIC}/fleets/{fleet}/deployments/{group}/rollouts"
    started = admin.http.post(rollouts, json={"version_number": 2, "strategy": {"steps": [{"percent": 100}]}})
    assert started.status_code == 201, started.text

    def offered() -> bool:
        host.heartbeat()
        return b"WARN" in (host.config or b"")

    assert until(offered, bool)


def test_an_event_reaches_the_webhooks_queue_and_its_delivery_is_tried(admin: Admin) -> None:
    """The receiver's name does not exist, so the function reports that it could not be reached."""
    created = admin.http.post(f"{PUBLIC}/webhooks", json={"name": "on-call", "url": "https://receiver.invalid/hook"})
    assert created.status_code == 201, created.text
    webhook = f"{PUBLIC}/webhooks/{created.json()['id']}"
    assert admin.http.post(f"{webhook}/test").status_code == 202

    (delivery,) = until(
        lambda: admin.http.get(f"{webhook}/deliveries").json()["items"], lambda items: bool(items[0]["attempts"])
    )

    assert delivery["type"] == "webhook.test"


def test_all_is_exported_and_webhooks_come_along(admin: Admin, service: DeployedService) -> None:
    service.functions.environment["HEADGATE_EXPORT_BUCKET"] = "exports"
    aws.s3().create_bucket(Bucket="exports")
    created = admin.http.post(f"{PUBLIC}/webhooks", json={"name": "exported", "url": "https://receiver.invalid/hook"})

    assert invoked(service, "ExportsFunction", {}) == {"exported": 1}

    stored = [entry["Key"] for entry in aws.s3().list_objects_v2(Bucket="exports")["Contents"]]
    assert [key.partition("/")[0] for key in stored] == ["archives", "seal-keys"]
    archive = gzip.decompress(aws.s3().get_object(Bucket="exports", Key=stored[0])["Body"].read()).decode()
    assert created.json()["id"] in archive
    assert "receiver.invalid/hook" not in archive


def test_what_a_host_counted_is_added_to_the_series(service: DeployedService, group: str) -> None:
    at = int(time.time())
    host = CountingHost(at * 1_000)
    before = image(f"ins_{1:026d}", group, 1, at, host.totals(), at)
    host.counts(100, 60_000)
    after = image(f"ins_{1:026d}", group, 2, at + 60, host.totals(), at)
    change = {"SequenceNumber": "1", "OldImage": before, "NewImage": after}

    assert invoked(service, "SeriesFunction", {"Records": [{"dynamodb": change}]}) == {"batchItemFailures": []}

    assert list(table.fleets.scan("begins_with(pk, :series)", {":series": f"series#{group}"}, "pk"))


def invoked(service: DeployedService, name: str, event: dict[str, Any]) -> object:
    """The answer of a function that no request reaches."""
    (function,) = (each for each in TEMPLATE.functions() if each.logical_id == name)
    return service.functions.of(function).invoke(event)


def test_a_capture_of_a_host_is_asked_for_with_its_next_message(
    admin: Admin, fleet: str, group: str, host: Agent
) -> None:
    for rollout in admin.http.get(f"{PUBLIC}/fleets/{fleet}/deployments/{group}/rollouts").json()["items"]:
        admin.http.post(f"{PUBLIC}/fleets/{fleet}/deployments/{group}/rollouts/{rollout['id']}/abort")
    assigned = {"version_number": 2}
    assert admin.http.patch(f"{PUBLIC}/fleets/{fleet}/deployments/{group}", json=assigned).status_code == 200
    host.heartbeat()
    host.applies()
    host.tells(b'{"v":1,"supervisor":{"version":"0.3.0"},"can":["capture"]}')
    instance = admin.http.get(f"{PUBLIC}/fleets/{fleet}/instances").json()["items"][0]["id"]
    allowed = admin.http.put(f"{PUBLIC}/fleets/{fleet}/deployments/{group}/captures", json={"allowed": True})
    assert allowed.status_code == 200, allowed.text

    body = {"instance_id": instance, "component": "transform", "pipeline": "logs"}
    answer = admin.http.post(f"{PUBLIC}/fleets/{fleet}/captures", json=body)

    assert answer.status_code == 201, answer.text
    assert answer.json()["id"].encode() in host.heartbeat().SerializeToString()


def test_members_flows_and_components_are_read(admin: Admin) -> None:
    for path in (
        f"{APP}/members",
        f"{PUBLIC}/identity",
        f"{PUBLIC}/flows",
        f"{PUBLIC}/components",
        f"{PUBLIC}/policies",
        f"{PUBLIC}/openapi.json",
    ):
        answer = admin.http.get(path)
        assert answer.status_code == 200, f"{path}: {answer.text}"


def until(look: Callable[[], Any], enough: Callable[[Any], bool], seconds: float = 60) -> Any:
    """What is seen once it is enough, or after that time."""
    deadline = time.monotonic() + seconds
    while not enough(seen := look()) and time.monotonic() < deadline:
        time.sleep(0.3)
    return seen
