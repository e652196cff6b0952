"""Test runs that differ from a collector on a host as little as they can: samples, settings that stay, notes."""

import json
from typing import Any

import httpx
import pytest

from tests.support import run_support
from tests.support.local_service import LocalService
from tests.support.run_support import LOGS, Json, configuration, request

pytestmark = pytest.mark.end_to_end

POD = "/var/log/pods/shop_web-5d4dd4b4db-mrlrs_8b6c7f2e-1f0c-4b6e-9c11-6f6c0b1f2a3b/app/0.log"
GATE = "connector.spanmetrics.includeCollectorInstanceID"


@pytest.fixture(scope="module")
def client(service: LocalService) -> Any:
    with service.client() as opened:
        yield opened


def of_lines(receiver: str, further: str = "", exporters: str = "[debug]", pipelines: str = "") -> str:
    return (
        f"receivers: {{filelog: {{include: [/nowhere], {receiver}}}}}\nexporters: {{debug: {{}}}}\n{further}"
        f"service: {{pipelines: {{logs/app: {{receivers: [filelog], exporters: {exporters}}}{pipelines}}}}}\n"
    )


def count(number: int, condition: str = "true", **fields: str) -> Json:
    return {
        "name": f"{number} {condition}"[:200],
        "condition": condition,
        "expect": "count",
        "min": number,
        "max": number,
        **fields,
    }


def test_the_container_operator_reads_the_pod_from_the_samples_name(client: httpx.Client) -> None:
    lines = "2026-11-20T10:00:00.0Z stdout F one\n2026-11-20T10:00:01.0Z stderr F two\n"
    yaml = of_lines("include_file_path: true, operators: [{type: container}]")
    rules = [
        count(2, 'resource.attributes["k8s.pod.name"] == "web-5d4dd4b4db-mrlrs"'),
        count(2, f'attributes["log.file.path"] == "{POD}"'),
        count(1, 'body == "two" and attributes["log.iostream"] == "stderr"'),
    ]
    ended = run_support.run(client, request(yaml=yaml, sample=lines, sample_name=POD, rules=rules, duration_seconds=2))

    assert (ended["status"], ended["sample_name"]) == ("Success", POD), ended


def test_lines_of_otlp_stay_raw_if_the_caller_says_so(client: httpx.Client) -> None:
    yaml = of_lines(
        "max_log_size: 1MiB",
        "connectors: {otlpjson: {}}\n",
        "[otlpjson]",
        ", logs/read: {receivers: [otlpjson], exporters: [debug]}",
    )
    records = [count(6)]
    raw = run_support.run(
        client, request(yaml=yaml, sample=json.dumps(json.loads(LOGS)), sample_format="raw", rules=records)
    )
    guessed = run_support.run(client, request(yaml=yaml))

    assert (raw["status"], raw["records"]["in"]) == ("Success", {"logs": 1}), raw
    first, second, *_ = guessed["stderr"].splitlines()
    assert first.startswith("headgate: nothing came out")
    assert second.startswith("headgate: note: the sample was taken as OTLP/JSON, so it did not go through ")


def test_a_sample_gets_no_line_break_that_its_receiver_would_see(client: httpx.Client) -> None:
    yaml = of_lines(
        "multiline: {line_end_pattern: ';'}, preserve_leading_whitespaces: true, "
        "preserve_trailing_whitespaces: true, max_log_size: 4"
    )
    ended = run_support.run(
        client,
        request(yaml=yaml, sample="one;two;sixsix;", duration_seconds=3, rules=[count(4), count(0, 'body == "\\n"')]),
    )

    assert ended["status"] == "Success", ended


