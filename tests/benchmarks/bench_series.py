"""What numbers over time cost the tables: a minute of a group whose hosts each report every third minute.

Counted at the AWS client: a transaction is charged twice. What the message itself stores is counted with and without
the totals, since they make the instance's item larger.

python -m tests.benchmarks.bench_series
"""

import json
import logging
import tempfile
import time
from pathlib import Path
from random import Random

import pytest

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate.foundation import clock
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.instances.series import store
from headgate_local import streams
from series.app import handler
from tests.support.aws import aws_for, read_template
from tests.support.counting_hosts import CountingHost
from tests.support.fleet_of_agents import Clock, Fleet, make_fleet
from tests.support.members import join
from tests.support.opamp_agent import Agent
from tests.support.request_units import counted

MINUTES = 15


def main() -> None:
    logging.getLogger("headgate").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        for _ in aws_for(monkeypatch, Path(folder)):
            monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
            monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", "/nonexistent")
            monkeypatch.setenv("HEADGATE_NEW_INSTANCES_PER_MINUTE", "100000")
            settings.cache_clear()
            print(f"{'hosts of a group':<24} {'ms':>8} {'calls':>8} {'reads':>8} {'writes':>8}  of a minute")
            for hosts in (10, 40, 200, 400):
                count(monkeypatch, hosts)
            messages(monkeypatch)


def count(monkeypatch: pytest.MonkeyPatch, hosts: int) -> None:
    """The writer alone, with three pipelines of four components on each host."""
    now, fleet, agents, counting = begun(monkeypatch, hosts)
    with streams.followed(read_template()) as (stream,):
        spent, writes, reads, calls = 0.0, 0, 0, 0
        for minute in range(3 * MINUTES):
            now.moves(seconds=60)
            for place, (agent, host) in enumerate(zip(agents, counting, strict=True)):
                counts(host)
                if place % 3 == minute % 3:
                    host.tells(agent)
            with counted() as (called, units):
                began = time.process_time()
                while stream.take(handler):
                    pass
                if minute >= MINUTES:
                    spent += time.process_time() - began
                    writes, reads = writes + units["write"], reads + units["read"]
                    calls += called.total()
    per = 1 / (2 * MINUTES)
    sizes = sum(len(part.hosts) for part in store.first_parts(fleet.deployment_id, 0, 9_999_999_999))
    print(
        f"{hosts:<24} {1_000 * spent * per:>8.0f} {calls * per:>8.1f} {reads * per:>8.1f} {writes * per:>8.1f}  {sizes}"
    )


def messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a host's own messages cost in an hour at rest, with the totals and without them."""
    for named, tells in (("without totals", False), ("with totals", True)):
        now, _, (agent,), (host,) = begun(monkeypatch, 1)
        with counted() as (_, units):
            for _ in range(60):
                now.moves(seconds=60)
                counts(host)
                if tells:
                    host.tells(agent)
                else:
                    agent.tells(COUNTERS)
        print(f"a host's hour, {named:<20} {units['read']:>5} read units {units['write']:>5} write units")


COUNTERS = (
    b'{"v":1,"labels":{"region":"eu-1","role":"web"},"counters":{"seconds":60,"accepted":600,"refused":0,"sent":600,'
    b'"failed":0,"dropped":0,"queue":0.25,"delivered":{"logs":600},"memory":104857600,"cpu":1500,'
    b'"exporters":{"otlphttp/backend":{"sent":600,"failed":0,"queue":0.25}}}}'
)


def counts(host: CountingHost) -> None:
    host.counts(Random(host.milliseconds).randrange(60_000), 60_000)


def begun(monkeypatch: pytest.MonkeyPatch, hosts: int) -> tuple[Clock, Fleet, list[Agent], list[CountingHost]]:
    now = Clock(clock.now())
    monkeypatch.setattr(clock, "now", lambda: now.at)
    organization_id = identity.create_organization("Bench").id
    fleet = make_fleet(join([*fleets_routers, configurations_router], default_organization_id=organization_id))
    agents = [fleet.agent(host_name=f"edge-{n}") for n in range(hosts)]
    fleet.assign(1)
    for agent in agents:
        agent.start()
        agent.applies()
        agent.tells(COUNTERS)
    return (
        now,
        fleet,
        agents,
        [CountingHost(int(now.at.timestamp() * 1_000), pipelines=3, more=json.loads(COUNTERS)) for _ in agents],
    )


if __name__ == "__main__":
    main()
