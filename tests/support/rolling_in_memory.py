"""A group with hosts and a rollout in memory: the service's own rules, without tables and messages.

What a host is offered and how it is judged is what the fleet service and the tick compute. tests/support/rolling.py
has the same over HTTP, which is two hundred times as slow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final, Literal

from headgate.deployments.model import Deployment
from headgate.deployments.programs import Program
from headgate.deployments.running import RunningRollout
from headgate.deployments.versions import Assignment, NamedVersion
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.instances.desired.model import Desired, config_hash
from headgate.instances.model import Instance
from headgate.instances.reported.host import Ability, HostCounters, HostReport
from headgate.instances.reported.model import Health, HostDescription, Reported, ReportedConfig, Status
from headgate.instances.state.model import NEVER_REFUSED, Refusals
from headgate.rollouts.acts import Act
from headgate.rollouts.model import FINAL, Rollout
from headgate.rollouts.progress import advance
from headgate.rollouts.state import RolloutState
from headgate.rollouts.strategy import Gates, RolloutStep, Strategy
from tests.support.deciding import decided, new_instance

Fare = (
    Literal["well", "fails", "crashes", "401", "refuses", "queues", "dries up", "restarts", "hangs", "flaps"]
    | Literal["discards", "loses a signal", "blinds", "swells", "burns"]
)
"""What the new version does to a host."""
OLD: Final = Assignment("cfg_1", 1)
NEW: Final = Assignment("cfg_1", 2)
ANN: Final = Principal("user", "usr_ann", "ann")
BOB: Final = Principal("user", "usr_bob", "bob")
TOKEN: Final = Principal("service_account", "sva_ci", "ci")
HEARTBEAT: Final = timedelta(seconds=30)
QUICK: Final = Strategy((RolloutStep(120, hosts=1), RolloutStep(60, percent=100)))
DEFAULTS: Final = Gates()
QUIET: Final = HostCounters(
    30, 300, 0, 300, 0, 0, 0.0, delivered={"logs": 200, "traces": 100}, memory=150 << 20, cpu=1_500
)
ILL: Final[dict[Fare, HostCounters]] = {
    "401": replace(QUIET, sent=0, failed=300, delivered={}),
    "refuses": replace(QUIET, accepted=100, refused=200),
    "queues": replace(QUIET, queue=0.9),
    "dries up": replace(QUIET, accepted=10, sent=10, delivered={"logs": 10}),
    "discards": replace(QUIET, delivered={}),
    "loses a signal": replace(QUIET, delivered={"logs": 200}),
    "swells": replace(QUIET, memory=400 << 20),
    "burns": replace(QUIET, cpu=15_000),
}


@dataclass
class Host:
    """A host with our supervisor. `elsewhere` is what it counts in other versions than the new one.

    `can` is what its supervisor understands, `collector` the version that runs, which is another one after an offer
    unless it `keeps_collector`. `here` is whether it is up, `tells` whether it reports counters, `stuck` whether it
    takes nothing that it is offered. `old_fails` is whether the version before fails on it now, `starts_slowly` whether
    it is not healthy yet.
    """

    instance: Instance
    labels: dict[str, str] = field(default_factory=dict)
    fares: Fare = "well"
    tells: bool = True
    here: bool = True
    stuck: bool = False
    old_fails: bool = False
    starts_slowly: bool = False
    elsewhere: HostCounters = QUIET
    can: Sequence[Ability] = ()
    collector: str = "0.139.0"
    keeps_collector: bool = False
    runs: Assignment | None = None
    reported: str = config_hash(None)
    offered: list[Assignment | None] = field(default_factory=list)
    exits: int = 0
    beats: int = 0
    old_failed: bool = False

    def __repr__(self) -> str:
        return f"<{self.instance.id[-4:]} of {self.instance.deployment_id} {self.fares}>"

    @property
    def has_new(self) -> bool:
        return self.runs == NEW

    @property
    def had_new(self) -> bool:
        return NEW in self.offered

    def desired(self, group: Deployment, at: datetime) -> Desired:
        return self.instance.desired(group, at)

    def beat(self, group: Deployment, at: datetime) -> None:
        """A heartbeat, and what follows from its answer."""
        if not self.here:
            return
        self.beats += 1
        if self.has_new and self.fares == "restarts":
            self.exits += 1
        if self.has_new and self.fares == "crashes" and self.beats % 3 == 0:
            self.say(group, at, "failed")
        elif self.has_new and self.fares == "flaps":
            self.say(group, at, "applying" if self.beats % 2 else "applied")
        else:
            self.say(group, at)

    def say(
        self,
        group: Deployment,
        at: datetime,
        status: Status | None = None,
        *,
        leaves: bool = False,
        uninstalled: bool = False,
    ) -> None:
        """A message; with the status of what it runs, if that has changed."""
        counted = ILL.get(self.fares, self.elsewhere) if self.has_new else self.elsewhere
        said = HostReport(
            "0.2.0",
            labels=self.labels,
            exits=self.exits,
            can=self.can,
            collector_version=self.collector,
            counters=counted if self.tells and not (self.has_new and self.fares == "blinds") else None,
            uninstalled=uninstalled,
        )
        config = None if status is None else ReportedConfig(self.reported, status, "no such exporter")
        # It reports when a test says so, whatever interval it is told.
        decision = decided(
            self.instance,
            group,
            at,
            takes_interval=False,
            health=Health(not self.starts_slowly),
            config=config,
            host=said,
            leaves=leaves,
        )
        self.instance = decision.instance
        if decision.offer is not None:
            self._take(decision.offer, group, at)

    def _take(self, offered: Desired, group: Deployment, at: datetime) -> None:
        self.offered.append(offered.assignment)
        if self.stuck:
            return
        self.runs, self.exits, self.reported = offered.assignment, 0, offered.config_hash
        if "upgrade_collector" in self.can and not self.keeps_collector:
            self.collector = offered.collector.version if offered.collector else "0.139.0"
        self.old_failed |= self.old_fails and self.runs == OLD
        if (self.has_new and self.fares == "fails") or (self.old_fails and self.runs == OLD):
            self.say(group, at, "failed")
        elif self.has_new and (self.fares == "hangs" or (self.fares == "flaps" and self.beats % 2)):
            self.say(group, at, "applying")
        else:
            self.say(group, at, "applied")


def _group(deployment_id: str = "dep_1") -> Deployment:
    at = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
    return Deployment(deployment_id, "flt_1", "web", False, None, None, None, OLD, at, at)


@dataclass
class Group:
    """A group that runs version 1, its hosts, and its rollout to version 2 once it is started."""

    stored: Deployment = field(default_factory=_group)
    hosts: list[Host] = field(default_factory=list)
    at: datetime = field(default_factory=lambda: datetime(2026, 11, 21, 12, 0, tzinfo=UTC))
    shown: Rollout | None = None
    moved: list[Host] = field(default_factory=list)
    refused: Refusals = NEVER_REFUSED
    chance: Random | None = None

    @classmethod
    def of(cls, hosts: int, deployment_id: str = "dep_1", chance: Random | None = None, **fields: Any) -> Group:
        """With so many hosts that run version 1 in health. Ids, and so places, follow from `chance` if it is there."""
        group = cls(_group(deployment_id), chance=chance)
        for _ in range(hosts):
            group.join(**fields)
        for _ in range(2):
            group.beats()
        return group

    @property
    def rollout(self) -> Rollout:
        assert self.shown is not None
        return self.shown

    def join(self, **fields: Any) -> Host:
        described = Reported(HostDescription(arch="amd64"))
        instance = new_instance(self._new_id("ins"), self.stored, self.at, reported=described)
        host = Host(instance, **fields)
        self.hosts.append(host)
        host.beat(self.stored, self.at)
        return host

    def leaves(self, host: Host, *, uninstalled: bool = False) -> None:
        """It says goodbye and is gone."""
        host.say(self.stored, self.at, leaves=True, uninstalled=uninstalled)
        host.here = False

    def moves(self, host: Host, to: Group) -> None:
        """From now on it reports to the other group."""
        self.hosts.remove(host)
        self.moved.append(host)
        to.hosts.append(host)
        if host in to.moved:
            to.moved.remove(host)
        host.beat(to.stored, self.at)

    def beats(self, times: int = 1) -> None:
        """Half a minute passes, and each host sends a heartbeat."""
        for _ in range(times):
            self.at += HEARTBEAT
            for host in self.hosts:
                host.beat(self.stored, self.at)

    def start(
        self,
        strategy: Strategy = QUICK,
        gates: Gates = DEFAULTS,
        *,
        to: Assignment = NEW,
        collector: Program | None = None,
    ) -> None:
        """As the service does: a new rollout takes the place of an open one."""
        at, revision = self.at, self.stored.revision + 1
        named, before = NamedVersion(to, "Edge"), NamedVersion(OLD, "Edge")
        self.shown = Rollout(
            self._new_id("rol"),
            "org_1",
            "flt_1",
            self.stored.id,
            named,
            before,
            strategy,
            gates,
            None,
            "in_progress",
            ANN,
            at,
            at,
            started_by=(ANN.id,),
        )
        running = RunningRollout(self.shown.id, to, revision, at, canaries=strategy.canaries, collector=collector)
        self.stored = replace(self.stored, rollout=running, revision=revision)

    def _new_id(self, prefix: Literal["ins", "rol"]) -> str:
        return f"{prefix}_{self.chance.getrandbits(128):032x}" if self.chance else new_id(prefix, self.at)

    def state(self) -> RolloutState:
        """As the service reads it: those that report from here, and those that left the rollout."""
        instances = [host.instance for host in (*self.hosts, *self.moved)]
        known = [
            instance
            for instance in instances
            if instance.deployment_id == self.stored.id
            or any(departure.rollout_id == self.rollout.id for departure in instance.measured.departures)
        ]
        return RolloutState(self.rollout, self.stored, known, self.at, self.refused)

    def tick(self) -> None:
        if self.rollout.status not in FINAL:
            self._save(advance(self.state()))

    def act(self, act: Act) -> None:
        """Raises NotNow, OwnRollout."""
        self._save(act(self.state()))

    def _save(self, after: RolloutState) -> None:
        self.shown = after.rollout
        if after.group != self.stored:
            self.stored = replace(after.group, revision=self.stored.revision + 1)

    def goes_on(self, until: Callable[[Rollout], bool], most: int = 100) -> Rollout:
        """Ticks and heartbeats until the rollout is so, fifty minutes at most."""
        for _ in range(most):
            self.tick()
            if until(self.rollout):
                return self.rollout
            self.beats()
        raise AssertionError(f"after {most} ticks: {self.rollout}")

    def ends(self, most: int = 100) -> Rollout:
        return self.goes_on(lambda rollout: rollout.status in {*FINAL, "halted"}, most)

    def with_new(self) -> list[Host]:
        return [host for host in self.hosts if host.has_new]


HALVES: Final = Strategy((RolloutStep(30, percent=50), RolloutStep(120, percent=100)))
AT_ONCE: Final = Strategy((RolloutStep(60, percent=100),))


def applied(rollout: Rollout) -> bool:
    """Whether every host whose turn has come runs the version."""
    return rollout.hosts is not None and 0 < rollout.hosts.due == rollout.hosts.applied
