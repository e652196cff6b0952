"""Configurations after public bug reports: what a check tells of each, through the API and the real collector.

A row of `TOLD` is a folder of `field/`: what must be told of it, each with its kind, line, code, and words of the
message.
"""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.members import API, JoinWith, Member
from validation.app import router as validation_router

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.usefixtures("own_checker")]

FIELD: Final = Path(__file__).parent / "field"
ENV: Final = {"36-env-leading-zero": {"ID": "00001"}}
Told = tuple[str, int, str, str]
TOLD: Final[dict[str, tuple[Told, ...]]] = {
    "01-spanmetrics-buckets-unsorted": (("policy", 11, "histogram_bounds_unsorted", "5m stands before a smaller"),),
    "03-transform-empty-statement": (("error", 9, "crash", "the entry is empty"),),
    "05-metricstransform-combine-incomplete": (
        ("policy", 10, "metricstransform_incomplete", "without new_name and aggregation_type"),
    ),
    "06-count-default-emits-nothing": (("policy", 6, "connector_puts_out_nothing", "count makes no metrics of logs"),),
    "12-custom-resource-pasted": (
        (
            "error",
            7,
            "wrapped_configuration",
            "a Kubernetes OpenTelemetryCollector and is not a collector configuration",
        ),
    ),
    "16-routing-wrong-signal": (
        ("policy", 12, "request_metadata_missing", "otlp does not keep them"),
        ("error", 13, "pipeline_graph", "logs/one is a pipeline of logs"),
    ),
    "18-resource-attribute-leaks": (("note", 7, "last_record_wins", "the last one wins"),),
    "19-ismatch-literal": (("note", 10, "condition_without_data", "a name in quotes is a text, not a field"),),
    "20-replace-pattern-group-name": (("note", 8, "missing_group", '$1xxx names the group "1xxx"'),),
    "26-function-of-newer-version": (
        ("error", 8, "invalid_value", 'the function "TrimPrefix"; collectors know it from 0.141.0 on'),
        ("error", 9, "invalid_value", 'the function "IsEmpty"; collectors know it from 0.157.0 on'),
    ),
    "32-redaction-drops-all-attributes": (("policy", 6, "redaction_removes_all", "deletes every attribute"),),
    "36-env-leading-zero": (("warning", 9, "changed_value", "${env:ID} is read as the number 1"),),
    "42-anchor-after-use": (("error", 8, "yaml_syntax", "&retry stands at line 11, behind this alias"),),
    "60-log-sampling-without-trace-id": (("policy", 6, "sampler_drops_all", "drops log records without a trace ID"),),
    "68-yaml-surprises": (
        ("warning", 9, "changed_value", "0777 as the number 511"),
        ("warning", 10, "changed_value", "1_000 as the number 1000"),
        ("error", 11, "invalid_value", "YAML reads 2026-01-02 as a date"),
        ("warning", 13, "changed_value", "1e3 as the number 1000"),
        ("warning", 14, "changed_value", "0x1F as the number 31"),
    ),
    "70-ottl-colon-in-plain-scalar": (("error", 8, "yaml_syntax", "YAML ended the text at column 40"),),
    "72-ottl-map-in-list": (("error", 8, "wrong_type", "a text is expected here, not a mapping"),),
    "73-unknown-keys-ignored": (
        ("warning", 6, "ignored_key", 'did you mean "collection_interval"?'),
        ("warning", 8, "ignored_key", '"processes"'),
        ("warning", 9, "ignored_key", '"metrics"'),
        ("warning", 16, "ignored_key", 'did you mean "logs"?'),
    ),
    "75-routing-no-default": (("policy", 6, "routing_without_default", "drops what no condition matches"),),
    "81-otlphttp-without-scheme": (("policy", 7, "endpoint_without_scheme", "every request fails"),),
    "83-prometheus-exporter-without-port": (("policy", 7, "address_without_port", "without a port"),),
}
# Policies about other things than what was reported.
BESIDE: Final = {"memory_limiter_missing", "debug_exporter_only", "unused_component", "listens_everywhere"}


def test_what_was_reported_is_told_with_its_place(join: JoinWith) -> None:
    ann: Member = join([validation_router], "ann")
    texts = [
        {"name": name, "yaml": (FIELD / name / "config.yaml").read_text(), "env": ENV.get(name, {})} for name in TOLD
    ]

    answer = ann.http.post(f"{API}/validate/batch?lint=true&policies=true", json={"items": texts})

    told = {one["name"]: _told(one) for one in answer.json()["items"]}
    assert {name: [row[:3] for row in rows] for name, rows in told.items()} == {
        name: [row[:3] for row in rows] for name, rows in TOLD.items()
    }
    missing = [
        (name, words, message)
        for name, rows in TOLD.items()
        for (*_, words), (*_, message) in zip(rows, told[name], strict=True)
        if words not in message
    ]
    assert missing == []


