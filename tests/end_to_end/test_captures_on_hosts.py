"""Captures on a host: the real supervisor and collector, and a stand-in for the service, which keeps all messages."""

import base64
import http.client
import json
import signal
import threading
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

import pytest

from tests.support.listening import listening
from tests.support.ports import free_port
from tests.support.supervised_host import SupervisedHost, supervised_host

PORT = free_port()
# As a sender may leak them, and what must not leave the host of each.
SECRETS = {
    "password=correct-horse-9 given": "correct-horse-9",
    "Authorization: Bearer abcdef123456": "abcdef123456",
    "card 4111 1111 1111 1111 charged": "4111 1111",
    "wrote to jane.doe@example.org": "jane.doe",
    "key AKIAIOSFODNN7EXAMPLE used": "AKIAIOSFODNN7EXAMPLE",
    "id 9f86d081884c7d659a2feaa0c55ad015": "9f86d081884c7d65",
}
CONFIGURATION = """\
receivers:
  otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{port}"}}}}}}
processors:
  attributes: {{actions: [{{key: step, value: first, action: upsert}}]}}
  attributes/later: {{actions: [{{key: later, value: yes, action: upsert}}]}}
exporters:
  otlphttp/backend: {{endpoint: "{backend}", encoding: json, compression: none}}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines:
    logs/a: &all {{receivers: [otlp], processors: [attributes, attributes/later], exporters: [otlphttp/backend]}}
    traces: *all
    metrics: *all
"""


class Backend:
    """Where the main pipelines send: the names of the records that arrived."""

    def __init__(self) -> None:
        self.arrived: list[str] = []
        self.url = ""

    def take(self, body: bytes) -> None:
        for resource in json.loads(body).get("resourceLogs", []):
            for scope in resource["scopeLogs"]:
                for record in scope["logRecords"]:
                    assert {"step", "later"} <= {one["key"] for one in record["attributes"]}
                    self.arrived.append(record["body"]["stringValue"])


@pytest.fixture(scope="module")
def backend() -> Iterator[Backend]:
    kept = Backend()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kept.take(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    kept.url = f"http://127.0.0.1:{server.server_port}"
    with listening(server):
        yield kept


@pytest.fixture(scope="module")
def host(backend: Backend, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SupervisedHost]:
    with supervised_host(tmp_path_factory.mktemp("host")) as one:
        one.applies(CONFIGURATION.format(port=PORT, backend=backend.url))
        yield one


def sends(signal_type: str, document: object) -> bool:
    """Whether the collector takes it."""
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
    try:
        connection.request("POST", f"/v1/{signal_type}", json.dumps(document), {"Content-Type": "application/json"})
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def log(body: str) -> object:
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": body}}]}]}]}


def attributes(text: str) -> list[object]:
    return [{"key": "note", "value": {"stringValue": text}}, {"key": "note " + text, "value": {"intValue": "1"}}]


def documents(text: str) -> dict[str, object]:
    """The text wherever a sender may write, by signal. Each matches the condition."""
    resource, scope = {"attributes": attributes(text)}, {"name": text, "attributes": attributes(text)}
    more = {"attributes": attributes(text)}
    record = {"severityText": "match", "body": {"stringValue": text}, **more}
    ids = {"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174"}
    span = {**ids, **more, "name": text, "kind": 5, "traceState": f"a={text}", "status": {"message": text}}
    span |= {"events": [{"name": text, **more}], "links": [{**ids, **more}]}
    point = {"asInt": "7", **more, "exemplars": [{"asInt": "1", "filteredAttributes": attributes(text)}]}
    metric = {"name": text, "description": text, "unit": text, "gauge": {"dataPoints": [point]}}
    return {
        "logs": {"resourceLogs": [{"resource": resource, "scopeLogs": [{"scope": scope, "logRecords": [record]}]}]},
        "traces": {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": [span]}]}]},
        "metrics": {
            "resourceMetrics": [{"resource": resource, "scopeMetrics": [{"scope": scope, "metrics": [metric]}]}]
        },
    }


def sample_of(told: dict[str, Any]) -> str:
    return zlib.decompress(base64.b64decode(told["sample"])).decode()


ASKED = {
    "logs": {"pipeline": "logs/a", "context": "log", "condition": 'severity_text == "match"'},
    "traces": {"pipeline": "traces", "context": "span", "condition": 'attributes["step"] == "first" and kind == 5'},
    "metrics": {"pipeline": "metrics", "context": "datapoint", "condition": "value_int == 7"},
}


@pytest.mark.parametrize("signal_type", ASKED)
def test_what_matches_is_captured_and_none_of_its_secrets_leaves_the_host(
    host: SupervisedHost, signal_type: str
) -> None:
    capture_id = f"cap_{signal_type}"
    wanted = {"signal": signal_type, "component": "attributes", "records": len(SECRETS), **ASKED[signal_type]}
    host.captures(capture_id, **wanted)
    host.waits(lambda: sends("logs", log("does not match")))
    for text in SECRETS:
        assert sends(signal_type, documents(text)[signal_type])
    told = host.captured(capture_id)

    assert (told["reason"], told["records"], told["left_out"]) == ("records", len(SECRETS), 0)
    sample = sample_of(told)
    # After the first processor, and before the second one.
    assert '"step"' in sample
    assert "later" not in sample
    assert "does not match" not in sample
    sent = b"".join(message.SerializeToString() for message in host.told.messages) + sample.encode()
    assert [secret for secret in SECRETS.values() if secret.encode() in sent] == []
    assert "REDACTED" in sample


@pytest.mark.full
def test_a_reader_that_stalls_and_one_that_is_killed_cost_the_main_pipeline_nothing(
    host: SupervisedHost, backend: Backend
) -> None:
    """Records are sent all the time. Each one that was accepted arrives, and arrives once."""
    accepted: list[str] = []
    done, stalled = threading.Event(), threading.Event()

    def sending() -> None:
        for n in count():
            if done.is_set():
                return
            # A capture of the early ones could be full, and the collector restarting, before the reader stalls.
            record = f"{'late' if stalled.is_set() else 'early'} record {n}"
            if sends("logs", log(record)):
                accepted.append(record)
            done.wait(0.01)

    def more() -> None:
        goal = len(accepted) + 100
        host.waits(lambda: len(accepted) >= goal)

    wanted = {"signal": "logs", "pipeline": "logs/a", "component": "attributes", "context": "log"}
    backend.arrived.clear()
    sender = threading.Thread(target=sending)
    sender.start()
    assert host.process is not None
    try:
        host.captures("cap_stalled", **wanted, condition='IsMatch(body, "^late")')
        host.process.send_signal(signal.SIGSTOP)
        stalled.set()
        more()
        host.process.send_signal(signal.SIGCONT)
        assert host.captured("cap_stalled")["records"] == 100
        host.captures("cap_killed", **wanted, condition="true", records=1)
        # The collector ends with its supervisor.
        host.process.kill()
        host.process.wait()
        host.waits(lambda: not sends("traces", {}))
        host.start()
        more()
        assert host.captured("cap_killed")["reason"] in ("restarted", "records")
    finally:
        # It does nothing if the process has ended.
        host.process.send_signal(signal.SIGCONT)
        done.set()
        sender.join()
    host.waits(lambda: set(accepted) <= set(backend.arrived))

    assert sorted(backend.arrived) == sorted(set(backend.arrived))
