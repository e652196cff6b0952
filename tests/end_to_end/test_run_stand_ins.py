"""Test runs without the processors that need a cluster or a host, and with variables whose values are secrets."""

import json
from typing import Any

import httpx
import pytest

from tests.support import run_support
from tests.support.local_service import LocalService
from tests.support.run_support import Json, configuration, request

pytestmark = pytest.mark.end_to_end

SECRET = "s3cret-of-a-test-run"
# One that no output has.
HIDDEN = "h1dden-in-every-place"
ENRICHED = configuration(
    "{k8sattributes/prod: {extract: {metadata: [k8s.pod.name]}}, 'batch': {}}", "[k8sattributes/prod, batch]"
)


@pytest.fixture(scope="module")
def client(service: LocalService) -> Any:
    with service.client() as opened:
        yield opened


def notes(ended: Json) -> list[str]:
    lines = ended["stderr"].splitlines()
    return [line.removeprefix("headgate: note: ") for line in lines if line.startswith("headgate: note: ")]


def resource_attributes(client: httpx.Client, ended: Json) -> Json:
    document = json.loads(run_support.output(client, ended["id"]).splitlines()[0])
    return {one["key"]: one["value"] for one in document["resourceLogs"][0]["resource"]["attributes"]}


def test_what_needs_a_cluster_is_told_with_the_way_around_it(client: httpx.Client) -> None:
    ended = run_support.run(client, request(yaml=ENRICHED))

    assert ended["status"] == "Error"
    assert ended["stderr"].splitlines()[1] == (
        "headgate: note: processors::k8sattributes/prod cannot work in a test run, which has no network, no host and "
        'no cluster: leave it out, "skip": ["k8sattributes/prod"] (--skip k8sattributes/prod), or say what it would '
        'add, "attributes": {"k8sattributes/prod":{"k8s.namespace.name":"...","k8s.pod.name":"..."}} '
        "(--attribute k8sattributes/prod:k8s.namespace.name=... --attribute k8sattributes/prod:k8s.pod.name=...)"
    )


def test_a_processor_is_left_out_or_replaced_by_the_attributes_that_it_would_add(client: httpx.Client) -> None:
    without = run_support.run(client, request(yaml=ENRICHED, skip=["k8sattributes/prod"]))
    attributes = {"k8s.pod.name": "a$b ${env:X}", "n": 5, "whole": 1.0, "part": 0.5, "on": False, "text": "5"}
    replaced = run_support.run(client, request(yaml=ENRICHED, attributes={"k8sattributes/prod": attributes}))
    added = resource_attributes(client, replaced)

    assert (without["status"], notes(without)) == ("Success", ["skip leaves out processors::k8sattributes/prod"])
    assert "k8s.pod.name" not in resource_attributes(client, without)
    assert replaced["status"] == "Success", replaced
    assert notes(replaced) == [
        "attributes puts resource/headgate_instead_of_k8sattributes/prod in the place of "
        "processors::k8sattributes/prod: it sets k8s.pod.name, n, on, part, text, whole"
    ]
    assert {key: added[key] for key in attributes} == {
        "k8s.pod.name": {"stringValue": "a$b ${env:X}"},
        "n": {"intValue": "5"},
        "whole": {"doubleValue": 1},
        "part": {"doubleValue": 0.5},
        "on": {"boolValue": False},
        "text": {"stringValue": "5"},
    }


def test_what_cannot_be_left_out_is_422_at_its_field(client: httpx.Client) -> None:
    for field, value in (("skip", ["otlp"]), ("attributes", {"otlp": {"a": "b"}})):
        response = client.post("/testing/runs", json=request(yaml=ENRICHED, **{field: value}))

        assert response.status_code == 422, response.text
        assert response.json()["errors"][0]["loc"] == ["body", field]
        assert response.json()["detail"].startswith('"otlp" is a receiver, which the sample replaces anyway')


def test_a_run_has_its_variables_as_the_collector_reads_them(client: httpx.Client) -> None:
    """What the collector itself makes of a value: YAML, with references in it, a text where it is part of one."""
    env = {
        "TOKEN": SECRET,
        "NESTED": "<${env:TOKEN}>",
        "LINES": "one\ntwo",
        "DOLLARS": "a$$b$c",
        "NUMBER": "007",
        "LARGE": "0123456789" * 10_000,
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=test",
        "PROCESSORS": "[resourcedetection, resource, batch/named]",
    }
    actions = ", ".join(
        f"{{key: {name}, value: 'x ${{env:{name}}}', action: insert}}" for name in env if name != "PROCESSORS"
    )
    yaml = configuration(
        f"{{resource: {{attributes: [{actions}]}}, resourcedetection: {{detectors: [env]}}, batch/named: {{}}}}",
        "'${env:PROCESSORS}'",
    )
    ended = run_support.run(client, request(yaml=yaml, env=env))
    added = resource_attributes(client, ended)

    assert ended["status"] == "Success", ended
    assert ended["env_names"] == sorted(env)
    assert added.pop("deployment.environment") == {"stringValue": "test"}
    assert {name: added[name]["stringValue"] for name in ("TOKEN", "NESTED", "LINES", "NUMBER", "LARGE")} == {
        "TOKEN": f"x {SECRET}",
        "NESTED": f"x <{SECRET}>",
        "LINES": "x one\ntwo",
        "NUMBER": "x 007",
        "LARGE": "x " + env["LARGE"],
    }
    assert added["DOLLARS"]["stringValue"] == "x a$b$c"


