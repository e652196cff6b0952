"""Configurations and versions: numbering, visibility, ownership, editing, publishing, and the races between them."""

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from configurations.app import router
from headgate.configurations import service, store
from headgate.configurations.model import Version, VersionIsPublished
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.foundation.settings import settings
from headgate.storage import aws
from headgate.storage.retry import LostRace
from tests.support.configurations import YAML, append, create, get, patch, publish
from tests.support.members import API, JoinWith, Member


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann")


@pytest.fixture
def bob(join: JoinWith) -> Member:
    return join([router], "bob")


def test_a_new_configuration_has_a_draft_version_1(ann: Member) -> None:
    response = ann.http.post(f"{API}/configurations", json={"name": " Edge ", "yaml": YAML, "description": "d"})
    created = response.json()

    assert response.status_code == 201
    assert response.headers["location"] == f"{API}/configurations/{created['id']}"
    assert created == {
        "id": created["id"],
        "name": "Edge",
        "description": "d",
        "collector_distribution": "otelcol-contrib",
        "owner": {"kind": "service_account", "id": ann.service_account_id, "name": "ann"},
        "latest_version": 1,
        "published_version": None,
        "created_at": created["created_at"],
        "updated_at": created["created_at"],
        "archived_at": None,
        "managed_by": None,
        "collector_version": settings().collector_version,
        "yaml": YAML,
    }
    assert get(ann, f"/{created['id']}").json() == created
    version = get(ann, f"/{created['id']}/versions/1").json()
    assert version == {
        "n": 1,
        "status": "draft",
        "collector_version": settings().collector_version,
        "collector_distribution": "otelcol-contrib",
        "description": None,
        "created_by": created["owner"],
        "created_at": created["created_at"],
        "updated_at": created["created_at"],
        "published_at": None,
        "yaml": YAML,
    }


@pytest.mark.parametrize(
    "yaml",
    [
        "not: [valid",
        "\ttabs\r\n\r\n  trailing  \n\n",
        "a: é ü 漢字 🦊\u2028\ufeff\x00\x85",
        "$orgvar:TOKEN ${env:HOME}",
        random.Random(7).randbytes(450_000).hex(),
        "# " + "x" * 900_000,
    ],
    ids=["broken", "white space", "unicode", "variables", "incompressible", "long"],
)
def test_yaml_is_kept_byte_for_byte_unchecked(ann: Member, yaml: str) -> None:
    configuration_id = create(ann, yaml=yaml)

    assert get(ann, f"/{configuration_id}").json()["yaml"] == yaml
    assert get(ann, f"/{configuration_id}/versions/1").json()["yaml"] == yaml


def test_another_distribution_is_422_with_the_specified_message(ann: Member) -> None:
    response = ann.http.post(
        f"{API}/configurations", json={"name": "a", "yaml": YAML, "collector_distribution": "otelcol-k8s"}
    )

    assert response.status_code == 422
    assert response.json()["detail"] == "Unknown collector distribution: 'otelcol-k8s'"


@pytest.mark.parametrize("path", ["", "/versions", "/versions/1"])
@pytest.mark.parametrize("configuration_id", [new_id("cfg"), "cfg_x", new_id("run"), "..%2f", "x" * 500])
def test_what_does_not_exist_is_404(ann: Member, configuration_id: str, path: str) -> None:
    assert get(ann, f"/{configuration_id}{path}").status_code == 404


@pytest.mark.parametrize("n", ["0", "2", "-1", "1.0", "01", "+1", "x", "99999999", "9" * 30])
def test_a_version_that_does_not_exist_is_404(ann: Member, n: str) -> None:
    assert get(ann, f"/{create(ann)}/versions/{n}").status_code == 404


def test_a_draft_of_another_member_is_404_everywhere(ann: Member, bob: Member) -> None:
    configuration_id = create(ann)
    answers = [
        get(bob, f"/{configuration_id}"),
        get(bob, f"/{configuration_id}/versions"),
        get(bob, f"/{configuration_id}/versions/1"),
        bob.http.patch(f"{API}/configurations/{configuration_id}", json={"name": "x"}),
        append(bob, configuration_id, "x"),
        patch(bob, configuration_id, 1, yaml="x"),
        publish(bob, configuration_id),
    ]

    assert [answer.status_code for answer in answers] == [404] * 7
    assert get(bob, "").json()["items"] == []
    assert get(ann, f"/{configuration_id}").json()["yaml"] == YAML


