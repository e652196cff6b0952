"""The reference of components and OTTL, as the real collector tells it, and how its schema is sent and cached."""

import base64
import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext
from httpx2 import Response

from components.app import app, handler
from components.app import router as components_router
from headgate import checker
from headgate.checker import CheckerBusy
from headgate.flows import publish
from headgate.foundation import clock
from headgate.foundation.settings import settings
from headgate.reference import builds
from tests.support import faulty
from tests.support.in_process import TestClient
from tests.support.lambda_runtime import http_event
from tests.support.members import API, JoinWith, Member
from tests.support.service import ROOT

SCHEMA = f"{API}/components/schema.json"
RELEASE, BROKEN = "0.150.0", "0.149.0"
LARGEST_RESPONSE = 6_291_556

WRONG_TYPE = "No such type: `type` must be letters, digits and `_`, a letter first: `otlp` for the component `otlp/2`"


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([components_router])


@pytest.fixture
def gallery(aws_here: object) -> None:
    publish.upload(publish.build(ROOT / "flows"), settings().bucket)


@pytest.fixture
def stranger(aws_here: object) -> TestClient:
    """A client without a credential."""
    return client_at("192.0.2.1")


@pytest.fixture
def stand_ins(aws_here: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An official release and a binary that cannot be used, beside a default collector that is not there."""
    for version, variant in {RELEASE: "release", BROKEN: "crashes"}.items():
        faulty.install(tmp_path / version, variant)
    monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", str(tmp_path))
    settings.cache_clear()
    checker.close()
    yield
    checker.close()


@pytest.fixture
def still_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no minute ends during the test."""
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now)


def client_at(address: str) -> TestClient:
    return TestClient(app, raise_server_exceptions=False, client=(address, 1), headers={"Accept-Encoding": "gzip"})


def get(member: Member, path: str, expected: int = 200, **parameters: str | int) -> dict[str, Any]:
    response = member.http.get(f"{API}{path}", params=parameters)
    assert response.status_code == expected, response.text
    found: dict[str, Any] = response.json()
    return found


def in_lambda(query: str = "", **headers: str) -> dict[str, Any]:
    """What the function itself returns to Lambda."""
    event = http_event("GET", SCHEMA, query=query)
    event["headers"] = {"host": "example.execute-api.us-east-1.amazonaws.com", **headers}
    returned: dict[str, Any] = handler(event, LambdaContext())
    assert len(json.dumps(returned)) < LARGEST_RESPONSE
    return returned


@pytest.mark.collector
def test_the_components_come_in_pages_by_kind_and_type(ann: Member) -> None:
    pages = [get(ann, "/components", limit=100)]
    while pages[-1]["next_cursor"]:
        pages.append(get(ann, "/components", limit=100, cursor=pages[-1]["next_cursor"]))
    items = [item for page in pages for item in page["items"]]
    found = [(item["kind"], item["type"]) for item in items]

    assert len(pages) > 1
    assert found == sorted(set(found))
    assert {("receiver", "otlp"), ("processor", "batch"), ("exporter", "debug"), ("connector", "routing")} <= {*found}
    assert set(items[0]) == {"kind", "type", "aliases", "stability", "deprecated", "summary"}
    assert [item for item in items if not item["stability"]] == []


@pytest.mark.collector
def test_a_kind_alone_can_be_listed(ann: Member) -> None:
    assert {item["kind"] for item in get(ann, "/components", kind="connector")["items"]} == {"connector"}
    assert get(ann, "/components", 422, kind="gadget")["errors"][0]["loc"] == ["query", "kind"]


@pytest.mark.collector
def test_a_component_has_its_schema_its_fields_and_an_example(ann: Member, gallery: None) -> None:
    found = get(ann, "/components/processor/batch")

    assert (found["kind"], found["type"]) == ("processor", "batch")
    assert found["schema"]["properties"]["timeout"]["default"] == "200ms"
    timeout = next(one for one in found["fields"] if one["path"] == "timeout")
    assert (timeout["type"], timeout["default"]) == ("duration", '"200ms"')
    assert timeout["description"]
    assert found["example"]["yaml"].startswith("processors:\n  batch")
    assert (ROOT / "flows" / found["example"]["flow"]).is_dir()


@pytest.mark.collector
def test_what_no_flow_uses_has_no_example(ann: Member, gallery: None) -> None:
    assert get(ann, "/components/receiver/nop")["example"] is None


