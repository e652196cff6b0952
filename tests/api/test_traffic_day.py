"""A day of hosts that restart, crash, repeat messages and send them late: series say exactly what was sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import pytest

from headgate.instances import model, store
from headgate.instances.series.model import HOUR, NUMBERS, component_of, kind_of, pipelines_of
from headgate_local import streams
from series.app import handler
from tests.support import sizes
from tests.support.aws import read_template
from tests.support.counting_hosts import CountingHost, require_sums
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.members import API
from tests.support.opamp_agent import Agent

__all__ = ["ann", "fleet", "now"]

HOSTS, MINUTES = sizes.either(4, 50), sizes.number("DAY_MINUTES", 60, 1_440)
# Seconds between two messages of a host.
INTERVAL: Final = sizes.number("DAY_INTERVAL", 60, 300)
COUNTS: Final = NUMBERS[:5]
ACCEPTED, REFUSED, SENT, FAILED, DROPPED = range(len(COUNTS))
# A heartbeat is stored every three minutes, and one in ten is not sent at all: of five in a row at least one is.
MOST_LOST: Final = max(15 * 60, 5 * INTERVAL + 180) * 1_000
Sums = Counter[tuple[str, int]]


@pytest.fixture
def stream() -> Iterator[streams.Stream]:
    """What the template's mapping tells the function of the table."""
    with streams.followed(read_template()) as (followed,):
        yield followed


@dataclass
class Life:
    """A host of the day: what it counted in its group, and what of that was lost in crashes."""

    group: str
    agent: Agent
    host: CountingHost
    lost: Sums = field(default_factory=Counter)
    former: bytes = b""
    """The last report of its supervisor before."""

    @property
    def sent(self) -> Sums:
        return self.host.ever - self.lost

    def crashes(self, fleet_id: str, at: int) -> None:
        """Its supervisor ends without a word, so that nobody knows what it counted since it was stored last."""
        stored = store.instance(fleet_id, model.instance_id(self.agent.uid))
        totals = stored.reported.totals if stored else None
        current = totals if totals and totals.run == self.host.run else None
        assert self.host.milliseconds - (current.milliseconds if current else 0) <= MOST_LOST
        for key, counted in self.host.of.items():
            before = current.of[key] if current else [0] * len(counted)
            for place in range(len(NUMBERS)):
                self.lost[key, place] += counted[place] - before[place]
        self.host.restarts(at)
        self.agent.start()


@dataclass
class Day:
    """Plays a day, and counts what it did."""

    fleet: Fleet
    now: Clock
    lives: list[Life]
    chance: Random = field(default_factory=lambda: Random(46))
    did: Counter[str] = field(default_factory=Counter)

    def turn(self, number: int) -> None:
        self.now.moves(seconds=INTERVAL)
        for life in self.lives:
            self._turn(life, number)

    def ends(self) -> None:
        """Each host is stored once more."""
        self.now.moves(seconds=180)
        for life in self.lives:
            life.host.tells(life.agent)

    def _turn(self, life: Life, number: int) -> None:
        agent, host, at = life.agent, life.host, int(self.now.at.timestamp() * 1_000)
        host.counts(self.chance.randrange(400), INTERVAL * 1_000)
        before = host.report()
        if self._happens(0.02, "orderly restarts"):
            agent.leaves(before)
            life.former = before
            host.restarts(at)
            agent.start()
        elif self._happens(0.005, "crashes"):
            # A late message would say what was lost.
            life.former = b""
            life.crashes(self.fleet.id, at)
        elif self._happens(0.9, "messages"):
            host.tells(agent)
            # More of them within an hour are a second process, which gets another uid.
            if number % 71 == 7:
                self.did["repeated messages"] += 1
                agent.sequence_num -= 1
                agent.tells(before)
        if life.former and self._happens(0.02, "messages of before a restart"):
            agent.tells(life.former)

    def _happens(self, chance: float, what: str) -> bool:
        happens = self.chance.random() < chance
        self.did[what] += happens
        return happens