def test_others_see_the_published_versions_and_no_draft(ann: Member, bob: Member) -> None:
    configuration_id = create(ann)
    publish(ann, configuration_id)
    append(ann, configuration_id, "draft")
    append(ann, configuration_id, "published")
    publish(ann, configuration_id, 3)
    append(ann, configuration_id, "draft")

    seen = get(bob, f"/{configuration_id}").json()
    assert (seen["latest_version"], seen["published_version"], seen["yaml"]) == (3, 3, "published")
    assert [version["n"] for version in get(bob, f"/{configuration_id}/versions").json()["items"]] == [3, 1]
    assert [get(bob, f"/{configuration_id}/versions/{n}").status_code for n in (1, 2, 3, 4)] == [200, 404, 200, 404]
    assert [entry["latest_version"] for entry in get(bob, "").json()["items"]] == [3]
    assert [entry["latest_version"] for entry in get(ann, "").json()["items"]] == [4]


def test_only_the_owner_changes_a_published_configuration(ann: Member, bob: Member) -> None:
    configuration_id = create(ann)
    publish(ann, configuration_id)
    answers = [
        bob.http.patch(f"{API}/configurations/{configuration_id}", json={"name": "x"}),
        append(bob, configuration_id, "x"),
        patch(bob, configuration_id, 1, yaml="x"),
        publish(bob, configuration_id),
    ]

    assert [answer.status_code for answer in answers] == [403] * 4
    assert get(ann, f"/{configuration_id}/versions").json()["items"][0]["n"] == 1


def test_an_admin_changes_what_everyone_sees_and_finds_no_drafts(ann: Member) -> None:
    configuration_id, draft_id = create(ann), create(ann)
    publish(ann, configuration_id)
    someone = Principal("user", new_id("usr"), "a@b.c")
    admin = Caller(ann.organization_id, "Acme", someone, someone.name, "admin", "read_write", "x")

    _, added = service.append(admin, configuration_id, "by the admin", None)

    assert service.publish(admin, configuration_id, added.n)[1].status == "published"
    with pytest.raises(service.ConfigurationNotFound):
        service.get(admin, draft_id)


def test_name_and_description_change_alone_or_together(ann: Member) -> None:
    configuration_id = create(ann, description="old")
    path = f"{API}/configurations/{configuration_id}"

    assert ann.http.patch(path, json={"name": " new "}).json()["name"] == "new"
    assert ann.http.patch(path, json={"description": None}).json()["description"] is None
    assert ann.http.patch(path, json={"name": "n", "description": "d"}).json()["description"] == "d"
    seen = get(ann, f"/{configuration_id}").json()
    assert (seen["name"], seen["description"], seen["yaml"]) == ("n", "d", YAML)


@pytest.mark.parametrize("body", [{}, {"name": None}, {"name": ""}, {"collector_distribution": "otelcol-contrib"}])
def test_a_change_of_nothing_or_of_what_is_fixed_is_422(ann: Member, body: dict[str, object]) -> None:
    assert ann.http.patch(f"{API}/configurations/{create(ann)}", json=body).status_code == 422


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"yaml": None},
        {"yaml": ""},
        {"collector_version": None},
        {"collector_version": "1"},
        {"collector_version": "0.139.0 "},
        {"collector_version": "v0.139.0"},
        {"collector_version": "0.139.00"},
        {"collector_version": "٠.١.٢"},
        {"status": "published"},
    ],
)
def test_a_version_takes_no_other_changes(ann: Member, body: dict[str, object]) -> None:
    configuration_id = create(ann)

    assert ann.http.patch(f"{API}/configurations/{configuration_id}/versions/1", json=body).status_code == 422


def test_a_draft_is_edited_in_place(ann: Member) -> None:
    configuration_id = create(ann)
    patch(ann, configuration_id, 1, yaml="two")
    edited = patch(ann, configuration_id, 1, collector_version="0.1.2").json()

    assert (edited["yaml"], edited["collector_version"], edited["n"]) == ("two", "0.1.2", 1)
    assert get(ann, f"/{configuration_id}").json()["collector_version"] == "0.1.2"


def test_a_draft_gets_notes_beside_its_text(ann: Member) -> None:
    configuration_id = create(ann)
    patch(ann, configuration_id, 1, yaml="two")
    described = patch(ann, configuration_id, 1, description="why").json()

    assert (described["description"], described["yaml"]) == ("why", "two")
    assert patch(ann, configuration_id, 1, description=None).status_code == 422
    publish(ann, configuration_id)
    assert patch(ann, configuration_id, 1, description="after all").status_code == 409


