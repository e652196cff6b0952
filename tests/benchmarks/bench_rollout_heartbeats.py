"""What a rollout costs the tables: each heartbeat, of a host in its step and of another one, and each tick.

Counted at the AWS client. The baseline is a heartbeat of the same hosts without a rollout, averaged over an hour: one
that says nothing new is not written. Hosts report their counters with each message, as Headgate's supervisor does.

python -m tests.benchmarks.bench_rollout_heartbeats [--hosts 40]
"""

import argparse
import logging
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate.foundation import clock
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.rollouts import execution_store, executions
from rollout_steps.app import handler
from tests.support.aws import aws_for
from tests.support.fleet_of_agents import Clock, make_fleet
from tests.support.members import join
from tests.support.request_units import counted
from tests.support.rolling import Host, RollingGroup

BEATS_OF_AN_HOUR = 120
STEPS = {"steps": [{"percent": 50, "soak_seconds": 86_400}, {"percent": 100, "soak_seconds": 60}]}


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--hosts", type=int, default=40)
    hosts = arguments.parse_args().hosts
    # A line for each change of a state would bury the figures.
    logging.getLogger("headgate").setLevel(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
        for _ in aws_for(monkeypatch, Path(folder)):
            monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
            monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", "/nonexistent")
            settings.cache_clear()
            count(monkeypatch, hosts)


def count(monkeypatch: pytest.MonkeyPatch, hosts: int) -> None:
    stopped = Clock(clock.now())
    monkeypatch.setattr(clock, "now", lambda: stopped.at)
    monkeypatch.setattr(executions, "begin", lambda _: None)
    organization_id = identity.create_organization("Bench").id
    fleet = make_fleet(join([*fleets_routers, configurations_router], default_organization_id=organization_id))
    group = RollingGroup.of(fleet, stopped, hosts=hosts)
    print(f"\n{'a heartbeat, every 30 s':<44} {'calls':>6} {'read units':>11} {'write units':>12}")
    beats(group, "no rollout", group.hosts)
    rollout = group.start(STEPS)
    tick(group, rollout["id"])
    for _ in range(6):
        group.beats()
    beats(group, "a rollout: hosts of the running step", group.with_new())
    others = [host for host in group.hosts if not host.has_new]
    beats(group, "a rollout: hosts of the step about to begin", others)
    with counted() as (calls, units):
        tick(group, rollout["id"])
    named = f"a tick, {hosts} hosts in the fleet"
    print(f"{named:<44} {sum(calls.values()):>6} {units['read']:>11} {units['write']:>12}")
    print("  " + ", ".join(f"{done} {operation}" for operation, done in sorted(calls.items())))


def beats(group: RollingGroup, name: str, hosts: Sequence[Host]) -> None:
    """The average heartbeat of an hour."""
    with counted() as (calls, units):
        for _ in range(BEATS_OF_AN_HOUR):
            group.clock.moves(seconds=30)
            for host in hosts:
                host.beats()
    per = 1 / (BEATS_OF_AN_HOUR * len(hosts))
    print(f"{name:<44} {sum(calls.values()) * per:>6.2f} {units['read'] * per:>11.2f} {units['write'] * per:>12.2f}")
    print("  " + ", ".join(f"{done * per:.2f} {operation}" for operation, done in sorted(calls.items())), flush=True)


def tick(group: RollingGroup, rollout_id: str) -> None:
    """As the state machine asks."""
    (one,) = [one for one in execution_store.open_rollouts() if one.execution.rollout_id == rollout_id]
    place = {"fleet_id": group.fleet.id, "deployment_id": group.fleet.deployment_id, "rollout_id": rollout_id}
    handler({"step": "tick", "execution": one.execution.name, "ticks": 0, **place}, None)


if __name__ == "__main__":
    main()
