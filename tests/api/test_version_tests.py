"""The named tests of a version: saved, listed, changed, carried over to the next version."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest
from httpx2 import Response

from configurations.app import router as configurations_router
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.http.app import create_app
from headgate.version_tests import store
from headgate.version_tests.model import Content, ListedTest, VersionTests
from headgate_engine.testing.named_test import MAX_TESTS
from headgate_local.template import Template
from testing import version_tests
from tests.support.configurations import append, create, publish
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith, Member
from tests.support.world import joined, session_of

RULE = {"name": "some", "condition": 'body != "x"'}
TEST: dict[str, Any] = {"target_pipeline": "logs/audit", "sample": "a line\n", "rules": [RULE]}
EVERYTHING = {
    "target_pipeline": "traces",
    "signal_type": "metrics",
    "sample": "{}",
    "sample_format": "otlp",
    "sample_name": None,
    "duration_seconds": 60,
    "feature_gates": ["+a.b"],
    "rules": [{**RULE, "context": "metric", "expect": "count", "min": 1, "max": None}],
    "expected": '{"resourceMetrics":[]}\n',
    "ignore": ["time_unix_nano"],
    "skip": ["k8sattributes"],
    "attributes": {"resourcedetection/all": {"host.name": "a", "cores": 4, "spot": True, "load": 0.5}},
    "env": {"TOKEN": "é"},
}


Late = Callable[[Callable[[], object]], None]


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([configurations_router, version_tests.router], "ann")


@pytest.fixture
def bob(join: JoinWith) -> Member:
    return join([configurations_router, version_tests.router], "bob")


@pytest.fixture
def configuration_id(ann: Member) -> str:
    return create(ann)


def path(configuration_id: str, name: str = "", n: int = 1) -> str:
    return f"{API}/configurations/{configuration_id}/versions/{n}/tests" + (f"/{name}" if name else "")


def put(
    member: Member, configuration_id: str, name: str, test: object = TEST, n: int = 1, if_match: str | None = None
) -> Response:
    headers = {} if if_match is None else {"If-Match": if_match}
    return member.http.put(path(configuration_id, name, n), json=test, headers=headers)


def names(member: Member, configuration_id: str, n: int = 1) -> list[str]:
    return [one["name"] for one in member.http.get(path(configuration_id, n=n)).json()["items"]]


def refused(response: Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_a_test_is_given_back_as_it_was_saved(ann: Member, configuration_id: str) -> None:
    saved = put(ann, configuration_id, "all.of-it", EVERYTHING)
    found = ann.http.get(path(configuration_id, "all.of-it"))

    assert (saved.status_code, found.status_code) == (200, 200)
    assert {name: found.json()[name] for name in EVERYTHING} == EVERYTHING
    assert found.headers["etag"] == saved.headers["etag"] == f'"{saved.json()["sha256"]}"'


def test_what_is_left_out_has_its_default(ann: Member, configuration_id: str) -> None:
    put(ann, configuration_id, "plain")
    found = ann.http.get(path(configuration_id, "plain")).json()

    assert (found["signal_type"], found["duration_seconds"], found["feature_gates"]) == ("logs", 5, [])
    assert found["rules"] == [{**RULE, "context": "log", "expect": "any", "min": None, "max": None}]
    assert (found["sample"], found["expected"], found["ignore"]) == ("a line\n", None, None)


def test_documents_of_otlp_become_lines(ann: Member, configuration_id: str) -> None:
    documents = [{"resourceLogs": []}, {"resourceLogs": [{"a": "é"}]}]
    put(ann, configuration_id, "otlp", {**TEST, "sample": documents})
    found = ann.http.get(path(configuration_id, "otlp")).json()

    assert (found["sample"], found["sample_format"]) == (
        '{"resourceLogs":[]}\n{"resourceLogs":[{"a":"é"}]}',
        "otlp",
    )


def test_a_list_is_by_name_and_says_what_each_test_is(ann: Member, configuration_id: str) -> None:
    put(ann, configuration_id, "b")
    put(ann, configuration_id, "a", {**TEST, "rules": [], "expected": ""})
    listed = ann.http.get(path(configuration_id)).json()

    assert [(one["name"], one["rule_count"], one["expects_output"]) for one in listed["items"]] == [
        ("a", 0, True),
        ("b", 1, False),
    ]
    assert (listed["next_cursor"], listed["evidence"]) == (None, [])
    assert listed["items"][0]["updated_by"]["name"] == "ann"


def test_a_configuration_counts_as_updated_when_a_test_of_its_draft_changes(ann: Member, configuration_id: str) -> None:
    def updated() -> str:
        return str(ann.http.get(f"{API}/configurations/{configuration_id}").json()["updated_at"])

    created = updated()
    saved = put(ann, configuration_id, "a").json()["updated_at"]
    after_saving = updated()
    put(ann, configuration_id, "a")
    after_saving_the_same = updated()
    ann.http.delete(path(configuration_id, "a"))

    assert created < saved == after_saving == after_saving_the_same < updated()


def test_a_version_without_tests_has_an_empty_list(ann: Member, configuration_id: str) -> None:
    listed = ann.http.get(path(configuration_id))

    assert (listed.status_code, listed.json()["items"]) == (200, [])


@pytest.mark.parametrize(
    ("test", "field", "says"),
    [
        ({**TEST, "rules": []}, "body", "A test needs `rules`, `expected`, or both"),
        ({**TEST, "ignore": ["a"]}, "body", "`ignore` is for what is compared"),
        ({**TEST, "sample": {"a": 1}, "sample_format": "raw"}, "body", "send raw lines as text"),
        ({**TEST, "target_pipeline": "events"}, "target_pipeline", "Tests are for pipelines of logs"),
        ({**TEST, "rules": [RULE, RULE]}, "rules", "The rule name 'some' is used twice"),
        ({**TEST, "rules": [{**RULE, "name": str(n)} for n in range(21)]}, "rules", "at most 20"),
        ({**TEST, "duration_seconds": 61}, "duration_seconds", "at most 60"),
        ({**TEST, "sample_file": "a"}, "sample_file", "Unknown field"),
        ({"target_pipeline": "logs", "rules": [RULE]}, "sample", "This field is required"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_a_test_is_refused_by_its_field(
    ann: Member, configuration_id: str, test: object, field: str, says: str
) -> None:
    answer = put(ann, configuration_id, "a", test)
    error = answer.json()["errors"][0]

    assert answer.status_code == 422
    assert error["loc"][-1] == field
    assert says in error["message"]
    assert names(ann, configuration_id) == []


@pytest.mark.parametrize("name", ["%2e%2e", ".a", "a%20b", "é", "a%00", "a" * 81, "-a", "a%0a", "%F0%9F%90%8D"])
def test_a_name_is_one_of_a_file(ann: Member, configuration_id: str, name: str) -> None:
    answer = put(ann, configuration_id, name)

    assert (answer.status_code, answer.json()["code"]) == (422, "bad_test_name")
    assert answer.json()["errors"][0]["loc"] == ["path", "name"]
    assert ann.http.get(path(configuration_id, name)).status_code == 404
    assert names(ann, configuration_id) == []


@pytest.mark.parametrize("name", ["a%2Fb", "..%2Fversions", "a/b"])
def test_a_name_with_a_slash_is_not_a_path_of_the_api(ann: Member, configuration_id: str, name: str) -> None:
    assert put(ann, configuration_id, name).status_code == 404


def test_names_differ_in_more_than_case(ann: Member, configuration_id: str) -> None:
    put(ann, configuration_id, "Errors")

    assert refused(put(ann, configuration_id, "errors")) == (409, "test_name_taken")
    assert put(ann, configuration_id, "Errors", {**TEST, "sample": "b"}).status_code == 200


def test_the_same_again_changes_nothing(ann: Member, bob: Member, configuration_id: str) -> None:
    first = put(ann, configuration_id, "a").json()
    written = {**TEST, "signal_type": "logs", "duration_seconds": 5, "rules": [{**RULE, "context": "log"}]}

    assert put(ann, configuration_id, "a", written).json() == first


def test_a_test_is_deleted_once(ann: Member, configuration_id: str) -> None:
    put(ann, configuration_id, "a")
    first, second = (ann.http.delete(path(configuration_id, "a")) for _ in range(2))

    assert first.status_code == 204
    assert refused(second) == (404, "test_not_found")
    assert names(ann, configuration_id) == []


def test_a_change_may_depend_on_what_was_read(ann: Member, configuration_id: str) -> None:
    etag = put(ann, configuration_id, "a").headers["etag"]
    changed = put(ann, configuration_id, "a", {**TEST, "sample": "b"}, if_match=etag)
    late = put(ann, configuration_id, "a", {**TEST, "sample": "c"}, if_match=etag)
    none = put(ann, configuration_id, "b", if_match="*")
    removed = ann.http.delete(path(configuration_id, "a"), headers={"If-Match": etag})

    assert changed.status_code == 200
    assert refused(late) == refused(none) == refused(removed) == (412, "test_changed")
    assert changed.headers["etag"] in late.json()["detail"]
    assert names(ann, configuration_id) == ["a"]


def test_one_of_several_changes_of_the_same_state_is_made(ann: Member, configuration_id: str) -> None:
    etag = put(ann, configuration_id, "a").headers["etag"]
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(put, ann, configuration_id, "a", {**TEST, "sample": f"{n}"}, 1, etag) for n in range(8)]

    assert sorted(one.result().status_code for one in answers) == [200] + [412] * 7


def test_a_version_has_no_more_tests_than_it_may(ann: Member, configuration_id: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        answers = [*pool.map(lambda n: put(ann, configuration_id, f"t{n}").status_code, range(MAX_TESTS + 4))]
    more = put(ann, configuration_id, "more")

    assert sorted(answers) == [200] * MAX_TESTS + [409] * 4
    assert refused(more) == (409, "too_many_tests")
    assert len(names(ann, configuration_id)) == MAX_TESTS
    replaced = names(ann, configuration_id)[0]
    assert put(ann, configuration_id, replaced, {**TEST, "sample": "b"}).status_code == 200


def test_the_tests_of_a_published_version_stay(ann: Member, configuration_id: str) -> None:
    put(ann, configuration_id, "a")
    publish(ann, configuration_id)

    assert refused(put(ann, configuration_id, "a", {**TEST, "sample": "b"})) == (409, "version_published")
    assert refused(put(ann, configuration_id, "b")) == (409, "version_published")
    assert refused(ann.http.delete(path(configuration_id, "a"))) == (409, "version_published")
    assert names(ann, configuration_id) == ["a"]


def test_the_next_version_begins_with_the_tests_of_the_one_before(ann: Member, configuration_id: str) -> None:
    put(ann, configuration_id, "a")
    before = ann.http.get(path(configuration_id)).json()
    append(ann, configuration_id, "b: 1")
    put(ann, configuration_id, "b", n=2)
    ann.http.delete(path(configuration_id, "a", 2))
    append(ann, configuration_id, "c: 1")

    assert ann.http.get(path(configuration_id)).json() == before
    assert (names(ann, configuration_id, 2), names(ann, configuration_id, 3)) == (["b"], ["b"])


def test_what_is_carried_over_says_the_same(ann: Member, configuration_id: str) -> None:
    large = {**TEST, "sample": "".join(new_id("cfg") for _ in range(400))}
    for name, test in {"a": TEST, "large": large}.items():
        put(ann, configuration_id, name, test)
    append(ann, configuration_id, "b: 1")
    first, second = (ann.http.get(path(configuration_id, n=n)).json() for n in (1, 2))

    assert first == second
    assert ann.http.get(path(configuration_id, "large", 2)).json()["sample"] == large["sample"]


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> Late:
    """Makes a change right after the list of a version's tests was read for another one."""

    def after_reading(change: Callable[[], object]) -> None:
        read, changes = store.tests, [change]

        def changed_late(configuration_id: str, n: int) -> VersionTests:
            found = read(configuration_id, n)
            if changes:
                changes.pop()()
            return found

        monkeypatch.setattr(store, "tests", changed_late)

    return after_reading