@pytest.fixture
def day(fleet: Fleet, now: Clock) -> Day:
    """Hosts of three groups; those of the second have their pipelines twice."""
    groups = [fleet.deployment_id, fleet.add_group("audit", 1), fleet.add_group("edge", 1)]
    begin, lives = int(now.at.timestamp() * 1_000), []
    for n in range(HOSTS):
        group = groups[n % len(groups)]
        host = CountingHost(begin + n, pipelines=2 if group == groups[1] else 1)
        lives.append(Life(group, fleet.agent(group, host_name=f"edge-{n}"), host))
        lives[n].agent.start()
    return Day(fleet, now, lives)


@pytest.mark.sized
def test_a_day_adds_up_by_group_pipeline_and_component(day: Day, stream: streams.Stream) -> None:
    """Real messages, stored by the fleet service; the clock is simulated."""
    for number in range(MINUTES * 60 // INTERVAL):
        day.turn(number)
        if day.chance.random() < 0.5:
            _take(stream)
    day.ends()
    _take(stream)

    by_group: dict[str, Sums] = {}
    for life in day.lives:
        by_group.setdefault(life.group, Counter()).update(life.sent)
    print("\n" + "\n".join(f"{what}: {count:,}" for what, count in day.did.items()))
    lost = sum((life.lost for life in day.lives), Counter())
    print(f"records lost in crashes: {sum(lost[key, ACCEPTED] for key, place in lost if place == ACCEPTED):,} taken")
    for number, (group, sent) in enumerate(by_group.items(), 1):
        require_sums(group, sent)
        for by in ("component", "pipeline", "none"):
            held = _held(day.fleet, f"deployments/{group}/series", by)
            print("\n".join(_rows(number, by, sent, held)))
            assert held == _expected(sent, by)
    assert _held(day.fleet, "series", "none") == _expected(sum(by_group.values(), Counter()), "none")


def _take(stream: streams.Stream) -> None:
    while stream.take(handler):
        pass


def _held(fleet: Fleet, path: str, by: str) -> dict[str, list[int]]:
    """What the API says over the whole day, in hours and in minutes alike."""
    answers = []
    for step in (HOUR, 300):
        response = fleet.member.http.get(
            f"{API}/fleets/{fleet.id}/{path}", params={"by": by, "step": step, "from": "2026-11-21T12:00:00Z"}
        )
        assert response.status_code == 200, response.text
        lines: list[dict[str, Any]] = response.json()["series"]
        answers.append(
            {line["name"]: [sum(point[name] for point in line["points"]) for name in COUNTS] for line in lines}
        )
    assert answers[0] == answers[1]
    return answers[0]


def _expected(sent: Sums, by: str) -> dict[str, list[int]]:
    """The same by the model: what processors took and did not pass on was dropped."""
    lines: dict[str, list[int]] = {}
    for key in {key for key, _ in sent}:
        kind, pipelines = kind_of(key), pipelines_of(key)
        counted = [sent[key, place] for place in range(len(COUNTS))]
        if kind == "processor":
            counted[DROPPED] = counted[ACCEPTED] - counted[SENT]
        if by == "component":
            lines[f"{', '.join(pipelines)} | {component_of(key)}"] = counted
            continue
        told = [0] * len(COUNTS)
        for place in {"receiver": (ACCEPTED, REFUSED), "exporter": (SENT, FAILED)}.get(kind, ()):
            told[place] = counted[place]
        told[DROPPED] = counted[DROPPED]
        names = ["all"] if by == "none" else pipelines if kind == "receiver" else [", ".join(pipelines)]
        for name in names:
            lines[name] = [one + more for one, more in zip(lines.get(name, [0] * len(COUNTS)), told, strict=True)]
    return lines


def _rows(number: int, by: str, sent: Sums, held: dict[str, list[int]]) -> Iterator[str]:
    expected = _expected(sent, by)
    for name in sorted(expected):
        told = " | ".join(f"{a:,} / {b:,}" for a, b in zip(expected[name], held.get(name, [0] * 5), strict=True))
        yield f"| {number} | {by} | `{name}` | {told} |"