@pytest.mark.collector
def test_before_the_gallery_is_published_there_are_no_examples(ann: Member) -> None:
    publish.upload({}, settings().bucket)

    assert get(ann, "/components/processor/batch")["example"] is None


@pytest.mark.collector
@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("receiver/otpl", "Collector {version} has no receiver otpl; did you mean otlp"),
        ("receiver/batch", "Collector {version} has no receiver batch"),
        (
            "gadget/otlp",
            "No such kind: `kind` must be one of 'receiver', 'processor', 'exporter', 'connector' or 'extension'",
        ),
        ("receiver/otlp%2F2", WRONG_TYPE),
        ("receiver/otlp/2", WRONG_TYPE),
        ("receiver/otlp.x", WRONG_TYPE),
    ],
)
def test_a_component_that_there_is_not_is_404(path: str, detail: str, ann: Member) -> None:
    problem = get(ann, f"/components/{path}", 404)

    assert problem["detail"].startswith(detail.format(version=settings().collector_version))


@pytest.mark.collector
def test_ottl_tells_its_components_and_then_each_context(ann: Member) -> None:
    components = get(ann, "/ottl/reference")["components"]
    contexts = {one["component"]: one["contexts"] for one in components}
    found = get(ann, "/ottl/reference", component="transform", context="log")

    assert {"log", "span", "metric", "datapoint"} <= {*contexts["transform"]}
    assert (found["component"], found["context"]) == ("transform", "log")
    assert next(one for one in found["functions"] if one["name"] == "set")["kind"] == "editor"
    assert any(one["path"].endswith("body") and one["writable"] for one in found["paths"])
    assert any(one["name"] == "SEVERITY_NUMBER_ERROR" for one in found["enums"])


@pytest.mark.collector
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"component": "batch", "context": "log"}, "component"),
        ({"component": "transform", "context": "exemplar"}, "context"),
        ({"component": "transform"}, "context"),
        ({"context": "log"}, "component"),
    ],
)
def test_ottl_that_there_is_not_is_422_with_what_there_is(query: dict[str, str], field: str, ann: Member) -> None:
    problem = get(ann, "/ottl/reference", 422, **query)

    assert (problem["code"], problem["errors"][0]["loc"]) == ("no_such_ottl", ["query", field])
    assert "choose one of" in problem["detail"]


PATHS = ("/components", "/components/receiver/otlp", "/components/schema.json", "/ottl/reference")


@pytest.mark.parametrize("path", PATHS)
def test_a_version_that_cannot_tell_is_422_with_the_way_out(path: str, ann: Member, stand_ins: None) -> None:
    unknown, release = (get(ann, path, 422, version=version) for version in ("0.1.0", RELEASE))

    assert unknown["code"] == "collector_version_not_installed"
    assert unknown["detail"] == f"Collector version 0.1.0 is not installed; installed: {BROKEN}, {RELEASE}"
    assert release["code"] == "reference_not_possible"
    assert [one["errors"][0]["loc"] for one in (unknown, release)] == [["query", "version"]] * 2
    assert get(ann, path, 422, version="latest")["code"] == "invalid"


