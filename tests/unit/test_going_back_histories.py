"""Any history of a host: it does not end on a version that fails, and not on nothing, while a good one is known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headgate.deployments.model import Deployment
from headgate.deployments.running import EVERYONE, RunningRollout
from headgate.deployments.versions import Assignment
from headgate.instances.desired.model import Desired
from headgate.instances.model import Instance
from headgate.instances.reported.model import Health, ReportedConfig
from headgate.opamp.reasons import cause
from tests.support.deciding import decided, new_instance
from tests.support.sizes import either

Fare = Literal["good", "ends", "is refused", "never healthy", "loops"]
"""What a version does on every host."""
VERSIONS: Final[dict[int, Fare]] = {
    1: "good",
    2: "ends",
    3: "good",
    4: "never healthy",
    5: "is refused",
    6: "loops",
    7: "good",
}
HEARTBEAT: Final = timedelta(seconds=30)
ENDED: Final = "Agent exited unexpectedly with exit code 1 while applying configuration"
KILLED: Final = "Agent exited unexpectedly with exit code -1 while applying configuration"
REFUSED: Final = (
    "configuration validation failed: config validation failed: exit status 1, output: Error: no such thing"
)
LATE: Final = "Config apply timeout exceeded"
UNKNOWN: Final = "a sentence of a later release"
FULL: Final = (
    "configuration validation failed: failed to create temp config file for validation: no space left on device"
)
LOOPED: Final = (
    "The collector ended 3 times in the 10 minutes after this configuration was applied (it exited unexpectedly)"
)


@dataclass
class Host:
    """A host under the official supervisor, as it behaves by its source: what it holds, and what runs from that."""

    instance: Instance
    holds: Desired | None = None
    runs: Desired | None = None
    healthy: bool = False
    status: ReportedConfig | None = None
    accident: str = ""
    untold: list[tuple[ReportedConfig | None, bool]] = field(default_factory=list)

    def fare(self, config: Desired) -> Fare:
        return VERSIONS[config.assignment.version_number] if config.assignment else "good"

    def take(self, config: Desired) -> None:
        """What it does with an offer. What was offered last is what it holds, whatever becomes of it."""
        same = self.runs is not None and self.holds is not None and self.runs.config_hash == config.config_hash
        accident, self.accident = self.accident, ""
        self.holds = config
        if same:
            # It is not tried anew.
            self.say(config, "applied")
        elif accident == FULL:
            self.say(config, "failed", FULL)
        elif self.fare(config) == "is refused":
            self.say(config, "failed", REFUSED)
        else:
            self.start(config, accident)

    def start(self, config: Desired, accident: str) -> None:
        self.runs, fare = config, self.fare(config)
        self.healthy = fare in ("good", "loops") and config.assignment is not None
        if config.assignment is None:
            self.say(config, "applied", well=True)
        elif fare == "ends":
            self.say(config, "failed", ENDED)
        elif fare == "never healthy":
            self.say(config, "failed", LATE)
        elif accident in (KILLED, LATE, UNKNOWN):
            # It starts again, or a little later, and is healthy then.
            self.say(config, "failed", accident, well=False)
            self.untold.append((None, True))
        else:
            self.say(config, "applied", well=True)
        if fare == "loops":
            self.healthy = False
            self.say(config, "failed", LOOPED)

    def restart(self) -> None:
        """The supervisor starts from what it was offered last."""
        if self.holds is not None:
            self.runs = None
            if self.holds.assignment is not None:
                self.runs = self.holds
                self.healthy = self.fare(self.holds) == "good"
                self.untold.append((self.status, self.healthy))

    def say(
        self, config: Desired, status: Literal["applied", "failed"], message: str = "", *, well: bool | None = None
    ) -> None:
        told = ReportedConfig(config.config_hash, status, message)
        # Its client does not send a status that is equal to the one before.
        news = told if told != self.status else None
        self.status = told
        self.untold.append((news, self.healthy if well is None else well))


@dataclass
class World:
    """A group with one host, and what people do to it."""

    group: Deployment
    host: Host
    at: datetime

    @classmethod
    def new(cls) -> World:
        at = datetime(2026, 11, 22, 12, tzinfo=UTC)
        group = Deployment("dep_1", "flt_1", "web", False, None, None, None, None, at, at)
        return cls(group, Host(new_instance("ins_1", group, at)), at)

    def assign(self, n: int | None) -> None:
        assignment = None if n is None else Assignment("cfg_1", n)
        self.group = self.group.assigned(assignment, self.at)

    def roll_out(self, n: int) -> None:
        revision = self.group.revision + 1
        rollout = RunningRollout("rol_1", Assignment("cfg_1", n), revision, self.at, cut=EVERYONE)
        self.group = replace(self.group.with_rollout(rollout), revision=revision)

    def take_back(self) -> None:
        self.group = replace(self.group.without_rollout(), revision=self.group.revision + 1)

    def beat(self, *, lost: bool = False) -> None:
        """A message of the host with its news, and what it does with the answer."""
        self.at += HEARTBEAT
        news, well = self.host.untold.pop(0) if self.host.untold else (None, self.host.healthy)
        if lost:
            # The supervisor sends it again.
            self.host.untold.insert(0, (news, well))
            return
        why = cause(news.message) if news and news.status == "failed" else None
        health = Health(well, "" if well else "exited")
        decision = decided(self.host.instance, self.group, self.at, health=health, config=news, cause=why)
        if decision.proves:
            self.group = replace(self.group, proven_revision=self.group.assigned_revision)
        self.host.instance = decision.instance
        if decision.offer is not None:
            self.host.take(decision.offer)

    def settle(self) -> None:
        for _ in range(16):
            self.beat()

    @property
    def desired(self) -> Assignment | None:
        return self.group.rollout.to if self.group.rollout else self.group.assignment


Act = tuple[str, object]
N = st.sampled_from(sorted(VERSIONS))
ACTS: Final = st.one_of(
    st.tuples(st.just("assign"), N),
    st.tuples(st.just("roll out"), N),
    st.tuples(st.just("take back"), st.none()),
    st.tuples(st.just("beats"), st.integers(1, 6)),
    st.tuples(st.just("lose"), st.none()),
    st.tuples(st.just("restart"), st.none()),
    st.tuples(st.just("accident"), st.sampled_from([KILLED, LATE, UNKNOWN, FULL])),
)


@pytest.mark.sized
@given(st.lists(ACTS, max_size=14))
# The good one is assigned once more, or after another one, and a failing one before its host reports.
@example([("assign", 1), ("assign", 2), ("roll out", 1), ("take back", None)])
@example([("assign", 2), ("assign", 1), ("assign", 2), ("roll out", 1), ("assign", 2)])
@settings(max_examples=either(150, 5_000))
def test_a_host_ends_on_a_version_that_works_whatever_happened(acts: list[Act]) -> None:
    world = World.new()
    world.assign(1)
    # The good one that is known.
    world.settle()
    for act, value in acts:
        match act, value:
            case "assign", int(n):
                world.assign(n)
            case "roll out", int(n):
                world.roll_out(n)
            case "take back", _:
                world.take_back()
            case "beats", int(times):
                for _ in range(times):
                    world.beat()
            case "lose", _:
                world.beat(lost=True)
            case "restart", _:
                world.host.restart()
            case "accident", str(message):
                world.host.accident = message
    world.host.accident = ""
    world.settle()

    runs = world.host.runs
    assert runs is not None, "it runs nothing, and version 1 is good"
    assert runs.assignment is not None, "it was sent nothing, and version 1 is good"
    assert VERSIONS[runs.assignment.version_number] == "good"
    # One whose collector is killed the first time that it runs has failed.
    killed = ("accident", KILLED) in acts
    if world.desired and VERSIONS[world.desired.version_number] == "good" and not killed:
        assert runs.assignment == world.desired, "it does not run a good version that it is to run"
