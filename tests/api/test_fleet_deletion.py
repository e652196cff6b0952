"""Instances, groups and fleets are deleted once nothing of them reports, and then wholly."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from httpx2 import Response

from headgate.deployments import assignments
from headgate.fleets import keys, tokens
from headgate.fleets import service as fleets
from headgate.instances import deletion, store
from headgate.instances.counting import admission
from headgate.storage import table
from headgate.storage.retry import LostRace
from tests.support.deployments import add
from tests.support.fleet_of_agents import Clock, Fleet, admin_of, ann, fleet, now
from tests.support.fleets import create as create_fleet
from tests.support.members import API
from tests.support.opamp_agent import Agent
from tests.support.rolling import RollingGroup, no_executions

__all__ = ["ann", "fleet", "no_executions", "now"]


def delete(fleet: Fleet, path: str = "") -> Response:
    return fleet.member.http.delete(f"{API}/fleets/{fleet.id}{path}")


def refused(response: Response) -> tuple[int, Any]:
    return response.status_code, response.json()["code"]


def test_an_instance_is_deleted_once_it_stopped_or_is_stale(now: Clock, fleet: Fleet) -> None:
    stopped, gone, alive = (fleet.agent(host_name=name) for name in ("stopped", "gone", "alive"))
    for agent in (stopped, gone, alive):
        agent.start()
    stopped.leaves()
    ids = {str(one["host_name"]): str(one["id"]) for one in fleet.instances()}
    assert refused(delete(fleet, f"/instances/{ids['gone']}")) == (409, "still_reports")

    now.moves(minutes=16)
    alive.heartbeat()
    for name in ("stopped", "gone"):
        assert delete(fleet, f"/instances/{ids[name]}").status_code == 204
        assert refused(delete(fleet, f"/instances/{ids[name]}")) == (404, "instance_not_found")
    assert refused(delete(fleet, f"/instances/{ids['alive']}")) == (409, "still_reports")
    assert fleet.counts()["total"] == 1

    gone.heartbeat()
    assert [one["host_name"] for one in fleet.instances() if one["id"] == ids["gone"]] == ["gone"]
    assert fleet.counts()["total"] == 2


def test_a_group_is_deleted_with_what_is_stale_in_it_and_its_name_is_free(now: Clock, fleet: Fleet) -> None:
    group = fleet.add_group("web", 1)
    agent = fleet.agent(group)
    agent.start()
    response = delete(fleet, f"/deployments/{group}")
    assert refused(response) == (409, "still_reports")
    assert "1 collector of this group reports: uninstall" in response.json()["detail"]

    now.moves(minutes=16)
    assert delete(fleet, f"/deployments/{group}").status_code == 204
    assert refused(delete(fleet, f"/deployments/{group}")) == (404, "deployment_not_found")
    assert (fleet.instances(), fleet.counts()) == ([], {})
    assert fleet.post(agent.message().SerializeToString(), group=group).status_code == 403
    assert fleet.add_group("web", 1) != group
    events = fleet.member.http.get(f"{API}/fleets/{fleet.id}/deployments/{group}/history").json()["items"]
    assert [one["event"] for one in events] == ["deleted", "created"]


def test_an_orderly_stop_is_enough_to_delete_a_group(now: Clock, fleet: Fleet) -> None:
    group = fleet.add_group("web", 1)
    agent = fleet.agent(group)
    agent.start()
    agent.leaves()
    assert delete(fleet, f"/deployments/{group}").status_code == 204


def test_the_default_group_ends_with_its_fleet_alone(fleet: Fleet) -> None:
    assert refused(delete(fleet, f"/deployments/{fleet.deployment_id}")) == (409, "deployment_in_use")


def test_a_fleet_is_deleted_with_its_tokens_and_its_label_is_free(now: Clock, fleet: Fleet) -> None:
    group = fleet.add_group("web", 1)
    agent = fleet.agent()
    agent.start()
    assert refused(delete(fleet)) == (409, "fleet_not_empty")
    assert delete(fleet, f"/deployments/{group}").status_code == 204
    response = delete(fleet)
    assert refused(response) == (409, "still_reports")
    assert "1 collector of this fleet reports" in response.json()["detail"]

    now.moves(minutes=16)
    assert delete(fleet).status_code == 204
    assert refused(delete(fleet)) == (404, "fleet_not_found")
    assert fleet.post(agent.message().SerializeToString()).status_code == 401
    assert table.fleets.list_all(keys.census_of(fleet.id)) == []
    assert create_fleet(fleet.member, "Edge").status_code == 201


@pytest.mark.usefixtures("no_executions")
def test_a_fleet_stays_until_the_rollout_of_its_default_group_has_ended(fleet: Fleet, now: Clock) -> None:
    fleet.publish_up_to(2)
    fleet.assign(1)
    group = RollingGroup(fleet, now)
    rollout = group.start()
    response = delete(fleet)
    assert refused(response) == (409, "deployment_in_use")
    assert "A rollout of the group Default is under way" in response.json()["detail"]

    group.act(rollout, "abort")
    assert group.ends(rollout)["status"] == "aborted"
    assert delete(fleet).status_code == 204


def test_a_deleted_fleet_makes_room_for_another(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.fleets.service.settings", lambda: _Limit(fleet_limit=1))
    assert create_fleet(fleet.member, "Second").status_code == 403
    assert delete(fleet).status_code == 204
    assert create_fleet(fleet.member, "Second").status_code == 201
    # It made room for no more than one.
    assert create_fleet(fleet.member, "Third").status_code == 403


class _Limit:
    fleet_endpoint = "https://fleet.example"

    def __init__(self, fleet_limit: int) -> None:
        self.fleet_limit = fleet_limit


def test_no_group_is_added_to_a_fleet_that_was_deleted_meanwhile(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{API}/fleets/{fleet.id}/deployments"
    checked = assignments._published

    def deleted_first(*given: Any) -> Any:
        assert delete(fleet).status_code == 204
        return checked(*given)

    monkeypatch.setattr(assignments, "_published", deleted_first)
    assert refused(add(fleet.member, path, fleet.configuration_id, "late")) == (404, "fleet_not_found")
    assert table.fleets.list_all(keys.of_fleet(fleet.id), keys.NAMES) == []


def test_a_group_that_is_added_while_its_fleet_is_deleted_is_seen(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, added = deletion.deployments.ids, []

    def added_after(fleet_id: str, limit: int) -> Any:
        found = listed(fleet_id, limit)
        if not added:
            added.append(fleet.add_group("late", 1))
        return found

    monkeypatch.setattr(deletion.deployments, "ids", added_after)
    assert refused(delete(fleet)) == (409, "fleet_not_empty")


@pytest.mark.parametrize("what", ["group", "fleet"])
def test_a_host_that_appears_while_its_group_or_fleet_is_deleted_is_seen(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Between the count and the deletion: the deletion counts again, and is refused."""
    group = fleet.add_group("web", 1) if what == "group" else fleet.deployment_id
    census, appeared = store.census, []

    def appears_after(fleet_id: str) -> Any:
        found = census(fleet_id)
        if not appeared:
            appeared.append(fleet.agent(group).start())
        return found

    monkeypatch.setattr(store, "census", appears_after)
    path = f"/deployments/{group}" if what == "group" else ""
    assert refused(delete(fleet, path)) == (409, "still_reports")
    monkeypatch.undo()
    assert len(fleet.instances()) == 1


