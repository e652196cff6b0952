"""How many modules of shared/headgate an agent's message passes: what a reader has to follow.

`pytest tests/api/test_opamp_passage.py -s` prints the figures.
"""

from dataclasses import dataclass
from typing import Final

from headgate.opamp import service
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.opamp_agent import Agent
from tests.support.passing import Passage, passing

__all__ = ["ann", "fleet", "now"]


@dataclass(frozen=True)
class Most:
    """Lower these when there are fewer."""

    modules: int
    calls: int


LIMITS: Final = {"start": Most(33, 92), "applying": Most(30, 90), "applied": Most(30, 99), "heartbeat": Most(25, 68)}


def test_a_message_passes_few_modules_and_comes_back_to_few(fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    # What is read once in a process is read by another host.
    _agent(fleet).start()
    agent = _agent(fleet)
    passages: dict[str, Passage] = {}
    with passing() as passages["start"]:
        agent.start()
    now.moves(seconds=10)
    with passing() as passages["applying"]:
        agent.report(wire.RemoteConfigStatuses_APPLYING)
    now.moves(seconds=10)
    with passing() as passages["applied"]:
        agent.report(wire.RemoteConfigStatuses_APPLIED)
    now.moves(seconds=30)
    with passing() as passages["heartbeat"]:
        agent.heartbeat()

    print("", *(f"{name}: {passage}" for name, passage in passages.items()), sep="\n")
    for name, most in LIMITS.items():
        passage = passages[name]
        assert len(passage.modules) <= most.modules, (name, sorted(passage.modules))
        assert len(passage.calls) <= most.calls, (name, passage.calls)
    assert fleet.counts()["applied"] == 1


def _agent(fleet: Fleet) -> Agent:
    """One that asks the service in this thread."""
    token = fleet.token
    return Agent(lambda body: service.exchange(token, fleet.deployment_id, body).encode())