def test_a_test_is_not_saved_in_a_version_that_is_published_meanwhile(
    ann: Member, configuration_id: str, late: Late
) -> None:
    late(lambda: publish(ann, configuration_id))

    assert refused(put(ann, configuration_id, "a")) == (409, "version_published")
    assert names(ann, configuration_id) == []


def test_a_test_is_not_deleted_from_a_version_that_is_published_meanwhile(
    ann: Member, configuration_id: str, late: Late
) -> None:
    put(ann, configuration_id, "a")
    late(lambda: publish(ann, configuration_id))

    assert refused(ann.http.delete(path(configuration_id, "a"))) == (409, "version_published")
    assert names(ann, configuration_id) == ["a"]


def test_no_test_is_lost_to_one_that_is_saved_meanwhile(ann: Member, configuration_id: str, late: Late) -> None:
    late(lambda: put(ann, configuration_id, "b"))

    assert put(ann, configuration_id, "a").status_code == 200
    assert names(ann, configuration_id) == ["a", "b"]


def test_a_change_that_depends_on_what_was_read_is_refused_if_it_changes_meanwhile(
    ann: Member, configuration_id: str, late: Late
) -> None:
    etag = put(ann, configuration_id, "a").headers["etag"]
    late(lambda: put(ann, configuration_id, "a", {**TEST, "sample": "b"}))

    assert refused(put(ann, configuration_id, "a", {**TEST, "sample": "c"}, if_match=etag)) == (412, "test_changed")