def _told(answer: dict[str, Any]) -> list[Told]:
    """The errors, warnings, policies and notes of an answer, in the order of the text."""
    told = [("error", one) for one in answer["errors"]]
    told += [("warning", one) for one in answer["warnings"]]
    told += [("policy", one) for one in answer["policies"].get("findings", ())]
    told += [
        ("note", one | {"line": item["location"]["line"]})
        for item in answer["lint"].get("items", ())
        for one in item["notes"]
    ]
    rows = [(kind, one["line"], one["code"], one["message"]) for kind, one in told if one["code"] not in BESIDE]
    return sorted(rows, key=lambda row: row[1])


PROFILES: Final = "85-validate-with-feature-gate"


@pytest.mark.parametrize(
    ("gates", "valid"), [([], False), (["+service.profilesSupport"], True), (["-service.profilesSupport"], False)]
)
def test_a_text_is_judged_with_the_feature_gates_of_its_hosts(gates: list[str], valid: bool, join: JoinWith) -> None:
    ann: Member = join([validation_router], "ann")
    text = (FIELD / PROFILES / "config.yaml").read_text()

    answer = ann.http.post(f"{API}/validate", json={"yaml": text, "feature_gates": gates})

    assert answer.json()["valid"] is valid
    # No other question is answered by a process with these gates.
    assert ann.http.post(f"{API}/validate", json={"yaml": text}).json()["valid"] is False


def test_a_gate_that_the_collector_does_not_have_is_refused_with_the_nearest(join: JoinWith) -> None:
    ann: Member = join([validation_router], "ann")
    asked = {"yaml": "receivers:\n", "feature_gates": ["+service.profileSupport"]}

    for path in ("/validate", "/ottl/lint"):
        answer = ann.http.post(API + path, json=asked)

        assert (answer.status_code, answer.json()["code"]) == (422, "unknown_feature_gate")
        assert answer.json()["errors"][0]["loc"] == ["body", "feature_gates"]
        assert 'did you mean "service.profilesSupport"?' in answer.json()["detail"]


@pytest.mark.parametrize(
    ("name", "code", "on_host"),
    [
        ("86-aws-region-from-environment", "depends_on_host", True),
        # What stands in the file is not known.
        ("74-header-crlf-token", "provider_not_allowed", None),
    ],
)
def test_what_the_host_decides_is_not_called_wrong_on_the_host(
    name: str, code: str, on_host: bool | None, join: JoinWith
) -> None:
    ann: Member = join([validation_router], "ann")
    text = (FIELD / name / "config.yaml").read_text()

    answer = ann.http.post(f"{API}/validate", json={"yaml": text}).json()

    assert ([one["code"] for one in answer["errors"]], answer["valid"], answer["valid_on_host"]) == (
        [code],
        False,
        on_host,
    )


NAMESPACE: Final = """\
receivers: {otlp: {protocols: {grpc: }}}
exporters: {prometheus: {endpoint: "localhost:8889", namespace: "${env:ID}"}}
service: {pipelines: {metrics: {receivers: [otlp], exporters: [prometheus]}}}
"""
# A variable's value, and words of the warning about it in a setting of any type, and in a text.
READ: Final = {
    "abc": ("", ""),
    "a #b": ("is read as the text before its #", ""),
    "a: b": ("is read as the mapping that its colon makes", ""),
    '"abc"': ("", "the quotes around the value of ${env:ID} become a part of it"),
}


def test_a_value_that_is_not_kept_as_it_is_written_is_warned_of(join: JoinWith) -> None:
    ann: Member = join([validation_router], "ann")
    anything = (FIELD / "36-env-leading-zero" / "config.yaml").read_text()
    texts = [
        {"name": f"{value} of {n}", "yaml": text, "env": {"ID": value}}
        for value in READ
        for n, text in enumerate((anything, NAMESPACE))
    ]

    answer = ann.http.post(f"{API}/validate/batch", json={"items": texts})

    warnings = [[warning["message"] for warning in item["warnings"]] for item in answer.json()["items"]]
    expected = [words for of_a_value in READ.values() for words in of_a_value]
    assert [len(messages) for messages in warnings] == [1 if words else 0 for words in expected]
    assert [words for words, messages in zip(expected, warnings, strict=True) if words not in "".join(messages)] == []
