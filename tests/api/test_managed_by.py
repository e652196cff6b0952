"""What created a configuration, a fleet or a group, by its own words, or took it over."""

import pytest

from configurations.app import app as configurations_app
from configurations.app import router as configurations_router
from fleets.app import app
from fleets.app import routers as fleets_routers
from tests.support.members import API, JoinWith, Member
from tests.support.page_visitor import member_at

pytestmark = pytest.mark.usefixtures("fleets_without_collector")

MARK = "headgate <apply> sva_1"


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([*fleets_routers, configurations_router], "ann")


@pytest.fixture
def made(ann: Member) -> dict[str, str]:
    """The paths of one of each kind, with what its list is."""

    def create(path: str, **body: object) -> str:
        answer = ann.http.post(f"{API}{path}", json={**body, "managed_by": MARK})
        assert answer.status_code == 201, answer.text
        assert answer.json()["managed_by"] == MARK
        return str(answer.json()["id"])

    configuration = create("/configurations", name="shop", yaml="a: 1")
    assert ann.http.post(f"{API}/configurations/{configuration}/versions/1/publish").is_success
    fleet = create("/fleets", label="edge", type="server-supervisor")
    groups = f"/fleets/{fleet}/deployments"
    group = create(groups, name="web", configuration_id=configuration, version_number=1)
    return {
        f"/configurations/{configuration}": "/configurations",
        f"/fleets/{fleet}": "/fleets",
        f"{groups}/{group}": groups,
    }


def test_it_is_in_every_answer_and_list(ann: Member, made: dict[str, str]) -> None:
    for path, listed in made.items():
        items = ann.http.get(f"{API}{listed}").json()["items"]

        assert ann.http.get(f"{API}{path}").json()["managed_by"] == MARK
        assert [one["managed_by"] for one in items if one["id"] == path.rpartition("/")[2]] == [MARK]


def test_pages_show_it_as_text(ann: Member, made: dict[str, str]) -> None:
    for path in made:
        visitor = member_at(configurations_app if path.startswith("/configurations") else app, ann.organization_id)

        shown = visitor.get(f"/organizations/{ann.organization_id}{path}").text
        assert "managed by <code>headgate &lt;apply&gt; sva_1</code>" in shown


def test_only_a_change_that_names_it_changes_it(ann: Member, made: dict[str, str]) -> None:
    for path in made:
        if path.count("/") != 2 or path.startswith("/configurations"):
            renamed = ann.http.patch(f"{API}{path}", json={"name": "another"})
            taken_over = ann.http.patch(f"{API}{path}", json={"managed_by": "me"})
            assert (renamed.json()["managed_by"], taken_over.json()["managed_by"]) == (MARK, "me")
            released = ann.http.patch(f"{API}{path}", json={"managed_by": None})
            assert released.json()["managed_by"] is None
            assert ann.http.get(f"{API}{path}").json()["name"] == "another"
            assert ann.http.patch(f"{API}{path}", json={"managed_by": "a\nb"}).status_code == 422
            ann.http.patch(f"{API}{path}", json={"managed_by": MARK})
    configuration = next(iter(made))
    assert ann.http.post(f"{API}{configuration}/versions", json={"yaml": "a: 2", "managed_by": "me"}).status_code == 422
    assert ann.http.post(f"{API}{configuration}/versions", json={"yaml": "a: 2"}).is_success
    assert ann.http.get(f"{API}{configuration}").json()["managed_by"] == MARK


def test_a_group_that_comes_with_its_fleet_says_nothing(ann: Member, made: dict[str, str]) -> None:
    groups = ann.http.get(f"{API}{[*made.values()][-1]}").json()["items"]

    assert [one["managed_by"] for one in groups if one["is_default"]] == [None]


@pytest.mark.parametrize("value", ["", " a", "a ", "a\nb", "\u00e9", "x" * 101, 1])
def test_what_is_not_a_short_line_is_refused_with_the_field(ann: Member, value: object) -> None:
    body = {"name": "shop", "yaml": "a: 1", "managed_by": value}
    answer = ann.http.post(f"{API}/configurations", json=body)

    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["body", "managed_by"])