def test_the_collectors_own_resource_and_feature_gates_reach_a_connector(client: httpx.Client) -> None:
    span = {"traceId": "01" * 16, "spanId": "02" * 8, "name": "order", "endTimeUnixNano": "5"}
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    sample = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]}
    yaml = (
        "receivers: {otlp: {protocols: {grpc: {}}}}\nexporters: {debug: {}}\n"
        "connectors: {spanmetrics: {metrics_flush_interval: 500ms}}\n"
        "service: {telemetry: {resource: {collector.instance.id: collector-7}}, pipelines: {"
        "traces: {receivers: [otlp], exporters: [spanmetrics]}, "
        "metrics: {receivers: [spanmetrics], exporters: [debug]}}}\n"
    )
    rules = [
        {
            "name": "id",
            "context": "datapoint",
            "condition": 'attributes["collector.instance.id"] == "collector-7"',
            "expect": "all",
        }
    ]
    body = request(
        yaml=yaml,
        sample=sample,
        signal_type="traces",
        target_pipeline="traces",
        duration_seconds=2,
        rules=rules,
        feature_gates=[f"+{GATE}"],
    )
    ended = run_support.run(client, body)
    misspelt = client.post("/testing/runs", json=body | {"feature_gates": [f"+{GATE}s"]})

    assert (ended["status"], ended["feature_gates"]) == ("Success", [f"+{GATE}"]), ended
    assert "collector-7" not in ended["stderr"]
    assert "collector-7" in client.get(f"/testing/runs/{ended['id']}/stderr").text
    assert (misspelt.status_code, misspelt.json()["errors"][0]["loc"]) == (422, ["body", "feature_gates"])
    assert f'did you mean "{GATE}"?' in misspelt.json()["errors"][0]["message"]


def test_metrics_without_data_points_and_what_a_reader_may_not_expect_are_told(client: httpx.Client) -> None:
    metrics = [
        {"name": "bare"},
        {
            "name": "n",
            "gauge": {"dataPoints": [{"asInt": "5", "attributes": [{"key": "n", "value": {"intValue": "5"}}]}]},
        },
    ]
    yaml = (
        "receivers: {otlp: {protocols: {grpc: {}}}}\nexporters: {debug: {}}\n"
        "processors: {interval: {pass_through: {gauge: true}}, resourcedetection: {detectors: [env]}}\n"
        "service: {pipelines: {metrics: "
        "{receivers: [otlp], processors: [resourcedetection, interval], exporters: [debug]}}}\n"
    )
    rules = [
        {"name": "as text", "condition": 'attributes["n"] == "5"', "expect": "none"},
        count(1, 'name == "bare"', context="metric"),
    ]
    sample = {"resourceMetrics": [{"scopeMetrics": [{"metrics": metrics}]}]}
    ended = run_support.run(
        client, request(yaml=yaml, sample=sample, signal_type="metrics", target_pipeline="metrics", rules=rules)
    )
    notes = [line for line in ended["stderr"].splitlines() if line.startswith("headgate: note: ")]

    assert ended["status"] == "Success", ended
    assert [note.removeprefix("headgate: note: ").partition(":")[0] for note in notes] == [
        "rule 'as text'",
        "processors",
        "processors",
    ]
    assert "the value is a number on 1 data point" in notes[0]
    assert "interval waits 1m0s (interval), and the run lasts 1s" in notes[1]
    assert "resourcedetection finds nothing in a run for env" in notes[2]


@pytest.mark.parametrize(
    "name",
    [
        "sample",
        "/etc/passwd",
        "/proc/self/environ",
        "/run/collector.yaml",
        "/var/../etc/passwd",
        "/var/log/a\x00b",
        "/var/log/*.log",
        "/var/" + "x" * 300,
        "/${env:HOME}/x",
    ],
)
def test_a_name_that_could_reach_anything_else_is_422(name: str, client: httpx.Client) -> None:
    response = client.post("/testing/runs", json=request(yaml=configuration(), sample="a line\n", sample_name=name))

    assert response.status_code == 422, response.text
    assert response.json()["errors"][0]["loc"] == ["body", "sample_name"]
