"""What requests cost as an organization grows: with 10, 1,000 and 10,000 of what they touch.

python -m tests.benchmarks.bench_growth [--sizes 10,1000,10000] [--times 20]

Counted at the client: the calls to DynamoDB, and the bytes of its questions and answers. The baseline of each row is
the same request with the fewest. Milliseconds are of the request in this process, with a table in memory beside it,
which looks through a whole table for a query: they say nothing of growth on AWS.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from httpx2 import Response

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate.configurations import keys as configuration_keys
from headgate.fleets import keys as fleet_keys
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.log import logger
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.opamp import service as opamp
from headgate.storage import aws
from identity.app import router as identity_router
from tests.support.aws import aws_for
from tests.support.fleet_of_agents import Fleet, make_fleet
from tests.support.members import API, Member, join
from tests.support.opamp_agent import Agent

BATCH: Final = 25
WRITERS: Final = 4
YAML: Final = (Path(__file__).parent / "hundred_lines.yaml").read_text()
Attributes = dict[str, Any]
Request = Callable[[], Response | object]


@dataclass
class Cost:
    """What one request costs on average."""

    calls: float = 0
    asked_bytes: float = 0
    answered_bytes: float = 0
    milliseconds: list[float] = field(default_factory=list)

    def row(self, name: str, size: int, baseline: "Cost | None") -> str:
        size_of = self.asked_bytes + self.answered_bytes
        first = size_of if baseline is None else baseline.asked_bytes + baseline.answered_bytes
        median = statistics.median(self.milliseconds)
        worst = statistics.quantiles(self.milliseconds, n=100)[98]
        return (
            f"{name:<44} {size:>8,} {self.calls:>6.1f} {self.asked_bytes:>9,.0f} "
            f"{self.answered_bytes:>9,.0f} {median:>8.1f} {worst:>8.1f} {size_of / first:>7.2f}x"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10,1000,10000")
    parser.add_argument("--times", type=int, default=20)
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    logger.setLevel("ERROR")
    costs: dict[str, dict[int, Cost]] = {}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for _ in aws_for(patch, Path(folder)):
            patch.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
            patch.setenv("HEADGATE_COLLECTORS_DIR", "/nonexistent")
            settings.cache_clear()
            cost = watched()
            for size in sizes:
                for name, request in requests(size):
                    costs.setdefault(name, {})[size] = measured(cost, request, options.times)
    heads = f"{'of':>8} {'calls':>6} {'asked':>9} {'answered':>9} {'p50 ms':>8} {'p99 ms':>8} {'bytes':>8}"
    print(f"{'':<44} {heads}")
    for name, by_size in costs.items():
        for size, cost in by_size.items():
            print(cost.row(name, size, by_size[sizes[0]] if size != sizes[0] else None))


def watched() -> Cost:
    """What all calls come to, from now on."""
    cost = Cost()
    events = aws.dynamodb().meta.events

    def asked(params: Mapping[str, Any], **_: object) -> None:
        cost.calls += 1
        cost.asked_bytes += size_of(params)

    def answered(parsed: Mapping[str, Any], **_: object) -> None:
        cost.answered_bytes += size_of({name: value for name, value in parsed.items() if name != "ResponseMetadata"})

    events.register("before-parameter-build.dynamodb", asked)
    events.register("after-call.dynamodb", answered)
    return cost


def size_of(message: Mapping[str, Any]) -> int:
    """Return the bytes of a question or an answer as JSON."""
    return len(json.dumps(message, default=lambda value: value.decode("latin-1")))


def measured(cost: Cost, request: Request, times: int) -> Cost:
    request()
    cost.calls = cost.asked_bytes = cost.answered_bytes = 0
    found = Cost()
    for _ in range(times):
        started = time.perf_counter()
        response = request()
        found.milliseconds.append((time.perf_counter() - started) * 1000)
        if isinstance(response, Response):
            response.raise_for_status()
    found.calls = cost.calls / times
    found.asked_bytes, found.answered_bytes = cost.asked_bytes / times, cost.answered_bytes / times
    return found


def requests(size: int) -> Iterator[tuple[str, Request]]:
    """Requests of an organization with `size` configurations, versions of one of them, and instances in a fleet."""
    organization = identity.create_organization("Growth").id
    member = join([identity_router, configurations_router, *fleets_routers], default_organization_id=organization)
    http = member.http
    yield "GET /identity (touches none of them)", lambda: http.get(f"{API}/identity")

    first = create(member)
    fill_configurations(member, first, size)
    page = f"{API}/configurations"
    yield "GET /configurations?limit=5", lambda: http.get(f"{page}?limit=5")
    cursor = http.get(f"{page}?limit={min(size // 2, 100)}").json()["next_cursor"]
    yield "GET /configurations?limit=5, further on", lambda: http.get(f"{page}?limit=5&cursor={cursor}")
    yield "GET /configurations/{id}", lambda: http.get(f"{page}/{first}")
    yield "POST /configurations", lambda: http.post(page, json={"name": "New", "yaml": YAML})

    grown = create(member)
    fill_versions(member, grown, size)
    versions = f"{page}/{grown}/versions"
    yield "GET /configurations/{id}/versions?limit=5", lambda: http.get(f"{versions}?limit=5")
    yield "GET /configurations/{id}/versions/{n}", lambda: http.get(f"{versions}/{size}")
    yield "POST /configurations/{id}/versions", lambda: http.post(versions, json={"yaml": YAML})

    fleet = make_fleet(member)
    fleet.assign(1)
    agent = Agent(lambda body: opamp.exchange(fleet.token, fleet.deployment_id, body).encode())
    agent.start()
    agent.applies()
    fill_instances(fleet, size)
    yield "GET /fleets/{id}", lambda: http.get(f"{API}/fleets/{fleet.id}")
    instances = f"{API}/fleets/{fleet.id}/instances?limit=5"
    yield "GET /fleets/{id}/instances?limit=5", lambda: http.get(instances)
    yield "POST /v1/opamp, a heartbeat", agent.heartbeat


def create(member: Member) -> str:
    made: str = member.http.post(f"{API}/configurations", json={"name": "One", "yaml": YAML}).json()["id"]
    assert member.http.post(f"{API}/configurations/{made}/versions/1/publish").status_code == 200
    return made


def fill_configurations(member: Member, first: str, size: int) -> None:
    """Copies of the first one, each updated at a time of its own."""
    table = settings().configurations_table
    item = get(table, {"organization_id": member.organization_id, "configuration_id": first})
    begin = datetime(2026, 1, 1, tzinfo=UTC)

    def copies() -> Iterator[Attributes]:
        for number in range(size - 1):
            key, at = new_id("cfg"), clock.rfc3339(begin + timedelta(seconds=number))
            by_update = configuration_keys.by_update(at, key)
            yield {**item, "configuration_id": {"S": key}, "updated_at": {"S": at}, "by_update": {"S": by_update}}

    put_all(table, copies())


def fill_versions(member: Member, grown: str, size: int) -> None:
    """Copies of version 1 with their texts, and the count of them."""
    table = settings().versions_table
    pairs = [(get(table, make(grown, 1)), make) for make in (configuration_keys.version, configuration_keys.yaml)]

    def copies() -> Iterator[Attributes]:
        for n in range(2, size + 1):
            for item, make in pairs:
                copy = {**item, "item": {"S": make(grown, n)["item"]}}
                yield {**copy, "n": {"N": str(n)}} if "n" in item else copy

    put_all(table, copies())
    aws.dynamodb().update_item(
        TableName=settings().configurations_table,
        Key={"organization_id": {"S": member.organization_id}, "configuration_id": {"S": grown}},
        UpdateExpression="SET latest_version = :n",
        ExpressionAttributeValues={":n": {"N": str(size)}},
    )


def fill_instances(fleet: Fleet, size: int) -> None:
    """Copies of the one that reported."""
    table = settings().fleets_table
    (item,) = aws.dynamodb().query(
        TableName=table,
        KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
        ExpressionAttributeValues={":pk": {"S": fleet_keys.of_fleet(fleet.id)}, ":prefix": {"S": fleet_keys.INSTANCES}},
    )["Items"]

    def copies() -> Iterator[Attributes]:
        for _ in range(size - 1):
            key = new_id("ins")
            yield {**item, "sk": {"S": f"{fleet_keys.INSTANCES}{key}"}, "instance_id": {"S": key}}

    put_all(table, copies())


def get(table: str, key: Mapping[str, Any]) -> Attributes:
    named: Attributes = {name: {"S": value} for name, value in key.items()}
    return dict(aws.dynamodb().get_item(TableName=table, Key=named)["Item"])


def put_all(table: str, items: Iterator[Attributes]) -> None:
    def put(batch: list[Attributes]) -> None:
        left: Any = {table: [{"PutRequest": {"Item": item}} for item in batch]}
        while left:
            left = aws.dynamodb().batch_write_item(RequestItems=left)["UnprocessedItems"]

    def batches() -> Iterator[list[Attributes]]:
        batch: list[Attributes] = []
        for item in items:
            batch.append(item)
            if len(batch) == BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

    with ThreadPoolExecutor(WRITERS) as pool:
        for _ in pool.map(put, batches()):
            pass


if __name__ == "__main__":
    main()