def test_a_new_version_inherits_the_latest_ones_collector_version(ann: Member) -> None:
    configuration_id = create(ann)
    patch(ann, configuration_id, 1, collector_version="0.1.2")
    added = append(ann, configuration_id, "two", description="why")

    assert added.status_code == 201
    assert added.headers["location"] == f"{API}/configurations/{configuration_id}/versions/2"
    assert (added.json()["n"], added.json()["collector_version"], added.json()["status"]) == (2, "0.1.2", "draft")
    assert added.json()["description"] == "why"


def test_a_version_has_the_feature_gates_of_its_hosts_and_the_next_one_inherits_them(ann: Member) -> None:
    configuration_id = create(ann)
    path = f"/{configuration_id}/versions"
    gates = ["+service.profilesSupport", "-a.b"]

    changed = patch(ann, configuration_id, 1, feature_gates=gates)
    added = append(ann, configuration_id, YAML)

    assert [answer.json()["feature_gates"] for answer in (changed, added)] == [gates, gates]
    assert [one["feature_gates"] for one in get(ann, path).json()["items"]] == [gates, gates]
    assert publish(ann, configuration_id, 1).json()["feature_gates"] == gates
    assert "feature_gates" not in patch(ann, configuration_id, 2, feature_gates=[]).json()
    for wrong in (["+a b"], ["--a"], ["$(a)"], [""], ["a"] * 21, None):
        assert patch(ann, configuration_id, 2, feature_gates=wrong).status_code == 422


def test_a_version_has_as_many_gates_as_a_host_takes(ann: Member) -> None:
    configuration_id = create(ann)

    assert patch(ann, configuration_id, 1, feature_gates=["a" * 127, "b" * 127]).status_code == 200

    refused = patch(ann, configuration_id, 1, feature_gates=["a" * 127, "b" * 128]).json()["errors"]
    assert [(error["loc"], "have 256 characters together" in error["message"]) for error in refused] == [
        (["body", "feature_gates"], True)
    ]


def test_publishing_again_gives_the_same_result(ann: Member) -> None:
    configuration_id = create(ann)
    first, again = publish(ann, configuration_id), publish(ann, configuration_id)

    assert first.status_code == again.status_code == 200
    assert first.json()["status"] == "published"
    assert again.json() == first.json()


def test_publishing_an_older_version_leaves_the_newest_one(ann: Member, bob: Member) -> None:
    configuration_id = create(ann)
    append(ann, configuration_id, "two")
    publish(ann, configuration_id, 2)
    publish(ann, configuration_id, 1)

    assert get(bob, f"/{configuration_id}").json()["published_version"] == 2


def test_a_published_version_cannot_be_edited(ann: Member) -> None:
    configuration_id = create(ann)
    publish(ann, configuration_id)
    response = patch(ann, configuration_id, 1, yaml="x")

    assert response.status_code == 409
    assert response.json()["code"] == "version_published"
    assert get(ann, f"/{configuration_id}/versions/1").json()["yaml"] == YAML


def test_a_change_based_on_an_older_state_is_412(ann: Member) -> None:
    configuration_id = create(ann)
    path = f"{API}/configurations/{configuration_id}/versions/1"
    etag = ann.http.get(path).headers["etag"]
    first = ann.http.patch(path, json={"yaml": "two"}, headers={"If-Match": etag})
    second = ann.http.patch(path, json={"yaml": "three"}, headers={"If-Match": etag})

    assert (first.status_code, second.status_code) == (200, 412)
    assert ann.http.get(path).headers["etag"] == first.headers["etag"] != etag
    assert ann.http.get(path).json()["yaml"] == "two"
    assert ann.http.patch(path, json={"yaml": "three"}, headers={"If-Match": "*"}).status_code == 200


def test_one_of_several_etags_is_enough(ann: Member) -> None:
    configuration_id = create(ann)
    path = f"{API}/configurations/{configuration_id}/versions/1"
    etag = ann.http.get(path).headers["etag"]

    assert ann.http.patch(path, json={"yaml": "b"}, headers={"If-Match": f'"other", {etag}'}).status_code == 200
    # A header that is not a list of tags matches no state, and above all not every state.
    for header in ("x*", '*, "other"', '"other" *', etag.strip('"')):
        assert ann.http.patch(path, json={"yaml": "c"}, headers={"If-Match": header}).status_code == 412, header


def test_the_list_is_of_the_own_and_the_published_most_recently_updated_first(ann: Member, bob: Member) -> None:
    first, second, third = create(ann, "1"), create(bob, "2"), create(ann, "3")
    create(bob, "draft")
    publish(bob, second)
    ann.http.patch(f"{API}/configurations/{first}", json={"name": "1b"})

    assert [entry["id"] for entry in get(ann, "").json()["items"]] == [first, second, third]