@pytest.mark.parametrize("before", [(), ("a",)], ids=["the first", "one more"])
def test_the_next_version_has_a_test_that_was_saved_before_it(
    ann: Member, configuration_id: str, late: Late, before: tuple[str, ...]
) -> None:
    for name in before:
        put(ann, configuration_id, name)
    late(lambda: put(ann, configuration_id, "b"))

    assert append(ann, configuration_id, "b: 1").status_code == 201
    assert names(ann, configuration_id, 2) == [*before, "b"]


def test_members_see_the_tests_of_what_is_published_only(ann: Member, bob: Member, configuration_id: str) -> None:
    put(ann, configuration_id, "a")

    assert bob.http.get(path(configuration_id)).status_code == 404
    assert bob.http.get(path(configuration_id, "a")).status_code == 404
    publish(ann, configuration_id)
    append(ann, configuration_id, "b: 1")

    assert names(bob, configuration_id) == ["a"]
    assert bob.http.get(path(configuration_id, "a", 2)).status_code == 404
    assert refused(put(bob, configuration_id, "a", n=2)) == (404, "version_not_found")


def test_an_admin_who_appends_gets_no_tests_of_a_draft_that_the_owner_keeps(
    ann: Member, organization_id: str, configuration_id: str
) -> None:
    put(ann, configuration_id, "shown")
    publish(ann, configuration_id)
    append(ann, configuration_id, "b: 1")
    put(ann, configuration_id, "hidden", n=2)
    headers = dict(session_of(joined(organization_id, "admin"), organization_id))
    application = create_app("Test", [configurations_router, version_tests.router])
    admin = TestClient(application, headers=headers)

    added = admin.post(f"{API}/configurations/{configuration_id}/versions", json={"yaml": "c: 1"}).json()

    assert added["n"] == 3
    assert [one["name"] for one in admin.get(path(configuration_id, n=3)).json()["items"]] == ["shown"]


