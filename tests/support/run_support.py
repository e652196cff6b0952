"""Test runs over HTTP, as any client would make them."""

import time
from pathlib import Path
from typing import Any

import httpx

Json = dict[str, Any]
FINAL = ("Success", "Fail", "Error")
# Two minutes is what twenty runs of a minute at once may take on two processors, and more than any test here asks for.
PATIENCE_SECONDS = 120


def start(client: httpx.Client, request: Json) -> Json:
    """A run that has been accepted; it is asked for again while the checker has too many questions waiting."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    response = client.post("/testing/runs", json=request)
    while response.status_code == 503 and response.json()["code"] == "checker_busy" and time.monotonic() < deadline:
        time.sleep(0.5)
        response = client.post("/testing/runs", json=request)
    assert response.status_code == 202, response.text
    started: Json = response.json()
    return started


def finished(client: httpx.Client, run_id: str, kind: str = "runs") -> Json:
    """The run, or the job of another kind, once its status is final."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        response = client.get(f"/testing/{kind}/{run_id}")
        assert response.status_code == 200, response.text
        found: Json = response.json()
        if found["status"] in FINAL:
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.1)


def run(client: httpx.Client, request: Json) -> Json:
    """A finished run."""
    return finished(client, start(client, request)["id"])


def output(client: httpx.Client, run_id: str) -> str:
    response = client.get(f"/testing/runs/{run_id}/output", follow_redirects=True)
    assert response.status_code == 200, response.text
    return response.text


LOGS = (Path(__file__).parent / "pipelines" / "logs.json").read_text()


def configuration(processors: str = "{}", used: str = "[]", **sections: str) -> str:
    further = "".join(f"{name}: {content}\n" for name, content in sections.items())
    return (
        "receivers: {otlp: {protocols: {grpc: {}}}}\n"
        f"processors: {processors}\n"
        "exporters: {debug: {}}\n"
        f"{further}"
        f"service: {{pipelines: {{logs/app: {{receivers: [otlp], processors: {used}, exporters: [debug]}}}}}}\n"
    )


def request(**changes: Any) -> Json:
    body = {
        "yaml": configuration(),
        "sample": LOGS,
        "signal_type": "logs",
        "target_pipeline": "logs/app",
        "duration_seconds": 1,
    }
    return {name: value for name, value in {**body, **changes}.items() if value is not None}


def own(number: int, **changes: Any) -> Json:
    """A request whose run only succeeds with what belongs to it."""
    rules = [{"name": "own", "condition": f'attributes["n"] == {number}', "expect": "all"}]
    processors = f"{{attributes: {{actions: [{{key: n, value: {number}, action: insert}}]}}}}"
    return request(yaml=configuration(processors, "[attributes]"), rules=rules, **changes)
