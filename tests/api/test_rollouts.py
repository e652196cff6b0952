"""Rollouts by the API, with hosts that speak OpAMP. What a rollout does is tried in unit/test_rollouts.py."""

import pytest

from headgate.foundation import clock
from headgate.identity import sessions
from headgate.instances.model import instance_id
from headgate.rollouts.model import FINAL
from tests.support.events import waiting
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.members import API
from tests.support.rolling import RollingGroup, Rollout, no_executions
from tests.support.world import joined

__all__ = ["ann", "fleet", "no_executions", "now"]
pytestmark = pytest.mark.usefixtures("no_executions")


def person(group: RollingGroup) -> dict[str, str]:
    """The headers of another member's session."""
    organization_id = group.fleet.member.organization_id
    _, value = sessions.begin(joined(organization_id, "contributor"), "cli", clock.now(), organization_id)
    return {"Authorization": f"Bearer {value}", "X-Service-Org": organization_id}


def applied(shown: Rollout) -> bool:
    return bool(shown["hosts"] and 0 < shown["hosts"]["due"] == shown["hosts"]["applied"])


def test_a_good_version_reaches_one_host_then_all_and_is_the_groups_assignment(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, hosts=3)
    rollout = group.start(message="better batches")
    first = group.goes_on(rollout, applied)

    assert (first["status"], first["step"], first["hosts"]["due"], len(group.with_new())) == ("in_progress", 1, 1, 1)
    # Hosts of both versions are as they are to be.
    assert fleet.counts() == {"total": 3, "applied": 3}
    ended = group.ends(rollout)
    counts = {"total": 3, "due": 3, "applied": 3, "failed": 0, "not_moved": 0}
    assert (ended["status"], ended["hosts"]) == ("completed", counts)
    assert len(group.with_new()) == 3
    assert fleet.counts() == {"total": 3, "applied": 3}
    assert group.tick(rollout).done
    path = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}"
    assert fleet.member.http.get(path).json()["version_number"] == 2
    events = fleet.member.http.get(f"{path}/history").json()["items"]
    (event,) = [event for event in events if event["message"]]
    assert (event["event"], event["by"]["name"], event["message"]) == ("assigned", "ann", "better batches")


def test_a_wrong_backend_is_taken_back_and_told_of_in_words_of_our_own(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, hosts=3, fares="401")
    rollout = group.start()
    ended = group.ends(rollout)

    assert (ended["status"], sum(host.had_new for host in group.hosts), group.with_new()) == ("rolled_back", 1, [])
    assert {failure["gate"] for failure in ended["failures"]} == {"send_failed"}
    assert ended["reason"].startswith("Step 1: 1 of 1 collectors failed gates, 0 are tolerated: send_failed (1)")
    group.beats()
    assert fleet.counts() == {"total": 3, "applied": 3}
    told = [event for event in waiting(fleet.member.organization_id) if event.type.startswith("rollout.")]
    assert [event.type for event in told] == ["rollout.started", "rollout.rolled_back"]
    assert told[1].about.reason == ended["reason"]


def test_a_host_that_does_not_go_back_is_named_on_the_rollout_and_in_an_event(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, hosts=2, fares="401")
    rollout = group.start()
    group.goes_on(rollout, lambda shown: shown["status"] == "rolling_back")
    (host,) = group.with_new()
    host.stuck = True
    ended = group.ends(rollout)

    first = ended["failures"][0]
    assert (ended["status"], first["gate"], first["instance_id"]) == (
        "rolled_back",
        "rollback_failed",
        instance_id(host.agent.uid),
    )
    assert ended["reason"].endswith("1 instance has not gone back to the version before within 7 minutes")
    told = [event.type for event in waiting(fleet.member.organization_id) if event.type.startswith("rollout.")]
    # The last two are of the same moment.
    assert (told[0], set(told[1:])) == ("rollout.started", {"rollout.rolled_back", "rollout.rollback_failed"})


def test_an_assignment_takes_the_place_of_a_rollout_that_goes_back(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, hosts=2, fares="401")
    rollout = group.start()
    group.goes_on(rollout, lambda shown: shown["status"] == "rolling_back")
    for host in group.hosts:
        host.fares, host.stuck = "well", True
    fleet.publish_up_to(3)
    fleet.assign(3)
    assert group.now(rollout)["status"] == "superseded"
    for host in group.hosts:
        host.stuck = False
    group.beats(2)

    assert fleet.counts() == {"total": 2, "applied": 2}


def test_a_host_that_moves_to_another_group_in_its_turn_stops_the_rollout(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, hosts=2)
    other = fleet.add_group("other", 1)
    rollout = group.start()
    group.goes_on(rollout, applied)
    (host,) = group.with_new()
    host.agent.post = fleet.agent(group=other).post
    ended = group.ends(rollout)

    assert (ended["status"], [failure["gate"] for failure in ended["failures"]]) == ("rolled_back", ["left"])
    assert ended["failures"][0]["message"].startswith("It moved to another group")


