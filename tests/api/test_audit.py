"""Every endpoint that changes something leaves a record: who, what, when, and by which credential."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from headgate.foundation import clock
from headgate_local import template
from tests.support.endpoint import Endpoint
from tests.support.endpoints import ENDPOINTS
from tests.support.faults.bench import Bench, made_ready
from tests.support.faults.rows import Row
from tests.support.world import APP

pytestmark = pytest.mark.collector

CHANGING = [endpoint for endpoint in ENDPOINTS if endpoint.action]


@pytest.fixture(scope="module")
def bench(aws_here: template.Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with made_ready(aws_here, tmp_path_factory.mktemp("state")) as bench:
        yield bench


def newest(bench: Bench) -> dict[str, Any]:
    """The newest record, empty if there is none."""
    items: list[dict[str, Any]] = bench.send(Row(f"GET {APP}/changes", 200, query="?limit=1")).json()["items"]
    return items[0] if items else {}


@pytest.mark.parametrize("endpoint", CHANGING, ids=lambda endpoint: endpoint.label)
def test_a_change_is_recorded(endpoint: Endpoint, bench: Bench) -> None:
    request = endpoint.requests[0]
    bench.reset(request)
    before = newest(bench)
    began = clock.rfc3339(clock.now())
    answer = bench.send(request)
    record = newest(bench)

    assert answer.status_code == request.status, answer.text
    assert record["id"] != before.get("id")
    assert record["action"] == endpoint.action
    answered = {name: value for name, value in (answer.json() if answer.content else {}).items() if name in ("id", "n")}
    ids = {**bench.world.ids, "organization_id": bench.world.organization_id, **answered}
    assert record["target"] == endpoint.target.format(**ids)
    assert (record["actor_kind"], record["actor_name"]) == ("user", record["credential_name"])
    assert str(record["credential_id"]).startswith("ses_")
    if endpoint.target.startswith("configurations/"):
        assert record["details"]["name"], "the page of changes names configurations and versions"
    assert began <= str(record["at"]) <= clock.rfc3339(clock.now())


@pytest.mark.parametrize("endpoint", CHANGING, ids=lambda endpoint: endpoint.label)
def test_what_is_refused_is_not_recorded(endpoint: Endpoint, bench: Bench) -> None:
    request = replace(endpoint.requests[0], headers={"Authorization": ""})
    bench.reset(request)
    before = newest(bench)
    answer = bench.send(request)

    assert answer.status_code == 401
    assert newest(bench) == before
