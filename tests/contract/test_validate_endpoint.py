"""POST /validate as a client meets it, on the real collector."""

from collections.abc import Iterator

import httpx
import pytest

from headgate.foundation.settings import settings
from tests.support.second_version import second_version
from tests.support.service import Service, running_service

VALID = """\
receivers:
  otlp:
    protocols:
      grpc:
        endpoint: ${env:ENDPOINT}
exporters:
  debug:
    verbosity: ${env:VERBOSITY:-basic}
service:
  pipelines:
    logs:
      receivers: [otlp]
      exporters: [debug]
"""
SEVERAL_MISTAKES = """\
receivers:
  otlp/my-backend.eu:
    protocols:
      grcp:
exporters:
  debug:
    verbosity: loud
  nothing_known: {}
service:
  pipelines:
    logs/audit:
      receivers: [otlp/my-backend.eu]
      exporters: [debug]
"""

pytestmark = [pytest.mark.contract, pytest.mark.collector]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture
def http(service: Service) -> Iterator[httpx.Client]:
    with service.client() as client:
        yield client


def test_a_valid_configuration_is_valid_with_what_an_install_has_to_supply(http: httpx.Client) -> None:
    answer = http.post("/validate", json={"yaml": VALID})

    assert answer.status_code == 200
    assert set(answer.json()) == {
        "valid",
        "version",
        "distribution",
        "errors",
        "warnings",
        "environment",
        "findings",
        "valid_on_host",
    }
    found = answer.json()
    assert (found["valid"], found["version"], found["distribution"]) == (
        True,
        settings().collector_version,
        "otelcol-contrib",
    )
    assert found["errors"] == []
    assert {(one["name"], one["has_default"]) for one in found["environment"]} == {
        ("ENDPOINT", False),
        ("VERBOSITY", True),
    }
    (warning,) = found["warnings"]
    assert "ENDPOINT" in warning["message"]
    assert (warning["line"], warning["column"]) == (5, 19)


def test_all_mistakes_are_in_one_answer_each_with_its_place(http: httpx.Client) -> None:
    found = http.post("/validate", json={"yaml": SEVERAL_MISTAKES}).json()

    assert found["valid"] is False
    assert {(error["code"], error["component_path"], error["line"]) for error in found["errors"]} >= {
        ("unknown_key", "receivers::otlp/my-backend.eu::protocols::grcp", 4),
        ("unknown_component", "exporters::nothing_known", 8),
    }
    assert any(error["component_path"].startswith("exporters::debug") for error in found["errors"])


def test_values_of_variables_are_used(http: httpx.Client) -> None:
    fine = http.post("/validate", json={"yaml": VALID, "env": {"VERBOSITY": "detailed", "ENDPOINT": "localhost:1"}})
    wrong = http.post("/validate", json={"yaml": VALID, "env": {"VERBOSITY": "loud", "ENDPOINT": "localhost:1"}})

    assert fine.json()["valid"] is True
    assert fine.json()["warnings"] == []
    assert wrong.json()["valid"] is False


@pytest.mark.parametrize("uri", ["file:/etc/passwd", "http://127.0.0.1:1/x", "https://example.com/x", "s3://b/k"])
def test_nothing_outside_the_text_is_read(http: httpx.Client, uri: str) -> None:
    found = http.post("/validate", json={"yaml": VALID.replace("env:ENDPOINT", uri)}).json()

    assert found["valid"] is False
    assert "provider_not_allowed" in {error["code"] for error in found["errors"]}
    assert "root:" not in str(found)


@pytest.mark.parametrize("reference", ["${file:/etc/passwd}", "${secretsmanager:key}"])
def test_a_reference_in_the_value_of_a_variable_is_not_resolved_and_is_named(
    http: httpx.Client, reference: str
) -> None:
    """The host resolves it, with its own rights; the collector reads the value of a variable as it reads the text."""
    env = {"VERBOSITY": "detailed", "ENDPOINT": reference}
    found = http.post("/validate?lint=true", json={"yaml": VALID, "env": env}).json()

    assert "root:" not in str(found)
    assert [(one["code"], one["severity"]) for one in found["findings"]] == [("depends_on_host", "warning")]
    assert reference in found["findings"][0]["message"]
    assert (found["valid"], found["valid_on_host"]) == (False, None)


def test_text_that_is_not_yaml_has_no_component_path(http: httpx.Client) -> None:
    (error,) = http.post("/validate", json={"yaml": "receivers:\n\totlp:\n"}).json()["errors"]

    assert (error["code"], error["component_path"], error["line"]) == ("yaml_syntax", "", 2)


