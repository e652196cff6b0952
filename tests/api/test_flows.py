"""The gallery as the API serves it, from the bucket that it was published to."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flows.app import router
from headgate.flows import publish, store
from headgate.flows.model import Flow, FlowRule, FlowTest, FullFlow
from headgate.foundation.settings import settings
from headgate.storage import aws
from headgate_engine.wire.tests import NamedTestIn
from tests.support.members import API, JoinWith, Member

FOLDER = Path(__file__).parents[2] / "flows"
LISTED = {
    "slug", "name", "summary", "source", "author", "signals", "tags", "collector_version", "collector_distribution",
}  # fmt: skip


def a_flow(slug: str) -> FullFlow:
    flow = Flow(slug, f"The flow {slug}", "It flows.", "headgate", "Headgate", ("logs",), ("a",), "0.139.0", "otelcol")
    rules = (FlowRule("some", "true", expect="count", min=1),)
    return FullFlow(
        flow, "It *flows*.", "receivers: {}  # as written\n", (FlowTest(slug, "logs", "logs", 3, "x", rules),)
    )


def gallery(*slugs: str) -> dict[str, bytes]:
    flows = [a_flow(slug) for slug in slugs]
    return {
        **{store.key_of(flow.flow.slug): store.flow_object(flow) for flow in flows},
        store.INDEX_KEY: store.index_object([flow.flow for flow in flows]),
    }


def publish_these(objects: dict[str, bytes]) -> None:
    publish.upload(objects, settings().bucket)


def published_keys() -> set[str]:
    found = aws.s3().list_objects_v2(Bucket=settings().bucket, Prefix="flows/").get("Contents", [])
    return {entry["Key"] for entry in found}


@contextmanager
def counting_gets(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The keys that are read from the bucket, in turn."""
    read: list[str] = []
    s3 = aws.s3()
    get_object = s3.get_object

    def counted(**request: str) -> object:
        read.append(request["Key"])
        return get_object(**request)

    with monkeypatch.context() as patch:
        patch.setattr(s3, "get_object", counted)
        yield read


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann", access="read")


@pytest.fixture
def three_flows(ann: Member) -> None:
    publish_these(gallery("zebra", "index", "ant"))


@pytest.mark.usefixtures("three_flows")
def test_the_list_is_in_gallery_order_without_yaml(ann: Member) -> None:
    answer = ann.http.get(f"{API}/flows")

    assert answer.status_code == 200
    assert [entry["slug"] for entry in answer.json()["items"]] == ["zebra", "index", "ant"]
    assert all(set(entry) == LISTED for entry in answer.json()["items"])
    assert answer.json()["next_cursor"] is None


@pytest.mark.usefixtures("three_flows")
def test_a_flow_adds_description_and_yaml_byte_for_byte(ann: Member) -> None:
    answer = ann.http.get(f"{API}/flows/zebra")

    assert answer.status_code == 200
    assert set(answer.json()) == LISTED | {"description", "yaml", "tests"}
    assert answer.json()["yaml"] == "receivers: {}  # as written\n"
    assert answer.json()["description"] == "It *flows*."
    assert answer.json()["collector_distribution"] == "otelcol"


@pytest.mark.usefixtures("three_flows")
def test_a_flows_tests_are_as_those_of_a_version_are_put(ann: Member) -> None:
    (test,) = ann.http.get(f"{API}/flows/zebra").json()["tests"]

    assert test.pop("name") == "zebra"
    assert NamedTestIn.model_validate(test).as_test().rules[0].expect == "count"


@pytest.mark.usefixtures("three_flows")
def test_a_flow_named_index_is_a_flow_like_any_other(ann: Member) -> None:
    assert ann.http.get(f"{API}/flows/index").json()["name"] == "The flow index"


@pytest.mark.usefixtures("three_flows")
def test_pages_follow_one_another_to_the_end(ann: Member) -> None:
    first = ann.http.get(f"{API}/flows", params={"limit": "2"}).json()
    second = ann.http.get(f"{API}/flows", params={"limit": "2", "cursor": first["next_cursor"]}).json()

    assert [entry["slug"] for entry in first["items"]] == ["zebra", "index"]
    assert [entry["slug"] for entry in second["items"]] == ["ant"]
    assert second["next_cursor"] is None


@pytest.mark.usefixtures("three_flows")
def test_a_cursor_behind_a_flow_that_left_the_gallery_is_422(ann: Member) -> None:
    cursor = ann.http.get(f"{API}/flows", params={"limit": "1"}).json()["next_cursor"]
    publish_these(gallery("index", "ant"))

    assert ann.http.get(f"{API}/flows", params={"cursor": cursor}).status_code == 422


@pytest.mark.usefixtures("three_flows")
@pytest.mark.parametrize("query", [{"limit": "0"}, {"limit": "101"}, {"limit": "x"}, {"cursor": "x"}, {"tag": "a"}])
def test_a_bad_page_request_is_422(ann: Member, query: dict[str, str]) -> None:
    assert ann.http.get(f"{API}/flows", params=query).status_code == 422


@pytest.mark.usefixtures("three_flows")
@pytest.mark.parametrize(
    "slug", ["unknown", "Zebra", "zebra.json", "zebra%2F..%2Findex", "..%2Findex", "a" * 65, "zébra", "zebra%00", "%20"]
)
def test_an_unknown_or_malformed_slug_is_404(ann: Member, slug: str) -> None:
    answer = ann.http.get(f"{API}/flows/{slug}")

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.usefixtures("three_flows")
def test_a_list_and_a_flow_cost_one_read_each_and_a_malformed_slug_none(
    ann: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    with counting_gets(monkeypatch) as read:
        ann.http.get(f"{API}/flows")
        ann.http.get(f"{API}/flows/ant")
        ann.http.get(f"{API}/flows/Not-A-Slug")

    assert read == ["flows/index.json", "flows/by-slug/ant.json"]


@pytest.mark.usefixtures("three_flows")
@pytest.mark.parametrize("path", ["/flows", "/flows/zebra"])
def test_the_gallery_takes_a_credential(ann: Member, path: str) -> None:
    assert ann.http.get(f"{API}{path}", headers={"Authorization": "Bearer sv_wrong"}).status_code == 401


@pytest.mark.usefixtures("three_flows")
def test_nothing_can_be_written_to_the_gallery(ann: Member) -> None:
    answer = ann.http.post(f"{API}/flows", json={})

    assert answer.status_code == 405
    assert "GET" in answer.headers["allow"]


def test_a_gallery_that_was_never_published_is_503(ann: Member) -> None:
    publish_these({})

    answer = ann.http.get(f"{API}/flows")

    assert answer.status_code == 503
    assert answer.json()["code"] == "gallery_not_published"


@pytest.mark.usefixtures("three_flows")
def test_publishing_again_takes_away_what_has_left_the_gallery() -> None:
    publish_these(gallery("ant"))

    assert published_keys() == {"flows/index.json", "flows/by-slug/ant.json"}


def test_our_own_gallery_is_served_whole(ann: Member) -> None:
    publish_these(publish.build(FOLDER))

    listed = ann.http.get(f"{API}/flows", params={"limit": "100"}).json()["items"]

    assert len(listed) >= 30
    for entry in listed:
        full = ann.http.get(f"{API}/flows/{entry['slug']}").json()
        assert full["yaml"] == (FOLDER / entry["slug"] / "collector.yaml").read_text(encoding="utf-8")
        assert {name: full[name] for name in LISTED} == entry
