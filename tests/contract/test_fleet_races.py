"""Many making fleets and groups at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate.foundation.settings import settings
from tests.support import configurations as cfg
from tests.support.deployments import add, server
from tests.support.fleets import create
from tests.support.members import API, JoinWith, Member


@pytest.fixture
def ann(join: JoinWith, fleets_without_collector: None, monkeypatch: pytest.MonkeyPatch) -> Member:
    monkeypatch.setenv("HEADGATE_FLEET_LIMIT", "5")
    settings.cache_clear()
    return join([*fleets_routers, configurations_router], "ann")


def test_the_limit_holds_however_many_are_made_at_once(ann: Member) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: create(ann, f"fleet {number}").status_code, range(24)))

    assert sorted(answers) == [201] * 5 + [403] * 19
    assert len(ann.http.get(f"{API}/fleets").json()["items"]) == 5


def test_one_of_many_gets_a_label(ann: Member) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: create(ann, "same").status_code, range(16)))

    assert sorted(answers) == [201] + [409] * 15


def test_one_of_many_gets_a_groups_name_by_creation_or_by_rename(ann: Member) -> None:
    configuration_id = cfg.create(ann)
    cfg.publish(ann, configuration_id)
    at = server(ann)
    groups = [add(ann, at, configuration_id, f"g{number}").json()["id"] for number in range(6)]
    with ThreadPoolExecutor(12) as pool:
        renames = [pool.submit(ann.http.patch, f"{at}/{one}", json={"name": "same"}) for one in groups]
        creates = [pool.submit(add, ann, at, configuration_id, "same") for _ in range(6)]
        answers = [future.result().status_code for future in (*renames, *creates)]

    assert sorted(answers)[1:] == [409] * 11
    names = [entry["name"] for entry in ann.http.get(at).json()["items"]]
    assert names.count("same") == 1
    assert len(names) == len(set(names))


def test_two_who_give_a_group_the_same_name_at_once_both_may(ann: Member) -> None:
    configuration_id = cfg.create(ann)
    cfg.publish(ann, configuration_id)
    at = server(ann)
    group = add(ann, at, configuration_id, "before").json()["id"]
    with ThreadPoolExecutor(4) as pool:
        for number in range(10):
            name = {"name": f"after {number}"}
            answers = [pool.submit(ann.http.patch, f"{at}/{group}", json=name) for _ in range(4)]

            assert [answer.result().status_code for answer in answers] == [200] * 4