def test_a_version_that_is_not_installed_is_422_and_lists_those_that_are(http: httpx.Client) -> None:
    answer = http.post("/validate", json={"yaml": VALID, "version": "0.1.2"})

    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["code"] == "collector_version_not_installed"
    assert problem["detail"].startswith("Collector version 0.1.2 is not installed; installed: ")
    assert settings().collector_version in problem["detail"]
    assert problem["errors"][0]["loc"] == ["body", "version"]


def test_a_read_only_token_may_validate(service: Service, http: httpx.Client) -> None:
    headers = {"Authorization": f"Bearer {service.read_only_token}"}

    assert http.post("/validate", json={"yaml": VALID}, headers=headers).status_code == 200
    assert http.post("/validate", json={"yaml": VALID}, headers={"Authorization": "Bearer sv_no"}).status_code == 401


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        pytest.param({}, ["body", "yaml"], id="no yaml"),
        pytest.param({"yaml": ""}, ["body", "yaml"], id="empty yaml"),
        pytest.param({"yaml": None}, ["body", "yaml"], id="null yaml"),
        pytest.param({"yaml": 5}, ["body", "yaml"], id="number for yaml"),
        pytest.param({"yaml": {"receivers": {}}}, ["body", "yaml"], id="object for yaml"),
        pytest.param({"yaml": "x", "version": "0.139"}, ["body", "version"], id="short version"),
        pytest.param({"yaml": "x", "version": "v0.139.0"}, ["body", "version"], id="version with v"),
        pytest.param({"yaml": "x", "version": "../0.139.0"}, ["body", "version"], id="version with a path"),
        pytest.param({"yaml": "x", "version": "0.139.0\n"}, ["body", "version"], id="version with a line end"),
        pytest.param({"yaml": "x", "version": 1}, ["body", "version"], id="number for version"),
        pytest.param({"yaml": "x", "distribution": "otelcol"}, ["body", "distribution"], id="distribution"),
        pytest.param({"yaml": "x", "distribution": None}, ["body", "distribution"], id="null distribution"),
        pytest.param({"yaml": "x", "env": []}, ["body", "env"], id="list for env"),
        pytest.param({"yaml": "x", "env": {"A": 1}}, ["body", "env", "A"], id="number in env"),
        pytest.param({"yaml": "x", "env": {"A-B": "1"}}, ["body", "env", "A-B", "[key]"], id="name in env"),
        pytest.param({"yaml": "x", "env": {"": "1"}}, ["body", "env", "", "[key]"], id="empty name in env"),
        pytest.param({"yaml": "x", "env": {f"A{n}": "" for n in range(101)}}, ["body", "env"], id="101 in env"),
        pytest.param({"yaml": "x", "Version": "0.139.0"}, ["body", "Version"], id="unknown field"),
        pytest.param([{"yaml": "x"}], ["body"], id="list for body"),
    ],
)
def test_a_body_that_is_not_as_described_is_422_naming_the_field(
    http: httpx.Client, body: object, loc: list[str]
) -> None:
    answer = http.post("/validate", json=body)

    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, loc)


def test_another_distribution_is_refused_in_the_words_of_the_specification(http: httpx.Client) -> None:
    answer = http.post("/validate", json={"yaml": VALID, "distribution": "otelcol"})

    assert answer.json()["detail"] == "Unknown collector distribution: 'otelcol'"


def test_a_hundred_variables_are_possible(http: httpx.Client) -> None:
    env = {f"A{n}": "x" for n in range(99)} | {"ENDPOINT": "localhost:1"}

    assert http.post("/validate", json={"yaml": VALID, "env": env}).json()["valid"] is True


def test_over_a_megabyte_is_413(http: httpx.Client) -> None:
    assert http.post("/validate", json={"yaml": "x" * 1_048_577}).status_code == 413


@pytest.mark.parametrize(
    "yaml",
    [
        pytest.param("a: " + "[" * 500_000 + "]" * 500_000, id="deep nesting"),
        pytest.param("a: " + "{a: " * 200_000 + "}" * 200_000, id="deep mappings"),
        pytest.param(
            "a0: &a0 [x,x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1},*a{n - 1}]\n" for n in range(1, 60)), id="aliases"
        ),
        pytest.param("a: ${env:" * 10_000 + "}" * 10_000, id="nested variables"),
        pytest.param("\x00\x01\x02", id="control characters"),
        pytest.param("a: ${a}${a}" * 50_000, id="many variables"),
    ],
)
def test_abuse_is_answered_and_the_next_request_is_too(http: httpx.Client, yaml: str) -> None:
    abused = http.post("/validate", json={"yaml": yaml})

    assert abused.status_code in (200, 503)
    if abused.status_code == 200:
        assert abused.json()["valid"] is False
    assert http.post("/validate", json={"yaml": VALID}).json()["valid"] is True


