"""Deleting, archiving and restoring configurations: what each allows, what stands against it, and races."""

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest
from httpx2 import Response

from configurations.app import router
from headgate.configurations import store
from headgate.configurations.model import Configuration
from headgate.storage import table
from tests.support import configurations as cfg
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.members import API, JoinWith, Member

__all__ = ["ann", "fleet", "now"]


@pytest.fixture
def bob(join: JoinWith, fleets_without_collector: None) -> Member:
    return join([router], "bob")


def act(member: Member, configuration_id: str, verb: str = "archive") -> Response:
    return member.http.post(f"{API}/configurations/{configuration_id}/{verb}")


def delete(member: Member, configuration_id: str) -> Response:
    return member.http.delete(f"{API}/configurations/{configuration_id}")


def listed(member: Member, query: str = "") -> list[str]:
    answer = cfg.get(member, query)
    assert answer.status_code == 200, answer.text
    return [one["name"] for one in answer.json()["items"]]


def refused(answer: Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def published(member: Member, name: str = "Shop") -> str:
    configuration_id = cfg.create(member, name)
    assert cfg.publish(member, configuration_id).status_code == 200
    return configuration_id


def of(configuration_id: str) -> list[Any]:
    """What the table of versions holds of it."""
    return table.versions.list_all(configuration_id)


def test_what_was_never_published_is_deleted_with_all_that_it_has(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    configuration_id = cfg.create(ann)
    for n in range(3):
        assert cfg.append(ann, configuration_id, f"text: {n}").status_code == 201
    # More than one transaction, as a hundred versions would take.
    monkeypatch.setattr(table, "TRANSACTION_ITEMS", 6)

    assert delete(ann, configuration_id).status_code == 204
    assert refused(cfg.get(ann, f"/{configuration_id}")) == (404, "configuration_not_found")
    assert (listed(ann), of(configuration_id)) == ([], [])
    assert refused(delete(ann, configuration_id)) == (404, "configuration_not_found")


def test_what_was_published_is_not_deleted_and_the_answer_says_what_to_do(ann: Member) -> None:
    answer = delete(ann, published(ann))

    assert refused(answer) == (409, "configuration_published")
    assert "archive" in answer.json()["detail"]


def test_another_member_deletes_and_archives_nothing(ann: Member, bob: Member) -> None:
    draft, shown = cfg.create(ann), published(ann)

    assert refused(delete(bob, draft)) == refused(act(bob, draft)) == (404, "configuration_not_found")
    assert refused(delete(bob, shown)) == refused(act(bob, shown)) == (403, "not_the_owner")
    assert refused(act(bob, shown, "restore")) == (403, "not_the_owner")


def test_an_archived_configuration_leaves_the_list_and_is_found_by_a_filter(ann: Member, bob: Member) -> None:
    configuration_id = published(ann)
    published(ann, "Other")
    archived = act(ann, configuration_id)

    assert (archived.status_code, archived.json()["archived_at"]) == (200, archived.json()["updated_at"])
    assert act(ann, configuration_id).json() == archived.json()
    for member in (ann, bob):
        assert (listed(member), listed(member, "?archived=true")) == (["Other"], ["Shop"])
        assert listed(member, "?archived=all") == ["Shop", "Other"]
        assert cfg.get(member, f"/{configuration_id}").json()["archived_at"] == archived.json()["archived_at"]


def test_a_draft_is_archived_too_and_its_owner_alone_sees_it(ann: Member, bob: Member) -> None:
    configuration_id = cfg.create(ann, "Draft")
    act(ann, configuration_id)

    assert (listed(ann, "?archived=true"), listed(bob, "?archived=true")) == (["Draft"], [])
    assert delete(ann, configuration_id).status_code == 204


def test_nothing_new_is_made_of_an_archived_configuration(ann: Member, fleet: Fleet) -> None:
    configuration_id = published(ann)
    cfg.append(ann, configuration_id, "text: 2")
    act(ann, configuration_id)
    wanted = {"configuration_id": configuration_id, "version_number": 1}
    group = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}"
    new = {"name": "new", **wanted}

    for answer in (
        cfg.append(ann, configuration_id, "text: 3"),
        cfg.patch(ann, configuration_id, 2, yaml="text: 3"),
        cfg.publish(ann, configuration_id, 2),
        ann.http.patch(group, json=wanted),
        ann.http.patch(group, json={"configuration_id": configuration_id}),
        ann.http.post(f"{API}/fleets/{fleet.id}/deployments", json=new),
        ann.http.post(f"{group}/rollouts", json=wanted),
    ):
        assert refused(answer) == (409, "configuration_archived")
        assert "restore it first" in answer.json()["detail"]
    assert cfg.publish(ann, configuration_id, 1).status_code == 200


def test_a_restored_configuration_is_as_before(ann: Member, bob: Member, fleet: Fleet) -> None:
    configuration_id = published(ann)
    act(ann, configuration_id)
    restored = act(ann, configuration_id, "restore")

    assert (restored.status_code, restored.json()["archived_at"]) == (200, None)
    assert act(ann, configuration_id, "restore").json() == restored.json()
    assert (listed(bob), listed(bob, "?archived=true")) == (["Shop", "Edge"], [])
    fleet.change(configuration_id=configuration_id, version_number=1)


def test_what_a_group_is_assigned_is_not_archived_until_it_is_not(ann: Member, fleet: Fleet) -> None:
    fleet.assign(1)
    answer = act(ann, fleet.configuration_id)

    assert refused(answer) == (409, "configuration_in_use")
    (use,) = answer.json()["errors"]
    assert use["message"] == "the group Default of the fleet Edge is assigned version 1"
    assert use["message"] in answer.json()["detail"]
    fleet.assign(None)
    assert act(ann, fleet.configuration_id).status_code == 200


def test_what_a_rollout_or_an_override_makes_hosts_run_is_not_archived(ann: Member, fleet: Fleet, now: Clock) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    (host,) = fleet.instances()
    rolled, overriding = published(ann, "Rolled"), published(ann, "Overriding")
    group = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}/rollouts"
    rollout = ann.http.post(group, json={"configuration_id": rolled, "version_number": 1})
    assert rollout.status_code == 201, rollout.text
    until = {"configuration_id": overriding, "version_number": 1, "until": "2026-11-21T13:00:00Z"}
    override = f"{API}/fleets/{fleet.id}/instances/{host['id']}/override"
    assert ann.http.put(override, json=until).status_code == 200

    for configuration_id, kind in ((rolled, "rollout"), (overriding, "override")):
        (use,) = act(ann, configuration_id).json()["errors"]
        assert use["code"] == kind
    assert ann.http.post(f"{group}/{rollout.json()['id']}/abort").status_code == 200
    now.moves(hours=2)
    assert act(ann, overriding).status_code == 200