def test_what_a_host_says_is_quoted_in_failures_and_nowhere_else(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, hosts=2)
    rollout = group.start()
    group.goes_on(rollout, applied)
    group.with_new()[0].crashes()
    ended = group.ends(rollout)

    assert [failure["gate"] for failure in ended["failures"]] == ["crash_loop"]
    assert "The collector ended 3 times" in ended["failures"][0]["message"]
    assert "The collector" not in ended["reason"]


def test_a_step_waits_until_another_persons_session_approves_it(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, hosts=1)
    headers = person(group)
    body = {"version_number": 2, "strategy": {"steps": [{"percent": 100, "soak_seconds": 0, "approval": True}]}}
    rollout = fleet.member.http.post(group.path, json=body, headers=headers).json()
    group.tick(rollout)
    assert group.now(rollout)["status"] == "waiting_for_approval"
    path = f"{group.path}/{rollout['id']}/approve"

    token = fleet.member.http.post(path)
    assert (token.status_code, token.json()["code"]) == (403, "session_required")
    own = fleet.member.http.post(path, headers=headers)
    assert (own.status_code, own.json()["code"]) == (403, "own_rollout")
    assert fleet.member.http.post(path, headers=person(group)).json()["status"] == "in_progress"
    assert group.ends(rollout)["status"] == "completed"


@pytest.mark.parametrize(
    ("acts", "refused"),
    [
        ([], ["resume", "approve"]),
        (["pause"], ["pause", "promote", "approve"]),
        (["abort"], ["pause", "resume", "promote", "retry", "approve"]),
    ],
)
def test_an_act_that_the_status_does_not_allow_is_409(
    fleet: Fleet, now: Clock, acts: list[str], refused: list[str]
) -> None:
    group = RollingGroup.of(fleet, now, hosts=0)
    rollout = group.start()
    for key in [{"Idempotency-Key": act} for act in acts for _ in range(2)]:
        path = f"{group.path}/{rollout['id']}/{key['Idempotency-Key']}"
        assert fleet.member.http.post(path, headers=key).status_code == 200, "repeated, it is carried out once"
    before = group.now(rollout)
    headers = person(group)
    answers = [fleet.member.http.post(f"{group.path}/{rollout['id']}/{act}", headers=headers) for act in refused]

    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(409, "rollout_status")] * len(
        refused
    )
    # In the words of pages, and with what to do about a rollout that does not go on.
    ended = group.now(rollout)["status"] in FINAL
    for answer in answers:
        assert "_" not in answer.json()["detail"]
        assert ("`headgate rollout start`" in answer.json()["detail"]) == ended
    assert group.now(rollout) == before


def test_an_assignment_at_once_and_a_new_rollout_take_the_place_of_an_open_one(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, hosts=1)
    first = group.start()
    now.moves(seconds=1)
    second = group.start(message="again")
    group.goes_on(second, applied)
    fleet.assign(1, message="not now")
    group.beats()
    listed = fleet.member.http.get(group.path).json()["items"]

    assert [(one["status"], one["version_number"], one["message"]) for one in listed] == [
        ("completed", 1, "not now"),
        ("superseded", 2, "again"),
        ("superseded", 2, None),
        ("completed", 1, None),
    ]
    assert (listed[0]["strategy"], listed[0]["gates"], listed[0]["hosts"]) == (None, None, None)
    assert listed[1]["reason"] == "An assignment took its place"
    assert listed[2]["reason"] == f"The rollout {second['id']} took its place"
    assert [group.tick(rollout).done for rollout in (first, second)] == [True, True]
    assert group.with_new() == []


def test_a_rename_of_the_group_leaves_its_rollout_as_it_is(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, hosts=1)
    rollout = group.start()
    group.tick(rollout)
    fleet.change(name="renamed")

    assert group.ends(rollout)["status"] == "completed"


def test_only_a_published_version_of_a_known_configuration_is_rolled_out(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup(fleet, now)
    unassigned = group.asks(version_number=1)
    assert (unassigned.status_code, unassigned.json()["errors"][0]["loc"]) == (422, ["body", "version_number"])
    fleet.assign(1)
    assert group.asks(version_number=9).status_code == 404
    strategy = {"window": {"start": "22:00", "end": "05:00", "time_zone": "Europe/Berlim"}}
    refused = group.asks(version_number=1, strategy=strategy)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["loc"] == ["body", "strategy", "window", "time_zone"]
    assert "give a name such as Europe/Berlin" in refused.text
    assert fleet.member.http.get(f"{group.path}/rol_{'0' * 26}").json()["code"] == "rollout_not_found"