def test_lone_surrogates_are_not_text(http: httpx.Client) -> None:
    answer = http.post("/validate", content=rb'{"yaml": "\ud800"}', headers={"Content-Type": "application/json"})

    assert answer.status_code == 422


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="neither form"),
        pytest.param({"yaml": VALID, "context": "log", "conditions": ["true"]}, id="both forms"),
        pytest.param({"yaml": VALID, "conditions": ["true"]}, id="yaml and conditions"),
        pytest.param({"context": "log"}, id="no expressions"),
        pytest.param({"context": "log", "conditions": []}, id="empty list"),
        pytest.param({"conditions": ["true"]}, id="no context"),
        pytest.param({"context": "log", "conditions": "true"}, id="text for a list"),
        pytest.param({"context": "log", "conditions": [1]}, id="number in a list"),
        pytest.param({"context": "log", "conditions": ["true"] * 201}, id="201 expressions"),
        pytest.param(
            {"context": "log", "conditions": ["true"] * 101, "statements": ["x"] * 100}, id="201 in two lists"
        ),
        pytest.param({"context": "log", "conditions": ["true"], "more": 1}, id="unknown field"),
    ],
)
def test_a_lint_request_of_no_proper_form_is_422(http: httpx.Client, body: object) -> None:
    answer = http.post("/ottl/lint", json=body)

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")


@pytest.mark.parametrize(
    "version", [version for version in (settings().collector_version, second_version()) if version]
)
def test_the_pipelines_are_those_of_the_resolved_configuration(http: httpx.Client, version: str) -> None:
    yaml = """\
receivers: {otlp: {protocols: {grpc: }}}
exporters: {debug: }
connectors: {forward: }
service:
  pipelines:
    logs/in: {receivers: ["${env:FROM}"], exporters: [forward]}
    logs/out: {receivers: [forward], exporters: [debug]}
"""
    answer = http.post("/validate?graph=true", json={"yaml": yaml, "version": version, "env": {"FROM": "otlp"}}).json()

    assert answer["valid"], answer
    graph = answer["graph"]
    assert [(one["id"], one["line"]) for one in graph["pipelines"]] == [("logs/in", 6), ("logs/out", 7)]
    assert graph["pipelines"][0]["receivers"] == [{"id": "otlp", "section": "receivers"}]
    assert graph["pipelines"][0]["exporters"] == [{"id": "forward", "section": "connectors"}]
    assert {(one["section"], one["id"], one["line"]) for one in graph["components"]} == {
        ("receivers", "otlp", 1),
        ("exporters", "debug", 2),
        ("connectors", "forward", 3),
    }


def test_a_text_that_is_not_a_configuration_has_no_pipelines(http: httpx.Client) -> None:
    answer = http.post("/validate?graph=true", json={"yaml": "a: ["}).json()

    assert not answer["valid"]
    assert answer["graph"]["problem"]["code"] == "no_graph"


def test_many_texts_have_in_one_request_the_verdicts_that_they_have_alone(http: httpx.Client) -> None:
    texts = [
        {"yaml": VALID},
        {"yaml": SEVERAL_MISTAKES},
        {"yaml": VALID, "env": {"VERBOSITY": "loud", "ENDPOINT": "localhost:1"}},
    ]
    batch = [{"name": f"text {n}", **text} for n, text in enumerate(texts)]

    answer = http.post("/validate/batch", params={"lint": "true"}, json={"items": batch}).json()

    alone = [http.post("/validate", params={"lint": "true"}, json=text).json() for text in texts]
    assert [one["valid"] for one in alone] == [True, False, False]
    assert answer["items"] == [{**verdict, "name": f"text {n}"} for n, verdict in enumerate(alone)]


def test_a_text_that_is_not_checked_leaves_the_others_their_verdicts(http: httpx.Client) -> None:
    batch = [{"yaml": VALID, "version": "0.1.2"}, {"yaml": VALID}]

    first, second = http.post("/validate/batch", json={"items": batch}).json()["items"]

    assert first["problem"]["code"] == "collector_version_not_installed"
    assert "valid" not in first
    assert second["valid"] is True


@pytest.mark.parametrize(
    ("items", "loc"),
    [
        ([], ["body", "items"]),
        ([{"yaml": VALID}] * 51, ["body", "items"]),
        ([{"yaml": ""}], ["body", "items", 0, "yaml"]),
    ],
)
def test_a_batch_that_does_not_fit_names_the_place(http: httpx.Client, items: object, loc: list[object]) -> None:
    answer = http.post("/validate/batch", json={"items": items})

    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, loc)