def test_an_archive_racing_an_assignment_never_leaves_an_archived_configuration_assigned(
    ann: Member, fleet: Fleet
) -> None:
    with ThreadPoolExecutor(3) as pool:
        for turn in range(5):
            configuration_id = published(ann, f"Raced {turn}")
            start = threading.Barrier(3)
            wanted = {"configuration_id": configuration_id, "version_number": 1}

            def archives(configuration_id: str = configuration_id, start: threading.Barrier = start) -> Response:
                start.wait()
                return act(ann, configuration_id)

            def assigns(wanted: dict[str, Any] = wanted, start: threading.Barrier = start) -> Response:
                start.wait()
                return ann.http.patch(f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}", json=wanted)

            def appends(configuration_id: str = configuration_id, start: threading.Barrier = start) -> Response:
                start.wait()
                return cfg.append(ann, configuration_id, "text: 2")

            archiving, assigning, appending = (pool.submit(one) for one in (archives, assigns, appends))
            archived, assigned = archiving.result().status_code, assigning.result().status_code

            assert {archived, assigned} == {200, 409}
            assert appending.result().status_code in ({201, 409} if archived == 200 else {201})
            fleet.assign(None)


def test_a_configuration_that_is_deleted_while_it_is_renamed_is_not_found(
    ann: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration_id = cfg.create(ann)
    describe = store.describe

    def late(before: Configuration, changes: Mapping[str, str | None], at: datetime) -> Configuration:
        assert delete(ann, configuration_id).status_code == 204
        return describe(before, changes, at)

    monkeypatch.setattr(store, "describe", late)

    renamed = ann.http.patch(f"{API}/configurations/{configuration_id}", json={"name": "Renamed"})
    assert refused(renamed) == (404, "configuration_not_found")


def test_a_publication_racing_a_deletion_leaves_a_whole_configuration_or_none(ann: Member) -> None:
    with ThreadPoolExecutor(2) as pool:
        for _ in range(5):
            configuration_id = cfg.create(ann)
            start = threading.Barrier(2)

            def deletes(configuration_id: str = configuration_id, start: threading.Barrier = start) -> Response:
                start.wait()
                return delete(ann, configuration_id)

            def publishes(configuration_id: str = configuration_id, start: threading.Barrier = start) -> Response:
                start.wait()
                return cfg.publish(ann, configuration_id)

            deleting, publishing = pool.submit(deletes), pool.submit(publishes)
            statuses = (deleting.result().status_code, publishing.result().status_code)

            assert statuses in ((204, 404), (409, 200))
            assert len(of(configuration_id)) == (0 if statuses[0] == 204 else 2)
            assert cfg.get(ann, f"/{configuration_id}").status_code == (404 if statuses[0] == 204 else 200)
