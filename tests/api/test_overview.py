"""What needs somebody is told with its reason and the page where it is mended, at a cost that does not grow."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from configurations.app import router as configurations_router
from fleets.api.overview import router as overview_router
from fleets.app import app as fleets_app
from fleets.app import routers as fleets_routers
from headgate import checker
from headgate.checker import CheckerBusy
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.identity import service as identity
from headgate.runs import store
from headgate_opamp import opamp_pb2 as wire
from testing.app import router as runs_router
from tests.support import configurations as cfg
from tests.support.fleet_of_agents import Clock, Fleet, make_fleet, now
from tests.support.fleets import create as create_fleet
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith, Member
from tests.support.page_visitor import Person, ada, http, member_at, site
from tests.support.request_units import counted
from tests.support.rolling import RollingGroup, no_executions
from tests.support.runs import failed, queued
from validation.app import router as validation_router

__all__ = ["ada", "http", "no_executions", "now"]

FAILED = wire.RemoteConfigStatuses_FAILED
EVIL = "<script>alert(1)</script>\u202egnp"
BAD = {"message": "'timeout' time: unknown unit", "component_path": "", "code": "invalid_value", "line": 1, "column": 1}


class Collector:
    """Answers whether a text is valid: one with `bad` in it is not. `asked` counts the questions."""

    def __init__(self) -> None:
        self.asked = 0
        self.busy = False

    def call(self, op: str, request: Mapping[str, Any], **_: object) -> dict[str, Any]:
        self.asked += 1
        if self.busy:
            raise CheckerBusy("All are busy")
        assert op == "validate"
        bad = "bad" in request["yaml"]
        return {"valid": not bad, "errors": [BAD, BAD] if bad else [], "warnings": [], "environment": []}


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Collector:
    scripted = Collector()
    monkeypatch.setattr(checker.COLLECTORS, "call", scripted.call)
    return scripted


@pytest.fixture
def ann(join: JoinWith, fleets_without_collector: None) -> Member:
    return join([overview_router, *fleets_routers, configurations_router, runs_router, validation_router], "ann")


@pytest.fixture
def fleet(ann: Member) -> Fleet:
    return make_fleet(ann)


def overview(member: Member, **query: str) -> dict[str, Any]:
    answer = member.http.get(f"{API}/overview", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def told(member: Member, *kinds: str, **query: str) -> list[dict[str, Any]]:
    """The notices of these kinds, or all."""
    return [one for one in overview(member, **query)["notices"] if not kinds or one["kind"] in kinds]


def test_a_new_organization_has_nothing_and_needs_nothing(ann: Member) -> None:
    found = overview(ann)

    assert (found["has_configurations"], found["notices"], found["fleets"]) == (False, [], [])


def test_collectors_are_counted_and_a_failed_one_is_told_with_its_reason(fleet: Fleet) -> None:
    fleet.assign(1)
    for name, status in (("web-1", wire.RemoteConfigStatuses_APPLIED), ("web-2", FAILED)):
        agent = fleet.agent(host_name=name)
        agent.start()
        agent.report(status, "bind: address already in use" if status == FAILED else "")

    (shown,) = overview(fleet.member)["fleets"]
    (failure,) = told(fleet.member)

    assert (shown["instances"]["applied"], shown["instances"]["apply_failed"]) == (1, 1)
    assert failure["kind"] == "apply_failed"
    assert failure["subject"] == "web-2 in Edge"
    assert failure["reason"] == "bind: address already in use"
    assert failure["page"].endswith(f"/fleets/{fleet.id}/collectors?state=apply_failed")


@pytest.mark.parametrize(
    ("heard", "reason"), [(1, "2 of 3 collectors are not heard"), (2, "1 of 3 collectors is not heard")]
)
def test_collectors_that_are_not_heard_are_told_with_their_number(
    fleet: Fleet, now: Clock, heard: int, reason: str
) -> None:
    fleet.assign(1)
    agents = [fleet.agent(host_name=f"web-{n}") for n in range(3)]
    for agent in agents:
        agent.start()
        agent.applies()
    for _ in range(4):
        now.moves(hours=1)
        for agent in agents[:heard]:
            agent.heartbeat()
    (silent,) = told(fleet.member, "hosts_silent")
    home = member_at(fleets_app, fleet.member.organization_id).get(f"/organizations/{fleet.member.organization_id}")

    assert (silent["subject"], silent["reason"]) == ("Edge", reason)
    assert silent["page"].endswith(f"/fleets/{fleet.id}/collectors?state=silent")
    assert '<span class="tag silent">Silent</span>' in home.text
    assert "3</strong>" in home.text


def test_of_many_failed_collectors_some_are_named_and_all_are_counted(fleet: Fleet) -> None:
    fleet.assign(1)
    for number in range(5):
        agent = fleet.agent(host_name=f"web-{number}")
        agent.start()
        agent.report(FAILED, "no")

    failures = told(fleet.member)

    assert len(failures) == 4
    assert "5 collectors could not apply the assigned version" in {one["reason"] for one in failures}


@pytest.mark.usefixtures("no_executions")
def test_a_rollout_that_halted_and_one_that_waits_are_told_until_they_go_on(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, 4)
    steps = [{"hosts": 1, "soak_seconds": 60}, {"percent": 100, "soak_seconds": 60, "approval": True}]
    waiting = group.start({"steps": steps})
    group.goes_on(waiting, lambda shown: shown["status"] == "waiting_for_approval")

    (notice,) = told(fleet.member)
    assert (notice["kind"], notice["subject"]) == ("rollout_waiting", "Edge / Default")
    assert notice["rollout_id"] == waiting["id"]
    assert notice["page"].endswith(f"/fleets/{fleet.id}/deployments/{fleet.deployment_id}")

    assert group.act(waiting, "pause").status_code == 200
    assert told(fleet.member) == []


@pytest.mark.usefixtures("no_executions")
def test_a_rollout_that_was_rolled_back_is_told_until_another_version_is_assigned(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, 2)
    made = group.start({"steps": [{"percent": 100, "soak_seconds": 60}], "on_failure": "roll_back"})
    for host in group.hosts:
        host.fares = "fails"
    assert group.ends(made)["status"] == "rolled_back"

    (notice,) = told(fleet.member, "rollout_rolled_back")
    assert (notice["subject"], notice["rollout_id"]) == ("Edge / Default", made["id"])
    assert notice["page"].endswith(f"/deployments/{fleet.deployment_id}/rollouts/{made['id']}")

    now.moves(days=8)
    assert told(fleet.member, "rollout_rolled_back") == []
    now.moves(days=-8)
    fleet.assign(1)
    assert told(fleet.member, "rollout_rolled_back") == []


@pytest.mark.usefixtures("no_executions")
def test_collectors_that_do_not_go_back_are_told_before_all_else(fleet: Fleet, now: Clock) -> None:
    group = RollingGroup.of(fleet, now, 2)
    started = group.start()
    group.goes_on(started, lambda shown: bool(shown["hosts"] and shown["hosts"]["applied"]))
    for host in group.hosts:
        host.stuck = True
    assert group.act(started, "abort").status_code == 200
    assert group.ends(started)["status"] == "aborted"

    notice = told(fleet.member)[0]
    assert (notice["kind"], notice["subject"]) == ("rollback_failed", "Edge / Default")
    assert notice["reason"] == "1 instance has not gone back to the version before within 7 minutes"
    assert notice["page"].endswith(f"/rollouts/{started['id']}")


def test_drafts_are_checked_only_if_that_is_asked_for_and_once(ann: Member, collector: Collector) -> None:
    made = cfg.create(ann, name="Edge", yaml="bad: 1")
    cfg.create(ann, name="Good", yaml="good: 1")

    assert {one["kind"] for one in told(ann)} == {"draft_unchecked"}
    assert collector.asked == 0

    (invalid,) = told(ann, check="true")
    assert (invalid["kind"], invalid["subject"]) == ("draft_invalid", "Edge version 1")
    assert invalid["reason"] == "'timeout' time: unknown unit (and 1 more)"
    assert invalid["page"].endswith(f"/configurations/{made}/edit?version=1")
    assert [told(ann), told(ann, check="true")] == [[invalid], [invalid]]
    assert collector.asked == 2

    cfg.patch(ann, made, 1, yaml="mended: 1")
    assert [one["kind"] for one in told(ann)] == ["draft_unchecked"]
    assert told(ann, check="true") == []


def test_a_check_made_elsewhere_counts_in_every_process(ann: Member, collector: Collector) -> None:
    made = cfg.create(ann, yaml="a: 1")

    saved = ann.http.patch(f"{API}/configurations/{made}/versions/1?validate=true", json={"yaml": "b: 1"})

    assert (saved.status_code, collector.asked) == (200, 1)
    assert (told(ann), told(ann, check="true"), collector.asked) == ([], [], 1)


@pytest.mark.usefixtures("collector")
def test_a_verdict_is_listed_unless_the_text_was_only_typed(ann: Member) -> None:
    cfg.create(ann, yaml="a: 1")

    for query, kinds in (("?remember=false", ["draft_unchecked"]), ("", [])):
        assert ann.http.post(f"{API}/validate{query}", json={"yaml": "a: 1"}).json()["valid"]
        assert [notice["kind"] for notice in told(ann)] == kinds


def test_a_draft_for_a_collector_that_is_not_installed_is_not_checked_and_says_why(ann: Member) -> None:
    cfg.patch(ann, cfg.create(ann, yaml="a: 1"), 1, collector_version="0.1.0")

    (notice,) = told(ann, check="true")

    assert notice["kind"] == "draft_unchecked"
    assert "0.1.0" in notice["reason"]


def test_a_draft_that_could_not_be_checked_is_not_called_valid(ann: Member, collector: Collector) -> None:
    cfg.create(ann, yaml="a: 1")
    collector.busy = True

    assert [one["kind"] for one in told(ann, check="true")] == ["draft_unchecked"]


def test_what_the_collector_says_of_a_hostile_text_is_cut(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    def call(*_: object, **__: object) -> dict[str, Any]:
        return {"valid": False, "errors": [BAD | {"message": "x" * 900_000}], "warnings": [], "environment": []}

    monkeypatch.setattr(checker.COLLECTORS, "call", call)
    cfg.create(ann, yaml="a: 1")

    assert [len(one["reason"]) for one in told(ann, check="true")] == [500]


def test_drafts_of_others_are_not_told_and_published_versions_are_not_drafts(
    ann: Member, join: JoinWith, collector: Collector
) -> None:
    bob = join([overview_router, configurations_router], "bob")
    cfg.create(bob, name="secret of bob", yaml="bad: 1")
    cfg.publish(ann, cfg.create(ann, yaml="bad: 1"))

    assert told(ann, check="true") == []


def test_five_drafts_at_most_are_checked(ann: Member, collector: Collector) -> None:
    for number in range(8):
        cfg.create(ann, name=f"c{number}", yaml="bad: 1")

    assert [len(told(ann, check="true")), collector.asked] == [5, 5]


def test_nothing_is_told_only_if_every_draft_was_looked_at(ann: Member, collector: Collector) -> None:
    for number in range(7):
        cfg.create(ann, name=f"c{number}", yaml=f"good: {number}")

    assert {one["kind"] for one in told(ann, check="true")} == {"draft_unchecked"}
    assert told(ann, check="true") == []
    assert collector.asked == 7


@pytest.mark.collector
def test_a_pipeline_whose_newest_run_failed_is_told(ann: Member) -> None:
    first = clock.now()
    for n, pipeline in enumerate(("logs/a", "logs/b")):
        failed(queued(ann, id=new_id("run", first + timedelta(milliseconds=n)), target_pipeline=pipeline))
    later = queued(ann, id=new_id("run", first + timedelta(milliseconds=5)), target_pipeline="logs/b")
    assert [one["subject"] for one in told(ann, "run_failed")] == ["pipeline logs/b", "pipeline logs/a"]

    store.update(later.start(clock.now()).complete((), {"logs": 2}, "", clock.now()))

    (notice,) = told(ann)
    assert (notice["subject"], notice["page"]) == ("pipeline logs/a", f"/organizations/{ann.organization_id}/runs")
    assert notice["reason"]


def test_a_failed_test_names_its_configuration_and_leads_to_it(ann: Member) -> None:
    made = cfg.create(ann, name="Shop")
    cfg.publish(ann, made)
    run = failed(queued(ann, configuration_id=made, version_number=1, target_pipeline="logs", published=True))
    failed(queued(ann, configuration_id=new_id("cfg"), version_number=1, target_pipeline="logs/gone", published=True))

    shown, gone = sorted(told(ann, "run_failed"), key=lambda one: str(one["subject"]))
    assert (shown["subject"], gone["subject"]) == ("Shop version 1, pipeline logs", "pipeline logs/gone")
    assert shown["page"].endswith(f"/configurations/{made}/versions/1/run?run={run.id}")


def test_tokens_that_expire_soon_are_told_to_those_who_can_renew_them(
    ann: Member, ada: Person, http: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_fleet(ann, "Short", "server-supervisor", expires_in="180d")
    account = identity.create_service_account(ada.organization_id, "ci")
    soon = clock.now() + timedelta(days=3)
    identity.create_token(ada.organization_id, account.id, name="deploys", access="read", expires_at=soon)

    assert told(ann) == []
    home = f"/organizations/{ada.organization_id}"
    assert f'<a href="{home}/expiring-tokens">' in http.get(home).text
    assert "deploys" in http.get(f"{home}/expiring-tokens").text
    contributor = member_at(site(), ada.organization_id)
    assert "expiring-tokens" not in contributor.get(home).text
    assert contributor.get(f"{home}/expiring-tokens").status_code == 403

    real = clock.now()
    monkeypatch.setattr(clock, "now", lambda: real + timedelta(days=170))
    assert [(one["kind"], one["subject"]) for one in told(ann)] == [("token_expiring", "token of Short")]
    monkeypatch.setattr(clock, "now", lambda: real + timedelta(days=181))
    assert [one["kind"] for one in told(ann)] == ["token_expired"]


def test_a_token_that_expires_is_told_behind_hundreds_that_do_not(ada: Person, http: TestClient) -> None:
    for name in "abcdef":
        account = identity.create_service_account(ada.organization_id, name)
        for number in range(40 if name < "f" else 1):
            identity.create_token(ada.organization_id, account.id, name=f"lasting {name} {number}", access="read")
    soon = clock.now() + timedelta(days=3)
    identity.create_token(ada.organization_id, account.id, name="deploys", access="read", expires_at=soon)

    shown = http.get(f"/organizations/{ada.organization_id}/expiring-tokens").text

    assert "deploys" in shown
    assert "lasting" not in shown


def test_the_cost_does_not_grow_with_collectors_and_configurations(fleet: Fleet) -> None:
    fleet.assign(1)

    def cost() -> dict[str, int]:
        with counted() as (calls, _):
            overview(fleet.member)
        return dict(calls)

    fleet.agent(host_name="the first").start()
    # What a new process does not know is read once.
    overview(fleet.member)
    before_any = cost()
    for number in range(12):
        fleet.agent(host_name=f"web-{number}").start()
        cfg.publish(fleet.member, cfg.create(fleet.member, name=f"c{number}"))

    after = cost()
    assert after["Query"] == before_any["Query"]
    assert sum(after.values()) <= sum(before_any.values()) + 1


def test_the_page_is_text_whatever_names_say_and_leads_to_what_is_mended(fleet: Fleet) -> None:
    fleet.assign(1)
    agent = fleet.agent(host_name=EVIL)
    agent.start()
    agent.report(FAILED, EVIL)
    organization_id = fleet.member.organization_id

    page = member_at(fleets_app, organization_id).get(f"/organizations/{organization_id}")

    assert page.status_code == 200
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert(1)" in page.text
    assert f'href="/organizations/{organization_id}/fleets/{fleet.id}/collectors?state=apply_failed"' in page.text


def test_what_is_a_day_old_is_grey_and_green_is_only_what_was_seen(fleet: Fleet, now: Clock) -> None:
    organization_id = fleet.member.organization_id

    def page() -> str:
        # A session lives for twelve hours.
        return member_at(fleets_app, organization_id).get(f"/organizations/{organization_id}").text

    assert "✓ nothing" in page()
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.report(FAILED, "no")
    for _ in range(30):
        now.moves(hours=1)
        agent.heartbeat()

    shown = page()
    assert "✓ nothing" not in shown
    assert re.search(r'<tr class="old"><td><span class="tag ">Not applied</span>', shown)