def test_fifty_tests_at_their_largest_fit_their_list(aws_here: Template) -> None:
    """Names of pipelines and members at their longest, and what cannot be compressed at the most that a list holds."""
    configuration_id, wide = new_id("cfg"), chr(0x10000)
    by = Principal("service_account", new_id("sva"), wide * 200)
    content = Content("0" * 64, 1_048_576, Random(1).randbytes(2_000), None)
    tests = tuple(
        ListedTest(f"{number:080}", f"logs/{wide * 1_019}", "metrics", 20, True, content, clock.now(), by)
        for number in range(MAX_TESTS)
    )
    store.save(configuration_id, 1, VersionTests(), VersionTests(tests, 1))

    assert len(store.tests(configuration_id, 1).tests) == MAX_TESTS


def test_a_list_holds_what_is_small_and_names_what_is_not(aws_here: Template) -> None:
    small = store.content(new_id("cfg"))
    large = store.content("".join(new_id("cfg") for _ in range(400)))

    assert (small.key, large.compressed) == (None, None)
    assert small.compressed is not None
    assert len(small.compressed) <= 2_000
    assert large.key is not None


def test_all_tests_of_a_version_have_a_size_together(ann: Member, configuration_id: str) -> None:
    sample = "x" * 1_000_000
    answers = [put(ann, configuration_id, f"{number}", {**TEST, "sample": sample}) for number in range(13)]

    assert [one.status_code for one in answers] == [200] * 12 + [409]
    assert refused(answers[-1]) == (409, "tests_too_large")
    assert put(ann, configuration_id, "0", {**TEST, "sample": sample + "x"}).status_code == 200
