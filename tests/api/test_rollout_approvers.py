"""Who may approve a rollout: another person than those behind its start, whatever they sign in with."""

from dataclasses import dataclass

import pytest

from headgate.foundation import clock
from headgate.foundation.caller import Caller, Role
from headgate.foundation.principal import Principal
from headgate.identity import service as identity
from headgate.identity import sessions
from headgate.identity.model import OwnerNotFound
from headgate.rollouts import service as rollouts
from headgate.rollouts.model import TokenCannotApprove
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.rolling import RollingGroup, Rollout, no_executions
from tests.support.world import joined

__all__ = ["ann", "fleet", "no_executions", "now"]
pytestmark = pytest.mark.usefixtures("no_executions")
APPROVED = {"steps": [{"percent": 100, "soak_seconds": 0, "approval": True}]}
Headers = dict[str, str]


@dataclass(frozen=True)
class Person:
    """A member with a session."""

    caller: Caller
    headers: Headers

    @classmethod
    def of(cls, group: RollingGroup, role: Role = "contributor") -> "Person":
        organization_id = group.fleet.member.organization_id
        session, value = sessions.begin(joined(organization_id, role), "cli", clock.now(), organization_id)
        headers = {"Authorization": f"Bearer {value}", "X-Service-Org": organization_id}
        return cls(sessions.caller(session, organization_id), headers)


@pytest.fixture
def group(fleet: Fleet, now: Clock) -> RollingGroup:
    return RollingGroup.of(fleet, now, hosts=1)


def token(by: Caller, owner: str | None = None, *, account_by: Caller | None = None) -> tuple[str, str, Headers]:
    """The ids of a service account and its token, and the headers of a request with it."""
    account = identity.create_service_account(by.organization_id, "ci", by=account_by or by)
    made, value = identity.create_token(
        by.organization_id, account.id, name="deploys", access="read_write", owner=owner, by=by
    )
    return account.id, made.id, {"Authorization": f"Bearer {value}"}


def waiting(group: RollingGroup, headers: Headers) -> Rollout:
    body = {"version_number": 2, "strategy": APPROVED}
    rollout: Rollout = group.fleet.member.http.post(group.path, json=body, headers=headers).json()
    group.tick(rollout)
    assert group.now(rollout)["status"] == "waiting_for_approval"
    return rollout


def approval(group: RollingGroup, rollout: Rollout, person: Person) -> tuple[int, str]:
    """The status of the answer, and its code or the rollout's status."""
    answer = group.fleet.member.http.post(f"{group.path}/{rollout['id']}/approve", headers=person.headers)
    return answer.status_code, answer.json().get("code") or answer.json()["status"]


def test_who_created_the_token_that_started_a_rollout_cannot_approve_it(group: RollingGroup) -> None:
    admin, another = Person.of(group, "admin"), Person.of(group)
    rollout = waiting(group, token(admin.caller)[2])

    assert approval(group, rollout, admin) == (403, "own_rollout")
    assert approval(group, rollout, another) == (200, "in_progress")


def test_who_holds_the_token_that_started_a_rollout_cannot_approve_it(group: RollingGroup) -> None:
    admin, holder, another = Person.of(group, "admin"), Person.of(group), Person.of(group)
    rollout = waiting(group, token(admin.caller, holder.caller.name)[2])

    assert approval(group, rollout, holder) == (403, "own_rollout")
    assert approval(group, rollout, admin) == (403, "own_rollout")
    assert approval(group, rollout, another) == (200, "in_progress")


def test_who_created_the_service_account_cannot_approve_either(group: RollingGroup) -> None:
    admin, founder = Person.of(group, "admin"), Person.of(group, "admin")
    rollout = waiting(group, token(admin.caller, account_by=founder.caller)[2])

    assert approval(group, rollout, founder) == (403, "own_rollout")


@pytest.mark.parametrize("deleted", ["token", "service account"])
def test_deleting_what_started_a_rollout_lets_nobody_approve_it(group: RollingGroup, deleted: str) -> None:
    admin = Person.of(group, "admin")
    account_id, token_id, headers = token(admin.caller)
    rollout = waiting(group, headers)
    if deleted == "token":
        identity.delete_token(admin.caller, account_id, token_id)
    else:
        identity.delete_service_account(admin.caller, account_id)

    assert approval(group, rollout, admin) == (403, "own_rollout")


def test_a_rollout_of_a_token_whose_creator_is_not_recorded_takes_an_admin(group: RollingGroup) -> None:
    # As those that the operator created.
    rollout = waiting(group, {})

    assert approval(group, rollout, Person.of(group)) == (403, "admin_has_to_approve")
    assert approval(group, rollout, Person.of(group, "admin")) == (200, "in_progress")


def test_a_token_cannot_approve_whatever_calls_the_service(group: RollingGroup) -> None:
    rollout = waiting(group, Person.of(group).headers)
    fleet = group.fleet
    account = Principal("service_account", fleet.member.service_account_id, "ann")
    caller = Caller(fleet.member.organization_id, "Acme", account, "t", "contributor", "read_write", "tok_x")

    with pytest.raises(TokenCannotApprove):
        rollouts.approve(caller, fleet.id, fleet.deployment_id, rollout["id"])


def test_a_token_is_held_by_a_member(group: RollingGroup) -> None:
    admin = Person.of(group, "admin")

    with pytest.raises(OwnerNotFound, match="No member of the organization has this address"):
        token(admin.caller, "nobody@example.com")
