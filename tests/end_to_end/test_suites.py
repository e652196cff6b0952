"""Suites on the running service: many cases in one task, each with the output and verdicts of a run of its own."""

import time
from collections.abc import Iterator

import httpx
import pytest

from tests.support import run_support
from tests.support.local_service import LocalService
from tests.support.run_support import Json, configuration

pytestmark = pytest.mark.end_to_end

RULE = {"name": "some", "condition": "true"}


@pytest.fixture(scope="module")
def client(service: LocalService) -> Iterator[httpx.Client]:
    with service.client() as made:
        yield made


def finished(client: httpx.Client, yaml: str, *tests: Json) -> Json:
    """The suite, once it has ended."""
    started = client.post("/testing/suites", json={"yaml": yaml, "tests": tests})
    assert started.status_code == 201, started.text
    path = f"/testing/suites/{started.json()['id']}"
    deadline = time.monotonic() + run_support.PATIENCE_SECONDS
    while True:
        found: Json = client.get(path).json()
        if found["status"] in ("Done", "Error"):
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.1)


def a_test(name: str, **changes: object) -> Json:
    return {"name": name, "target_pipeline": "logs/app", "sample": run_support.LOGS, "rules": [RULE], **changes}


def test_a_suite_tells_of_each_test_what_a_run_would(client: httpx.Client) -> None:
    yaml = configuration("{filter: {logs: {log_record: ['severity_number < 1']}}}", "[filter]")
    ended = finished(client, yaml, a_test("passes"), a_test("fails", rules=[{"name": "none", "condition": "false"}]))
    print(ended)
    assert ended["status"] == "Done", ended
    passes, fails = ended["result"]["tests"]
    alone = run_support.run(client, run_support.request(yaml=yaml, rules=[RULE]))
    print(alone)

    assert (passes["status"], fails["status"], ended["result"]["passed"]) == ("Success", "Fail", False)