def test_a_host_that_joins_after_the_room_was_read_fails_its_removal(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    get, joined = table.Table.get, list[str]()

    def joins_after(read: table.Table, key: table.Key, *attributes: str) -> Any:
        item = get(read, key, *attributes)
        if key == keys.room(fleet.id) and not joined:
            joined.append("web-1")
            fleet.agent(host_name="web-1").start()
        return item

    monkeypatch.setattr(table.Table, "get", joins_after)
    removal = admission.removal(fleet.id)
    with pytest.raises(LostRace):
        table.transact([removal])


def test_hosts_and_a_deletion_at_once_leave_all_or_nothing(fleet: Fleet) -> None:
    """Whoever is first: either the group stays with its host, or it is gone and the host was refused."""
    for round_ in range(6):
        group = fleet.add_group(f"g{round_}", 1)
        agent = Agent(lambda body: body)
        body = agent.full().SerializeToString()
        with ThreadPoolExecutor(2) as pool:
            posted = pool.submit(lambda group=group, body=body: fleet.post(body, group=group).status_code)
            deleted = pool.submit(lambda group=group: delete(fleet, f"/deployments/{group}").status_code)
        assert (posted.result(), deleted.result()) in ((200, 409), (403, 204))
        seen = [one for one in fleet.instances() if one["deployment_id"] == group]
        assert len(seen) == (1 if posted.result() == 200 else 0)
        assert len(table.fleets.list_all(keys.of_fleet(fleet.id), keys.INSTANCES)) == len(fleet.instances())


def test_a_token_that_is_issued_while_its_fleet_is_deleted_ends_with_it(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes, renewed = fleets.deleting, []

    def after_a_renewal(read: Any) -> Any:
        if not renewed:
            renewed.append(fleets.renew_token(admin_of(fleet), fleet.id, "7d"))
        return writes(read)

    monkeypatch.setattr(deletion.fleets, "deleting", after_a_renewal)
    assert delete(fleet).status_code == 204
    body = fleet.agent().full().SerializeToString()
    assert [fleet.post(body, token=tokens.value_of(fleet.id, n)).status_code for n in (1, 2)] == [401, 401]
