"""A group's own token opens this group alone: what is known of a host stays in the scope of its token."""

from dataclasses import dataclass
from typing import Any

import pytest

from headgate.deployments import own_tokens
from headgate.fleets import keys, tokens
from headgate.storage import table
from tests.support.fleet_of_agents import Clock, Fleet, admin_of, ann, fleet, now, version
from tests.support.members import API
from tests.support.opamp_agent import Agent
from tests.support.rolling import RollingGroup, no_executions

__all__ = ["ann", "fleet", "no_executions", "now"]


@dataclass
class Scopes:
    """Two groups with tokens of their own, and the Default group, which the fleet's token opens."""

    fleet: Fleet
    shop: str
    bank: str

    def agent(self, token: str | None, group: str, **fields: Any) -> Agent:
        def post(body: bytes) -> bytes:
            response = self.fleet.post(body, token=token, group=group)
            assert response.status_code == 200, response.text
            return response.content

        return Agent(post, **fields)

    def in_shop(self, **fields: Any) -> Agent:
        return self.agent(tokens.value_of(self.shop, 1), self.shop, **fields)

    def in_bank(self, **fields: Any) -> Agent:
        return self.agent(tokens.value_of(self.bank, 1), self.bank, **fields)

    def of_fleet(self, group: str | None = None, **fields: Any) -> Agent:
        return self.agent(self.fleet.token, group or self.fleet.deployment_id, **fields)

    def known(self, instance_id: str) -> dict[str, Any]:
        seen: dict[str, Any] = self.fleet.member.http.get(
            f"{API}/fleets/{self.fleet.id}/instances/{instance_id}"
        ).json()
        return seen

    def item(self, instance_id: str) -> Any:
        return table.fleets.get(keys.instance(self.fleet.id, instance_id))


@pytest.fixture
def scopes(fleet: Fleet) -> Scopes:
    groups = [fleet.add_group(name, 1) for name in ("shop", "bank")]
    for group in groups:
        response = fleet.member.http.patch(
            f"{API}/fleets/{fleet.id}/deployments/{group}/env", json={"secrets": {"KEY": "x"}}
        )
        assert response.status_code == 200
    fleet.publish_up_to(3)
    return Scopes(fleet, *groups)


@pytest.fixture
def banker(scopes: Scopes, now: Clock) -> Agent:
    """A host of the bank that runs version 1, with an override that it does not run yet."""
    agent = scopes.in_bank()
    agent.start()
    agent.applies()
    return agent


def only_id(scopes: Scopes) -> str:
    (seen,) = scopes.fleet.instances()
    return str(seen["id"])


@pytest.mark.parametrize("thief", ["in_shop", "of_fleet"])
def test_a_token_of_another_scope_gets_a_uid_of_its_own_and_nothing_of_the_hosts(
    scopes: Scopes, banker: Agent, thief: str
) -> None:
    theirs = only_id(scopes)
    path = f"{API}/fleets/{scopes.fleet.id}/instances/{theirs}"
    override = {"version_number": 3, "until": "2026-11-22T12:00:00Z"}
    assert scopes.fleet.member.http.put(f"{path}/override", json=override).status_code == 200
    before = scopes.item(theirs)

    attacker: Agent = getattr(scopes, thief)(uid=banker.uid, sequence_num=900)
    attacker.send(attacker.full())
    attacker.start()

    assert scopes.item(theirs) == before
    assert attacker.uid != banker.uid
    assert attacker.config != version(3).encode()
    assert scopes.known(theirs)["deployment_id"] == scopes.bank
    banker.heartbeat()
    assert banker.config == version(3).encode()


def test_a_message_that_names_the_hosts_group_needs_the_hosts_token(scopes: Scopes, banker: Agent) -> None:
    """The fleet's token opens a group with an own token to new hosts only, as before."""
    before = scopes.item(only_id(scopes))
    attacker = scopes.of_fleet(scopes.bank, uid=banker.uid)
    attacker.start()

    assert (scopes.item(only_id(scopes)), attacker.uid != banker.uid) == (before, True)


def test_nobody_turns_the_rollout_of_another_scope_green(scopes: Scopes, no_executions: None, now: Clock) -> None:
    """The hosts came by the fleet's token, and another one by the shop's says that it is each of them."""
    group = RollingGroup.of(scopes.fleet, now, hosts=4, fares="fails")
    rollout = group.start({"steps": [{"percent": 100, "soak_seconds": 60}], "on_failure": "halt"})
    uids = [host.agent.uid for host in group.hosts]
    for _ in range(3):
        group.beats()
        for uid in uids:
            scopes.in_shop(uid=uid).start()
        group.tick(rollout)
    ended = group.ends(rollout)

    assert (ended["status"], ended["hosts"]["failed"]) == ("halted", 4)
    assert [host.agent.uid for host in group.hosts] == uids


def test_renewed_tokens_are_of_the_same_scope(scopes: Scopes, banker: Agent) -> None:
    own_tokens.renew(admin_of(scopes.fleet), scopes.fleet.id, scopes.bank, "1d")
    again = scopes.agent(tokens.value_of(scopes.bank, 2), scopes.bank, uid=banker.uid, status=banker.status)
    again.start()

    assert again.uid == banker.uid
    assert scopes.fleet.counts() == {"total": 1, "applied": 1}
