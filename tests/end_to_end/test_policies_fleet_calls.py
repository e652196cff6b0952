"""Requests about fleets and groups that call what the other tests here do not; test_policies.py looks at the calls."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from headgate.foundation import clock
from headgate.foundation.settings import settings
from headgate.identity import signing
from headgate.storage import aws, objects
from headgate_local import template
from tests.support import recorded_here, released
from tests.support.opamp_agent import Agent
from tests.support.recorded_here import API, YAML, People, created

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="module", autouse=True)
def recording(aws_here: template.Template, recorded_calls: Path) -> Iterator[None]:
    with recorded_here.recording(recorded_calls / "fleets.jsonl"):
        yield


@pytest.fixture
def people(aws_here: template.Template) -> People:
    return recorded_here.people(aws_here)


def agent(people: People, fleet: str, group: str) -> Agent:
    """A collector of the group."""
    asked = {"platform": "docker", "deployment_id": group}
    connection = people.ann.post(f"{fleet}/install", json=asked).json()["connection"]
    headers = {
        "Authorization": f"Bearer {connection['token']}",
        "Content-Type": "application/x-protobuf",
        "X-Deployment-Id": group,
    }
    return Agent(lambda message: people.ann.post("/v1/opamp", content=message, headers=headers).content)


def stopped(people: People, fleet: str, group: str) -> None:
    """A collector of the group that has come and gone."""
    gone = agent(people, fleet, group)
    gone.start()
    gone.leaves()


@pytest.mark.parametrize("joined", [False, True], ids=["nobody ever joined", "one joined"])
def test_groups_and_fleets_are_deleted_whether_anybody_joined_or_not(people: People, joined: bool) -> None:
    configuration = created(people.ann.post(f"{API}/configurations", json={"name": "Edge", "yaml": YAML}))
    assert people.ann.post(f"{API}/configurations/{configuration}/versions/1/publish").status_code == 200
    fleet = (
        f"{API}/fleets/{created(people.ann.post(f'{API}/fleets', json={'label': 'F', 'type': 'server-supervisor'}))}"
    )
    web = {"name": "web", "configuration_id": configuration, "version_number": 1, "message": "the first"}
    group = created(people.ann.post(f"{fleet}/deployments", json=web))
    selector = f"{fleet}/deployments/{group}/selector"
    assert people.ann.put(selector, json={"labels": {"zone": "a"}}).status_code == 200
    if joined:
        stopped(people, fleet, group)
        (instance,) = people.ann.get(f"{fleet}/instances").json()["items"]
        assert people.ann.get(f"{fleet}/deployments/{group}/states").json()["collectors"] == 1
        assert people.ann.get(f"{fleet}/series").status_code == 200
        assert people.ann.delete(f"{fleet}/instances/{instance['id']}").status_code == 204
    at = clock.rfc3339(clock.now())
    then = people.ann.get(f"{fleet}/deployments/{group}/history", params={"at": at}).json()
    assert then["event"]["message"] == "the first"

    assert people.ann.delete(f"{fleet}/deployments/{group}").status_code == 204
    assert people.ann.get(f"{fleet}/deployments", params={"name": "web"}).json()["items"] == []
    assert people.ann.delete(fleet).status_code == 204


def test_a_secret_is_stored_and_read_by_the_host_that_installs_itself(people: People) -> None:
    made = people.ann.post(f"{API}/fleets", json={"label": "Secretive", "type": "server-supervisor"})
    fleet = f"{API}/fleets/{created(made)}"
    (group,) = people.ann.get(f"{fleet}/deployments").json()["items"]
    env = f"{fleet}/deployments/{group['id']}/env"
    assert people.ann.patch(env, json={"secrets": {"API_KEY": "x y"}}).status_code == 200
    assert people.ann.patch(env, json={"variables": {"ZONE": "a"}}).status_code == 200
    assert [one["value"] for one in people.ann.get(env).json()["items"]] == [None, "a"]
    renewal = f"{fleet.replace(API, '/api/v1/app')}/deployments/{group['id']}/token"
    for grace in ("1d", "none"):
        assert people.ada.post(renewal, json={"grace": grace}).status_code == 200

    answer = people.ann.post(f"{fleet}/install", json={"platform": "docker"}).json()
    link = httpx2.URL(answer["install_url"])
    (code, *_) = re.findall(r"ic_[A-Za-z0-9_-]{43}", answer["command"])
    headers = {"Authorization": f"Bearer {answer['connection']['token']}", "X-Install-Code": code}
    query = link.query.decode()
    assert people.ann.get(f"{link.path}/variables?{query}", headers=headers).text == "ZONE=a\n"
    assert people.ann.post(f"{link.path}/secrets?{query}", headers=headers).text == "API_KEY=x y\n"
    assert people.ann.delete(fleet).status_code == 204


def test_a_capture_is_deleted_with_its_sample(people: People) -> None:
    text = "receivers: {nop: }\nprocessors: {batch: }\nexporters: {nop: }\n" + (
        "service: {pipelines: {logs: {receivers: [nop], processors: [batch], exporters: [nop]}}}\n"
    )
    configuration = created(people.ann.post(f"{API}/configurations", json={"name": "Sampled", "yaml": text}))
    assert people.ann.post(f"{API}/configurations/{configuration}/versions/1/publish").status_code == 200
    made = people.ann.post(f"{API}/fleets", json={"label": "C", "type": "server-supervisor"})
    fleet = f"{API}/fleets/{created(made)}"
    (group,) = people.ann.get(f"{fleet}/deployments").json()["items"]
    path, assigned = f"{fleet}/deployments/{group['id']}", {"configuration_id": configuration, "version_number": 1}
    assert people.ann.patch(path, json=assigned).status_code == 200
    assert people.ada.put(f"{path}/captures", json={"allowed": True}).status_code == 200
    host = agent(people, fleet, group["id"])
    host.start()
    host.tells(b'{"v":1,"supervisor":{"version":"0.3.0"},"name":"web-1","can":["capture"]}')
    host.applies()
    asked = {"deployment_id": group["id"], "pipeline": "logs", "component": "batch"}
    capture_id = created(people.ann.post(f"{fleet}/captures", json=asked))
    host.captured(capture_id, '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"a"}}]}]}]}')
    capture = f"{fleet}/captures/{capture_id}"
    assert people.ann.get(f"{capture}/sample").status_code == 200
    (stored,) = aws.s3().list_objects_v2(Bucket=settings().bucket, Prefix=f"captures/{capture_id}/")["Contents"]
    content = objects.read(stored["Key"])
    objects.delete(stored["Key"])
    assert people.ann.get(f"{capture}/sample").status_code == 404
    objects.write(stored["Key"], content)

    assert people.ann.delete(capture).status_code == 204
    left = aws.s3().list_object_versions(Bucket=settings().bucket, Prefix=f"captures/{capture_id}/")
    assert not left.get("Versions")


def test_a_host_is_told_where_to_fetch_its_supervisor(people: People) -> None:
    fleet = (
        f"{API}/fleets/{created(people.ann.post(f'{API}/fleets', json={'label': 'U', 'type': 'server-supervisor'}))}"
    )
    (group,) = people.ann.get(f"{fleet}/deployments").json()["items"]
    host = agent(people, fleet, group["id"])
    host.start()
    host.tells(b'{"v":1,"supervisor":{"version":"0.2.0"},"can":["upgrade_supervisor"]}')
    (instance,) = people.ann.get(f"{fleet}/instances").json()["items"]
    order = f"{fleet}/instances/{instance['id']}/upgrade-supervisor"
    assert people.ann.post(order).status_code == 503
    released.release()
    assert people.ann.post(order).status_code == 202
    # As in a new process of the fleet service.
    signing.signing_key.cache_clear()

    (order,) = json.loads(host.heartbeat().custom_message.data)["orders"]
    assert order["program"]["version"] == released.SUPERVISOR
