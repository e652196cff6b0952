"""The list of test runs: who sees which, filters, pages, and how much one request reads."""

from datetime import timedelta
from typing import Any

import pytest

from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.runs import keys, service, store
from headgate.runs.model import LONGEST_REASON, Run, RunFilter
from headgate.storage import aws, table
from headgate_engine.testing.model import LONGEST
from testing.app import router
from tests.support.members import API, JoinWith, Member
from tests.support.runs import failed, queued


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann")


@pytest.fixture
def bob(join: JoinWith) -> Member:
    return join([router], "bob")


def listed(member: Member, query: str = "", **parameters: Any) -> list[dict[str, Any]]:
    """Every entry, page by page."""
    entries: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = member.http.get(f"{API}/testing/runs{query}", params=parameters | ({"cursor": cursor} if cursor else {}))
        assert page.status_code == 200, page.text
        entries += page.json()["items"]
        cursor = page.json()["next_cursor"]
        if cursor is None:
            return entries


def ids(member: Member, **parameters: Any) -> list[str]:
    return [entry["id"] for entry in listed(member, **parameters)]


def in_turn(member: Member, count: int, **changes: Any) -> list[Run]:
    """Queued runs, each a millisecond newer than the one before: ids of the same millisecond have any order."""
    first = clock.now()
    return [queued(member, id=new_id("run", first + timedelta(milliseconds=n)), **changes) for n in range(count)]


def test_runs_are_listed_newest_first_over_pages(ann: Member) -> None:
    runs = in_turn(ann, 5)

    assert ids(ann, limit=2) == [run.id for run in reversed(runs)]


def test_a_member_sees_their_own_runs_and_those_of_published_versions_and_an_admin_all(
    ann: Member, bob: Member, join: JoinWith
) -> None:
    stranger = join([router], "eve", organization_id=identity.create_organization("Other").id)
    of_published, own = queued(ann, published=True), queued(ann)
    principal = Principal("user", new_id("usr"), "root@x")
    admin = Caller(ann.organization_id, "Acme", principal, "root@x", "admin", "read", "c")

    assert ({*ids(ann)}, ids(bob), ids(stranger)) == ({own.id, of_published.id}, [of_published.id], [])
    seen = {run.id: run.is_of_version_seen_by(principal) for run in service.listed(admin, RunFilter(), 9, None).entries}
    assert seen == {own.id: False, of_published.id: True}


def test_filters_are_combined(ann: Member) -> None:
    configuration_id = new_id("cfg")
    wanted = queued(ann, configuration_id=configuration_id, version_number=1, target_pipeline="logs/a")
    queued(ann, configuration_id=configuration_id, version_number=1)
    queued(ann, target_pipeline="logs/a")
    failed(queued(ann, configuration_id=configuration_id, version_number=1, target_pipeline="logs/a"))

    assert ids(ann, configuration_id=configuration_id, pipeline="logs/a", status="Queued") == [wanted.id]
    assert len(ids(ann, configuration_id=configuration_id)) == 3
    assert ids(ann, configuration_id=new_id("cfg")) == []


@pytest.mark.parametrize("query", ["status=Done", "configuration_id=cfg_1", "pipeline=", "limit=0", "cursor=abc"])
def test_a_malformed_filter_is_422(query: str, ann: Member) -> None:
    answer = ann.http.get(f"{API}/testing/runs?{query}")

    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["query", query.partition("=")[0]])


def test_an_entry_says_what_failed_in_one_line_and_has_no_text(ann: Member) -> None:
    run = failed(queued(ann), "0 of 2 matched\nand more")
    (entry,) = listed(ann)

    assert entry["id"] == run.id
    assert (entry["status"], entry["success"], entry["reason"]) == ("Fail", False, "some: 0 of 2 matched")
    assert (entry["rules"], entry["records"]) == ({"total": 1, "passed": 0}, {"in": {"logs": 2}, "out": {"logs": 2}})
    assert entry["created_by"]["name"] == "ann"
    assert not {"stderr", "validation_results", "attributes"} & entry.keys()


def test_what_may_be_large_is_not_copied_into_the_index(ann: Member) -> None:
    """The index has all attributes of an item, so an item has what lists show."""
    run = queued(ann)
    store.update(run.fail("x" * 60_000, clock.now()))
    (copied,) = aws.dynamodb().query(
        TableName=settings().runs_table,
        IndexName="of_organization",
        KeyConditionExpression="organization_id = :id",
        ExpressionAttributeValues={":id": {"S": ann.organization_id}},
    )["Items"]
    ended = store.find(run.id)

    assert len(str(copied)) < 2_000
    assert ended is not None
    assert len(ended.stderr) > 50_000


def test_a_run_is_gone_with_its_details(ann: Member) -> None:
    run = queued(ann)
    store.delete(run.id)

    assert store.find(run.id) is None
    assert table.runs.get(keys.details(run.id)) is None


def test_the_reason_of_an_error_is_cut(ann: Member) -> None:
    store.update(queued(ann).fail("x" * 60_000, clock.now()))
    (entry,) = listed(ann)

    assert entry["reason"] == "x" * (LONGEST_REASON - 1) + "…"


def test_a_lost_run_ends_when_it_is_listed(ann: Member) -> None:
    long_ago = clock.now() - LONGEST - timedelta(minutes=1)
    run = queued(ann, status="Running", created_at=long_ago, started_at=long_ago)
    (entry,) = listed(ann)

    assert (entry["id"], entry["status"]) == (run.id, "Error")
    assert "interrupted" in entry["reason"]


def test_an_expired_run_and_a_job_are_not_listed(ann: Member) -> None:
    queued(ann, created_at=clock.now() - timedelta(days=31))
    table.runs.put(
        keys.run(new_id("job")) | {"organization_id": ann.organization_id, "expires": 2**33, "published": True}
    )

    assert listed(ann) == []


def test_a_request_reads_so_many_runs_and_the_next_page_goes_on(
    ann: Member, bob: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MOST_READ", 4)
    oldest = queued(bob, id=new_id("run", clock.now() - timedelta(minutes=1)))
    in_turn(ann, 6)
    first = bob.http.get(f"{API}/testing/runs?limit=1").json()

    assert (first["items"], first["next_cursor"] is None) == ([], False)
    assert ids(bob, limit=1) == [oldest.id]
