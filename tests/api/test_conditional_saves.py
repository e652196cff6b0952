"""Appending and publishing a version only if nobody changed meanwhile what was read: `If-Match`, and the races."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from httpx2 import Response

from configurations.app import router
from headgate.configurations import service, store
from headgate.configurations.model import VersionChanged
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from tests.support import configurations as cfg
from tests.support.members import API, JoinWith, Member

WRITERS = 8


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann")


def etag(member: Member, configuration_id: str, n: int = 1) -> str:
    return cfg.get(member, f"/{configuration_id}/versions/{n}").headers["etag"]


def append(member: Member, configuration_id: str, yaml: str, if_match: str) -> Response:
    path = f"{API}/configurations/{configuration_id}/versions"
    return member.http.post(path, json={"yaml": yaml}, headers={"If-Match": if_match})


def publish(member: Member, configuration_id: str, if_match: str) -> Response:
    path = f"{API}/configurations/{configuration_id}/versions/1/publish"
    return member.http.post(path, headers={"If-Match": if_match})


def numbers(member: Member, configuration_id: str) -> list[int]:
    return [version["n"] for version in cfg.get(member, f"/{configuration_id}/versions").json()["items"]]


def test_of_versions_appended_at_once_to_the_same_state_the_first_is_saved(ann: Member) -> None:
    configuration_id = cfg.create(ann)
    cfg.publish(ann, configuration_id)
    read = etag(ann, configuration_id)

    with ThreadPoolExecutor(WRITERS) as pool:
        answers = list(pool.map(lambda n: append(ann, configuration_id, f"a: {n}", read), range(WRITERS)))

    assert sorted(answer.status_code for answer in answers) == [201, *[412] * (WRITERS - 1)]
    assert numbers(ann, configuration_id) == [2, 1]
    refusal = next(answer for answer in answers if answer.status_code == 412)
    assert refusal.json()["code"] == "version_changed"
    assert etag(ann, configuration_id, 2) in refusal.json()["detail"]
    assert append(ann, configuration_id, "a: b", etag(ann, configuration_id, 2)).status_code == 201
    assert append(ann, configuration_id, "a: c", "*").status_code == 201


def test_a_draft_that_is_edited_while_a_version_is_appended_to_it_makes_the_append_412(
    ann: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration_id = cfg.create(ann)
    stores = store.append

    def edited_first(*arguments: Any) -> None:
        monkeypatch.setattr(store, "append", stores)
        assert cfg.patch(ann, configuration_id, 1, yaml="edited: meanwhile").status_code == 200
        stores(*arguments)

    monkeypatch.setattr(store, "append", edited_first)

    assert append(ann, configuration_id, "a: b", etag(ann, configuration_id)).status_code == 412
    assert numbers(ann, configuration_id) == [1]


def test_an_admin_appends_to_the_newest_published_version_whatever_drafts_its_owner_has(ann: Member) -> None:
    configuration_id = cfg.create(ann)
    cfg.publish(ann, configuration_id)
    read = etag(ann, configuration_id)
    cfg.append(ann, configuration_id, "of: the owner")
    someone = Principal("user", new_id("usr"), "a@b.c")
    admin = Caller(ann.organization_id, "Acme", someone, someone.name, "admin", "read_write", "x")

    assert service.append(admin, configuration_id, "by: the admin", None, frozenset([read]))[1].n == 3
    cfg.publish(ann, configuration_id, 2)
    with pytest.raises(VersionChanged):
        service.append(admin, configuration_id, "by: the admin", None, frozenset([read]))


def test_a_draft_is_published_as_it_was_read_or_not_at_all(ann: Member) -> None:
    configuration_id = cfg.create(ann)
    read = etag(ann, configuration_id)
    cfg.patch(ann, configuration_id, 1, yaml="edited: meanwhile")

    assert publish(ann, configuration_id, read).status_code == 412
    assert cfg.get(ann, f"/{configuration_id}/versions/1").json()["status"] == "draft"

    read = etag(ann, configuration_id)
    assert publish(ann, configuration_id, read).status_code == 200
    # The answer to the first was lost.
    assert publish(ann, configuration_id, read).status_code == 200
    assert publish(ann, configuration_id, '"1-1"').status_code == 412


def test_of_an_edit_and_a_conditional_publication_at_once_what_is_published_is_what_was_read(ann: Member) -> None:
    for _ in range(4):
        configuration_id = cfg.create(ann, yaml="as: read")
        read = etag(ann, configuration_id)
        with ThreadPoolExecutor(2) as pool:
            edits = pool.submit(cfg.patch, ann, configuration_id, 1, yaml="edited: meanwhile")
            publishes = pool.submit(publish, ann, configuration_id, read)

        statuses = (edits.result().status_code, publishes.result().status_code)
        version = cfg.get(ann, f"/{configuration_id}/versions/1").json()
        assert (statuses, version["yaml"], version["status"]) in [
            ((200, 412), "edited: meanwhile", "draft"),
            ((409, 200), "as: read", "published"),
        ]
