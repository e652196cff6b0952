"""Finding configurations by name, text and component: what is found, by whom, and how much one request reads."""

import pytest

from configurations.app import router
from headgate.configurations import search
from tests.support.configurations import append, create, get, publish
from tests.support.members import JoinWith, Member

BATCH = "processors: {batch: {}, batch/2: {}}\nexporters: {otlp/backend: {endpoint: a}}\n"
FILTER = "processors:\n  filter:\n    logs: {log_record: ['body == \"batch: \"']}\n"


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann")


@pytest.fixture
def bob(join: JoinWith) -> Member:
    return join([router], "bob")


def found(member: Member, **query: str | int) -> list[str]:
    """The names in all pages."""
    names: list[str] = []
    cursor = None
    while True:
        asked = {**query, **({"cursor": cursor} if cursor else {})}
        page = get(member, "?" + "&".join(f"{name}={value}" for name, value in asked.items())).json()
        names += [one["name"] for one in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return names


def test_a_name_is_the_whole_name_and_may_be_held_twice(ann: Member) -> None:
    for name in ("Edge", "Edge", "Edge 2", "edge"):
        create(ann, name)

    assert (found(ann, name="Edge"), found(ann, name="Edge", limit=1)) == (["Edge", "Edge"], ["Edge", "Edge"])
    assert found(ann, name="Ed") == []


def test_a_text_is_found_in_names_descriptions_owners_and_yaml_in_any_case(ann: Member) -> None:
    create(ann, "Gateway")
    create(ann, "Other", description="the GATEWAY of Berlin")
    create(ann, "Third", yaml="# Gateway\na: 1\n")
    create(ann, "Fourth")

    assert found(ann, text="gateWAY") == ["Third", "Other", "Gateway"]
    assert len(found(ann, text="ann")) == 4


def test_the_published_text_is_searched_beside_the_latest(ann: Member, bob: Member) -> None:
    configuration_id = create(ann, yaml="# shown\na: 1\n")
    publish(ann, configuration_id)
    append(ann, configuration_id, "# hidden\na: 2\n")

    assert (found(ann, text="shown"), found(ann, text="hidden")) == (["Edge"], ["Edge"])
    assert (found(bob, text="shown"), found(bob, text="hidden")) == (["Edge"], [])


def test_a_component_is_a_type_or_an_id_that_the_text_defines(ann: Member) -> None:
    create(ann, "Batch", yaml=BATCH)
    create(ann, "Filter", yaml=FILTER)

    assert (found(ann, component="batch"), found(ann, component="batch/2")) == (["Batch"], ["Batch"])
    assert (found(ann, component="otlp"), found(ann, component="otlp/backend")) == (["Batch"], ["Batch"])
    assert (found(ann, component="filter"), found(ann, component="otlp/other"), found(ann, component="bat")) == (
        ["Filter"],
        [],
        [],
    )
    assert found(ann, component="batch", text="backend", name="Batch") == ["Batch"]


@pytest.mark.parametrize("query", ["archived=yes", "name=", "text=", "component=a%20b", f"text={'x' * 201}"])
def test_a_malformed_filter_is_422(query: str, ann: Member) -> None:
    answer = get(ann, f"?{query}")

    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["query", query.partition("=")[0]])


def test_a_search_stops_after_so_many_configurations_and_goes_on(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_READ", 3)
    monkeypatch.setattr(search, "_AT_ONCE", 2)
    create(ann, "Wanted", yaml="# here\n")
    for _ in range(6):
        create(ann, "Other", yaml="# there\n")
    first = get(ann, "?text=%23%20here").json()

    assert (first["items"], first["next_cursor"] is None) == ([], False)
    assert found(ann, text="%23%20here") == ["Wanted"]


def test_a_search_stops_after_so_many_bytes_of_texts(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte of one letter is stored in a kilobyte, and each costs its time to read."""
    monkeypatch.setattr(search, "MOST_BYTES", 1_500_000)
    for n in range(4):
        create(ann, f"Large {n}", yaml="# " + "x" * 900_000)
    first = get(ann, "?text=nowhere").json()
    second = get(ann, f"?text=nowhere&cursor={first['next_cursor']}").json()

    assert (first["items"], second["items"], second["next_cursor"]) == ([], [], None)


def test_no_text_makes_a_search_for_a_component_take_long(ann: Member) -> None:
    """A pattern over this text took more than five minutes, in which the service answered nobody."""
    create(ann, yaml="#" + "!a/" * 30_000)

    assert found(ann, component="a") == []
