"""A group whose hosts send telemetry, apply what they are offered or fail to, and its rollouts by the API."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from httpx2 import Response

from headgate.rollouts import executions, service
from headgate.rollouts.model import Tick
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Clock, Fleet, version
from tests.support.members import API
from tests.support.opamp_agent import Agent

Fare = Literal["well", "fails", "401", "refuses", "queues", "dries up", "restarts"]
"""What the new version does to a host."""
Rollout = dict[str, Any]
FAILED = wire.RemoteConfigStatuses_FAILED
QUICK = {"steps": [{"hosts": 1, "soak_seconds": 120}, {"percent": 100, "soak_seconds": 60}]}


@dataclass
class Host:
    """An agent with our supervisor, or not `ours`. `tells` is whether it reports counters, `fares` what version 2 does.

    `can` is what its supervisor understands, `collector` the version that runs, `told` the program of its last offer.
    """

    agent: Agent
    labels: dict[str, str] = field(default_factory=dict)
    fares: Fare = "well"
    tells: bool = True
    ours: bool = True
    here: bool = True
    exits: int = 0
    had_new: bool = False
    stuck: bool = False
    can: Sequence[str] = ()
    platform: str = "linux"
    collector: str = "0.139.0"
    keeps_collector: bool = False
    told: dict[str, Any] = field(default_factory=dict)
    always: dict[str, float] = field(default_factory=dict)

    @property
    def runs(self) -> bytes | None:
        """The text that it was offered last."""
        return self.agent.config

    @property
    def has_new(self) -> bool:
        return self.runs is not None and self.runs.decode() == version(2)

    def report(self, **counted: float) -> bytes:
        counters = {"seconds": 30, "accepted": 300, "refused": 0, "sent": 300, "failed": 0, "dropped": 0, "queue": 0.0}
        report: dict[str, object] = {"v": 1, "supervisor": {"version": "0.2.0"}, "labels": self.labels}
        if self.can:
            report |= {"can": self.can, "platform": self.platform}
        report["collector"] = {"version": self.collector}
        if self.tells:
            report["counters"] = {**counters, **counted, "exporters": {}}
        return json.dumps({**report, "exits": {"since_apply": self.exits, "last": []}}).encode()

    def starts(self) -> None:
        self.agent.start()
        if self.ours:
            self.agent.tells(self.report())
        self._takes()

    def beats(self) -> None:
        """A heartbeat with the counters of the interval; what it is offered it applies, or fails to."""
        if not self.here:
            return
        if self.ours:
            self.agent.tells(self.report(**self._counted()))
        else:
            self.agent.heartbeat()
        self._takes()

    def _counted(self) -> dict[str, float]:
        if not self.has_new:
            return self.always
        if self.fares == "restarts":
            self.exits += 1
        ill: dict[Fare, dict[str, float]] = {
            "401": {"sent": 0, "failed": 300},
            "refuses": {"accepted": 100, "refused": 200},
            "queues": {"queue": 0.9},
            "dries up": {"accepted": 10, "sent": 10},
        }
        return ill.get(self.fares, self.always)

    def _takes(self) -> None:
        self.had_new |= self.has_new
        if self.agent.answer.HasField("remote_config"):
            orders = self.agent.answer.custom_message.data
            self.told = json.loads(orders).get("collector", {}) if orders else {}
        if self.stuck:
            # It goes on with what it runs.
            return
        if self.agent.status.status != wire.RemoteConfigStatuses_UNSET or self.runs is None:
            return
        if self.has_new and self.fares == "fails":
            self.agent.report(FAILED, "no such exporter")
            self._takes()
            return
        self.exits = 0
        if self.told and not self.keeps_collector:
            self.collector = self.told.get("version", "0.139.0")
        self.agent.applies()

    def orders(self) -> list[dict[str, Any]]:
        """Those of the last answer."""
        found: list[dict[str, Any]] = json.loads(self.agent.answer.custom_message.data or b"{}").get("orders", [])
        return found

    def says(self, **news: object) -> None:
        """A report of something else."""
        self.agent.tells(json.dumps({"v": 1, **news}).encode())

    def crashes(self) -> None:
        """What the relay reports after three ends of the collector."""
        self.agent.report(FAILED, "The collector ended 3 times")
        self._takes()


@dataclass
class RollingGroup:
    """The default group of a fleet that runs version 1, and its hosts."""

    fleet: Fleet
    clock: Clock
    hosts: list[Host] = field(default_factory=list)

    @property
    def path(self) -> str:
        return f"{API}/fleets/{self.fleet.id}/deployments/{self.fleet.deployment_id}/rollouts"

    @classmethod
    def of(cls, fleet: Fleet, clock: Clock, hosts: int, **fields: Any) -> "RollingGroup":
        """With so many hosts that run version 1 in health; version 2 is published."""
        fleet.publish_up_to(2)
        fleet.assign(1)
        group = cls(fleet, clock)
        for number in range(hosts):
            group.join(f"edge-{number}", **fields)
        for _ in range(2):
            group.beats()
        return group

    def join(self, name: str = "edge-new", **fields: Any) -> Host:
        host = Host(self.fleet.agent(host_name=name), **fields)
        host.starts()
        self.hosts.append(host)
        return host

    def beats(self, seconds: int = 30) -> None:
        """Half a minute passes, and each host sends a heartbeat."""
        self.clock.moves(seconds=seconds)
        for host in self.hosts:
            host.beats()

    def start(self, strategy: object = QUICK, **fields: object) -> Rollout:
        response = self.asks(**{"version_number": 2, "strategy": strategy, **fields})
        assert response.status_code == 201, response.text
        rollout: Rollout = response.json()
        return rollout

    def asks(self, **fields: object) -> Response:
        return self.fleet.member.http.post(self.path, json=fields)

    def counted(self, rollout: Rollout) -> None:
        """What the hosts of the first step count is known, so that the next tick begins it."""
        self.tick(rollout)
        self.beats(seconds=10)

    def act(self, rollout: Rollout, name: str) -> Response:
        return self.fleet.member.http.post(f"{self.path}/{rollout['id']}/{name}")

    def tick(self, rollout: Rollout) -> Tick:
        return service.tick(self.fleet.id, self.fleet.deployment_id, str(rollout["id"]))

    def now(self, rollout: Rollout) -> Rollout:
        response = self.fleet.member.http.get(f"{self.path}/{rollout['id']}")
        assert response.status_code == 200, response.text
        shown: Rollout = response.json()
        return shown

    def goes_on(self, rollout: Rollout, until: Callable[[Rollout], bool], most: int = 60) -> Rollout:
        """Heartbeats and ticks until the rollout is so, half an hour at most."""
        for _ in range(most):
            self.tick(rollout)
            shown = self.now(rollout)
            if until(shown):
                return shown
            self.beats()
        raise AssertionError(f"after {most} ticks: {self.now(rollout)}")

    def ends(self, rollout: Rollout) -> Rollout:
        ended = ("completed", "halted", "rolled_back", "aborted", "superseded")
        return self.goes_on(rollout, lambda shown: shown["status"] in ended)

    def with_new(self) -> Sequence[Host]:
        """The hosts that were offered version 2 last."""
        return [host for host in self.hosts if host.has_new]


@pytest.fixture
def no_executions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing ticks but the test."""
    monkeypatch.setattr(executions, "begin", lambda execution: None)