@pytest.mark.parametrize(
    ("processor", "env"),
    [
        ("batch: {timeout: '${env:TOKEN}'}", {"TOKEN": HIDDEN}),
        ("batch: {'${env:TOKEN}': 1}", {"TOKEN": HIDDEN}),
        ("batch: {timeout: '${env:TOKEN}'}", {"TOKEN": f'"{HIDDEN}\\n": [{HIDDEN}, {{a: {HIDDEN}}}]'}),
        ("batch: '${env:TOKEN}'", {"TOKEN": f"{HIDDEN}: [" + "x, " * 20_000 + "]"}),
        ("batch: {timeout: '${env:${env:TOKEN}}'}", {"TOKEN": HIDDEN}),
        ("batch: {timeout: '${file:${env:TOKEN}}'}", {"TOKEN": f"/etc/{HIDDEN}"}),
        ("batch: {timeout: '${env:TOKEN}'}", {"TOKEN": f"${{file:/etc/{HIDDEN}}}"}),
        ("transform/x: {log_statements: ['set(body, ${env:TOKEN})']}", {"TOKEN": f'"{HIDDEN}'}),
    ],
)
def test_nothing_that_a_run_leaves_has_a_value(
    processor: str, env: dict[str, str], client: httpx.Client, service: LocalService
) -> None:
    name = processor.partition(":")[0]
    response = client.post("/testing/runs", json=request(yaml=configuration(f"{{{processor}}}", f"[{name}]"), env=env))
    told = response.text
    if response.status_code == 202:
        ended = run_support.finished(client, response.json()["id"])
        assert ended["status"] == "Error"
        told += json.dumps(ended) + client.get(f"/testing/runs/{ended['id']}/stderr").text

    assert HIDDEN not in told
    assert places_of(HIDDEN, service) == []


def test_the_steps_of_a_run_have_no_value_that_the_output_has_not(client: httpx.Client, service: LocalService) -> None:
    statements = [
        'set(log.attributes["a"], "x") where log.body == "${env:TOKEN}"',
        'set(log.attributes["b"], ParseJSON("${env:TOKEN}"))',
        'set(log.attributes["c"], "${env:TOKEN}") where log.body == "no such body"',
    ]
    yaml = configuration(
        f"{{transform: {{error_mode: ignore, log_statements: {json.dumps(statements)}}}, "
        "filter: {error_mode: ignore, logs: {log_record: ['body == \"${env:TOKEN}\"']}}}",
        "[transform, filter]",
    )
    ended = run_support.run(client, request(yaml=yaml, env={"TOKEN": HIDDEN}, trace=True))
    steps = client.get(f"/testing/runs/{ended['id']}/steps").json()

    assert ended["status"] == "Success", ended
    assert steps["available"], steps
    assert HIDDEN not in json.dumps(steps) + json.dumps(ended)
    assert places_of(HIDDEN, service) == []


def test_a_suite_has_its_variables_and_leaves_none_of_them(client: httpx.Client, service: LocalService) -> None:
    test = {
        "name": "it",
        "target_pipeline": "logs/app",
        "sample": run_support.LOGS,
        "duration_seconds": 1,
        "env": {"TOKEN": HIDDEN},
    }
    drops = "attributes: {actions: [{key: token, value: '${env:TOKEN}', action: insert}, {key: token, action: hash}]}"
    broken = "batch: {timeout: '${env:TOKEN}'}"
    for processor, name, status in ((drops, "attributes", "Success"), (broken, "batch", "Error")):
        rules = [{"name": "hashed", "condition": 'attributes["token"] != nil', "expect": "all"}]
        body = {"yaml": configuration(f"{{{processor}}}", f"[{name}]"), "tests": [{**test, "rules": rules}]}
        started = client.post("/testing/suites", json=body)
        assert started.status_code in (201, 202), started.text
        ended = run_support.finished(client, started.json()["id"], "suites")

        assert ended["result"]["tests"][0]["status"] == status, ended
        assert HIDDEN not in started.text + json.dumps(ended)
        assert places_of(HIDDEN, service) == []


def places_of(value: str, service: LocalService) -> list[str]:
    """The files of the service that contain a text."""
    return [str(file) for file in service.data.rglob("*") if file.is_file() and value.encode() in file.read_bytes()]