def test_pages_hold_every_entry_once_in_order(ann: Member, bob: Member) -> None:
    for number in range(11):
        publish(bob, create(bob, f"b{number}"))
        configuration_id = create(ann, f"a{number}")
        if number % 2:
            publish(ann, configuration_id)
            append(ann, configuration_id, "newer")
    whole = get(ann, "?limit=100").json()
    seen: list[object] = []
    cursor = None
    while True:
        page = ann.http.get(f"{API}/configurations", params={"limit": "3"} | ({"cursor": cursor} if cursor else {}))
        seen += page.json()["items"]
        cursor = page.json()["next_cursor"]
        if cursor is None:
            break
        assert len(page.json()["items"]) == 3

    assert whole["next_cursor"] is None
    assert len(whole["items"]) == 22
    assert seen == whole["items"]
    assert [e["updated_at"] for e in whole["items"]] == sorted((e["updated_at"] for e in whole["items"]), reverse=True)


def test_versions_come_in_pages_newest_first(ann: Member, bob: Member) -> None:
    configuration_id = create(ann)
    for number in range(2, 8):
        append(ann, configuration_id, str(number))
    for number in (2, 5, 6):
        publish(ann, configuration_id, number)

    def pages(member: Member) -> list[list[int]]:
        found: list[list[int]] = []
        cursor = None
        while True:
            parameters = {"limit": "2"} | ({"cursor": cursor} if cursor else {})
            page = member.http.get(f"{API}/configurations/{configuration_id}/versions", params=parameters).json()
            found.append([version["n"] for version in page["items"]])
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    assert pages(ann) == [[7, 6], [5, 4], [3, 2], [1]]
    assert pages(bob) == [[6, 5], [2]]
    assert "yaml" not in get(ann, f"/{configuration_id}/versions").json()["items"][0]


def test_versions_published_at_once_leave_the_newest_one_published(ann: Member, bob: Member) -> None:
    configuration_id = create(ann)
    for number in range(2, 9):
        append(ann, configuration_id, str(number))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: publish(ann, configuration_id, n), range(1, 9)))

    assert {answer.status_code for answer in answers} == {200}
    assert get(bob, f"/{configuration_id}").json()["published_version"] == 8
    assert len(get(bob, f"/{configuration_id}/versions").json()["items"]) == 8


A_DRAFT = Version(
    n=1,
    status="draft",
    collector_version="0.139.0",
    collector_distribution="otelcol-contrib",
    description=None,
    created_by=Principal("user", "usr_x", "x"),
    created_at=clock.now(),
    updated_at=clock.now(),
    published_at=None,
    revision=1,
    yaml="old",
)


@pytest.mark.parametrize(
    ("before", "editable"),
    [(A_DRAFT, True), (A_DRAFT.publish(clock.now()), False)],
    ids=["draft", "published"],
)
def test_the_model_and_the_table_agree_on_what_may_be_edited(ann: Member, before: Version, editable: bool) -> None:
    configuration_id = create(ann, yaml="old")
    if before.status == "published":
        publish(ann, configuration_id)
    owner = Principal("service_account", ann.service_account_id, "ann")
    caller = Caller(ann.organization_id, "Acme", owner, "ann", "contributor", "read_write", "x")
    configuration, stored = service.get(caller, configuration_id)
    changed = replace(stored, yaml="new", revision=stored.revision + 1)

    if editable:
        assert before.edit("new", None, clock.now()).yaml == "new"
        store.edit(configuration, stored, changed)
    else:
        with pytest.raises(VersionIsPublished):
            before.edit("new", None, clock.now())
        with pytest.raises(LostRace):
            store.edit(configuration, stored, changed)


def test_reads_take_four_round_trips_at_the_most(ann: Member, bob: Member) -> None:
    configuration_id = create(ann)
    publish(ann, configuration_id)
    append(ann, configuration_id, "two")
    calls: list[str] = []
    aws.dynamodb().meta.events.register("before-call.dynamodb", lambda model, **_: calls.append(model.name))

    counts = {}
    for member in (ann, bob):
        for path in ("", f"/{configuration_id}", f"/{configuration_id}/versions", f"/{configuration_id}/versions/1"):
            get(member, path)
            calls.clear()
            get(member, path)
            counts[path.replace(configuration_id, "{id}")] = len(calls)

    assert counts == {"": 4, "/{id}": 4, "/{id}/versions": 4, "/{id}/versions/1": 3}