@pytest.mark.parametrize("path", PATHS)
def test_a_collector_that_cannot_be_asked_is_an_outage(
    path: str, ann: Member, stand_ins: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert get(ann, path, 503, version=BROKEN)["code"] == "reference_unavailable"
    assert get(ann, path, 503)["code"] == "reference_unavailable"

    def busy(*_: object, **__: object) -> None:
        raise CheckerBusy("All are taken")

    monkeypatch.setattr(checker.COLLECTORS, "call", busy)
    assert get(ann, path, 503, version="0.148.0")["detail"].startswith("All are taken")


@pytest.mark.collector
def test_the_schema_is_sent_compressed_without_a_credential(stranger: TestClient) -> None:
    with stranger.stream("GET", SCHEMA) as response:
        raw = b"".join(response.iter_raw())
    schema = json.loads(gzip.decompress(raw))

    assert (response.status_code, response.headers["content-encoding"]) == (200, "gzip")
    assert response.headers["content-type"] == "application/schema+json"
    assert response.headers["vary"] == "Accept-Encoding"
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert "receiver/otlp" in schema["$defs"]


@pytest.mark.collector
def test_it_is_sent_plain_to_who_does_not_accept_gzip(stranger: TestClient) -> None:
    plain = stranger.get(SCHEMA, headers={"Accept-Encoding": "identity"})
    compressed = stranger.get(SCHEMA)

    assert "content-encoding" not in plain.headers
    assert plain.content == compressed.content
    assert plain.headers["etag"] == f'"{hashlib.sha256(plain.content).hexdigest()}"'
    # A strong tag names bytes, and these are others.
    assert plain.headers["etag"] != compressed.headers["etag"]


@pytest.mark.collector
def test_with_a_version_it_never_has_to_be_asked_for_again(stranger: TestClient) -> None:
    named = stranger.get(SCHEMA, params={"version": settings().collector_version})
    default = stranger.get(SCHEMA)

    assert named.headers["cache-control"] == "public, max-age=86400, immutable"
    assert default.headers["cache-control"] == "public, no-cache"
    assert named.headers["etag"] == default.headers["etag"]


@pytest.mark.collector
def test_who_has_it_is_told_so_without_it(stranger: TestClient) -> None:
    etag = stranger.get(SCHEMA).headers["etag"]

    known = stranger.get(SCHEMA, headers={"If-None-Match": f'"other", W/{etag}'})
    other = stranger.get(SCHEMA, headers={"If-None-Match": '"other"'})
    plain = stranger.get(SCHEMA, headers={"If-None-Match": etag, "Accept-Encoding": "identity"})

    assert (known.status_code, known.content, known.headers["etag"]) == (304, b"", etag)
    assert known.headers["cache-control"] == "public, no-cache"
    assert (other.status_code, plain.status_code) == (200, 200)


@pytest.mark.collector
def test_its_head_has_no_body(stranger: TestClient) -> None:
    response = stranger.head(SCHEMA)

    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["etag"]


@pytest.mark.collector
def test_lambda_sends_the_compressed_bytes_and_the_plain_ones_unchanged(stranger: TestClient) -> None:
    compressed = in_lambda(**{"accept-encoding": "gzip, br"})
    plain = in_lambda()
    known = in_lambda(**{"accept-encoding": "gzip", "if-none-match": compressed["headers"]["etag"]})
    text = gzip.decompress(base64.b64decode(compressed["body"]))

    assert (compressed["statusCode"], compressed["isBase64Encoded"]) == (200, True)
    assert compressed["headers"]["content-encoding"] == "gzip"
    assert base64.b64decode(plain["body"]) == text == stranger.get(SCHEMA).content
    assert (known["statusCode"], known["body"]) == (304, "")


def limited(response: Response) -> bool:
    return response.status_code == 429 and response.json()["code"] == "rate_limited"


def test_each_network_address_has_a_limit_of_its_own(
    aws_here: object, monkeypatch: pytest.MonkeyPatch, still_clock: None
) -> None:
    monkeypatch.setenv("HEADGATE_RATE_LIMIT_PER_MINUTE", "3")
    settings.cache_clear()
    here, elsewhere = client_at("192.0.2.2"), client_at("192.0.2.3")
    answers = [here.get(SCHEMA) for _ in range(4)]

    assert [limited(one) for one in answers] == [False, False, False, True]
    assert (answers[0].headers["ratelimit-remaining"], answers[3].headers["ratelimit-remaining"]) == ("2", "0")
    assert int(answers[3].headers["retry-after"]) > 0
    # What a client says of itself does not help it.
    assert limited(here.get(SCHEMA, headers={"X-Forwarded-For": "198.51.100.1"}))
    assert not limited(elsewhere.get(SCHEMA))


def test_a_wrong_request_counts_as_well(stranger: TestClient) -> None:
    response = stranger.get(SCHEMA, params={"verison": "0.139.0"})

    assert response.status_code == 422
    assert int(response.headers["ratelimit-remaining"]) < int(response.headers["ratelimit-limit"])


def test_the_addresses_of_one_ipv6_network_share_a_limit(
    aws_here: object, monkeypatch: pytest.MonkeyPatch, still_clock: None
) -> None:
    monkeypatch.setenv("HEADGATE_RATE_LIMIT_PER_MINUTE", "3")
    settings.cache_clear()
    answers = [client_at(f"2001:db8:1:2::{n:x}").get(SCHEMA) for n in range(4)]

    assert [limited(one) for one in answers] == [False, False, False, True]
    assert not limited(client_at("2001:db8:1:3::1").get(SCHEMA))


@pytest.mark.collector
def test_what_is_known_is_not_asked_for_again(ann: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    get(ann, "/components")

    def asked(*_: object, **__: object) -> None:
        raise AssertionError("the collector was asked again")

    monkeypatch.setattr(checker.COLLECTORS, "call", asked)
    get(ann, "/components/receiver/otlp")
    assert builds.build(settings().collector_version).components
