"""What only a start shows, told by the real collector in its sandbox, before a host meets it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate.foundation.settings import settings
from headgate.reference import service as reference
from headgate_engine.reference.model import KINDS
from scripts.starting import attempts, oracle
from tests.support import configurations as cfg
from tests.support import like_lambda
from tests.support.deployments import add, server
from tests.support.members import API, JoinWith, Member
from tests.support.sizes import either
from validation.app import router as validation_router

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.sized, pytest.mark.usefixtures("own_checker")]

FIELD: Final = Path(__file__).parent / "field"
CRASHES: Final = (FIELD / "03-transform-empty-statement" / "config.yaml").read_text()
SAMPLING: Final = """\
receivers:
  otlp:
    protocols:
      grpc:
processors:
  tail_sampling:
    decision_wait: 1s
    policies:
      - name: slow
        {policy}
exporters:
  debug:
service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [tail_sampling]
      exporters: [debug]
"""
UNKNOWN: Final = SAMPLING.format(policy="type: latencies")


@pytest.fixture
def ann(join: JoinWith, monkeypatch: pytest.MonkeyPatch) -> Member:
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
    settings.cache_clear()
    return join([validation_router, configurations_router, *fleets_routers], "ann")


def started(member: Member, text: str, query: str = "start=true") -> dict[str, Any]:
    answer: dict[str, Any] = member.http.post(f"{API}/validate?{query}", json={"yaml": text}).json()
    return answer


def rows(answer: dict[str, Any]) -> list[tuple[str, str, str, int, int]]:
    return [(one["source"], one["severity"], one["code"], one["line"], one["column"]) for one in answer["findings"]]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (UNKNOWN, (10, 15), "unknown sampling policy type latencies"),
        (
            (FIELD / "02-tailsampling-bad-regex-panics" / "config.yaml").read_text(),
            (13, 20),
            "error parsing regexp: missing closing )",
        ),
        (
            SAMPLING.format(policy="{type: ottl_condition, ottl_condition: {span: ['name == Nothing()']}}").replace(
                "- name: slow\n        {", "- {name: slow, "
            ),
            (9, 68),
            "undefined function",
        ),
        (
            SAMPLING.format(policy="type: always_sample\n      - name: slow\n        type: always_sample"),
            (11, 15),
            'duplicate policy name "slow"',
        ),
    ],
    ids=["an unknown type", "a pattern", "an expression", "a name twice"],
)
def test_what_stops_a_collector_at_its_start_is_told_at_its_place(
    text: str, place: tuple[int, int], words: str, ann: Member
) -> None:
    answer = started(ann, text)

    assert (answer["valid"], answer["start"]["started"]) == (True, ["processors::tail_sampling"])
    assert rows(answer) == [("start", "error", "start_failed", *place)]
    assert words in answer["findings"][0]["message"]
    assert rows(started(ann, text, "lint=false")) == []


def test_an_expression_that_lint_refuses_is_told_once(ann: Member) -> None:
    text = SAMPLING.format(policy="type: ottl_condition\n        ottl_condition: {span: ['name == Nothing()']}")

    answer = started(ann, text, "start=true&lint=true")

    assert [row[:3] for row in rows(answer)] == [("lint", "error", "ottl")]


def test_what_asks_the_host_when_it_starts_is_a_warning(ann: Member) -> None:
    text = UNKNOWN.replace("tail_sampling", "k8sattributes").replace("    decision_wait: 1s\n", "")
    text = text[: text.index("    policies")] + text[text.index("exporters:\n") :]

    answer = started(ann, text)

    assert rows(answer) == [("start", "warning", "depends_on_host", 6, 3)]


def test_all_texts_of_a_batch_are_started(ann: Member) -> None:
    right = SAMPLING.format(policy="type: always_sample")
    items = [
        {"name": name, "yaml": text} for name, text in {"wrong": UNKNOWN, "right": right, "crash": CRASHES}.items()
    ]

    answer = ann.http.post(f"{API}/validate/batch?start=true", json={"items": items}).json()

    assert [[row[:3] for row in rows(one)] for one in answer["items"]] == [
        [("start", "error", "start_failed")],
        [],
        [("collector", "error", "crash")],
    ]
    assert [one["start"]["started"] for one in answer["items"]] == [["processors::tail_sampling"]] * 2 + [[]]


@pytest.mark.parametrize(("text", "code"), [(UNKNOWN, "start_failed"), (CRASHES, "crash")])
def test_an_assignment_and_a_rollout_warn_of_it_and_go_on(text: str, code: str, ann: Member) -> None:
    configuration_id = cfg.create(ann, yaml=text)
    assert cfg.publish(ann, configuration_id).status_code == 200
    at = server(ann)

    assigned = add(ann, at, configuration_id)
    group = f"{at}/{assigned.json()['id']}"
    rollout = ann.http.post(
        f"{group}/rollouts",
        json={"configuration_id": configuration_id, "version_number": 1},
    )

    for answer in (assigned, rollout):
        assert answer.status_code == 201, answer.text
        assert [(one["severity"], one["code"]) for one in answer.json()["warnings"]] == [("error", code)]
    checked = ann.http.post(f"{group}/assignment-check", json={"version_number": 1}).json()
    assert checked["warnings"] == assigned.json()["warnings"]


OWN_TELEMETRY: Final = """\
receivers: {nop: }
exporters: {nop: }
service:
  pipelines: {logs: {receivers: [nop], exporters: [nop]}}
  telemetry:
    metrics:
      level: detailed
      readers:
        - pull: {exporter: {prometheus: {host: localhost, port: 0}}}
        - pull: {exporter: {prometheus: {host: "::1", port: 0}}}
        - periodic: {exporter: {otlp: {protocol: grpc, endpoint: "http://127.0.0.1:4317"}}}
        - periodic: {exporter: {console: {}}}
        - pull: {exporter: {prometheus: {host: 127.0.0.1, port: 99999}}} # start_failed
        - pull: {exporter: {prometheus: {host: no host, port: 0}}} # start_failed
        - pull: {exporter: {prometheus: {host: "http://localhost", port: 0}}} # start_failed
        - pull: {exporter: {prometheus: {host: no-such-host.invalid, port: 0}}} # depends_on_host
        - periodic: {exporter: {otlp: {protocol: grpc, endpoint: not a url}}} # start_failed
        - periodic: {exporter: {otlp: {protocol: smoke, endpoint: "http://a"}}} # start_failed
        - periodic: {exporter: {otlp: {protocol: grpc, temporality_preference: slow}}} # start_failed
        - periodic: {exporter: {otlp: {protocol: http/protobuf, certificate: /no/such.pem}}} # depends_on_host
        - {} # start_failed
        - pull: {exporter: {prometheus: {host: "${env:MY_POD_IP}", port: 0}}} # depends_on_host
        - pull: {exporter: {prometheus: {host: "::1", port: "${env:PORT:-}"}}} # start_failed
      views:
        - {selector: {instrument_name: a}, stream: {name: b}}
        - {} # start_failed
    traces:
      propagators:
        - tracecontext
        - morse # start_failed
      processors:
        - batch: {exporter: {otlp: {protocol: http/protobuf, endpoint: "http://127.0.0.1:4318"}}}
        - batch: {exporter: {otlp: {protocol: http/protobuf, endpoint: not a url}}} # start_failed
        - batch: {exporter: {otlp: {protocol: smoke, endpoint: "http://a"}}} # start_failed
    logs:
      output_paths:
        - stderr
        - ftp://a/b # start_failed
        - /no/such/folder/log # depends_on_host
      processors:
        - batch: {exporter: {otlp: {protocol: http/protobuf, endpoint: "http://127.0.0.1:4318"}}}
        - batch: {exporter: {otlp: {protocol: smoke, endpoint: "http://a"}}} # start_failed
"""
MARKED: Final = {n: line for n, line in enumerate(OWN_TELEMETRY.splitlines(), 1) if " # " in line}


def own_telemetry(*mistakes: int) -> str:
    """The text with these of its mistakes."""
    lines = enumerate(OWN_TELEMETRY.splitlines(keepends=True), 1)
    return "".join(line for n, line in lines if n not in MARKED or n in mistakes)


def test_what_ends_a_collector_by_its_own_telemetry_is_told_at_its_line(ann: Member) -> None:
    answer = started(ann, OWN_TELEMETRY)
    encoding = started(ann, own_telemetry().replace("    logs:\n", "    logs:\n      encoding: morse\n"))

    assert answer["valid"] is True
    at_line = {finding["line"]: finding for finding in answer["findings"] if finding["source"] == "start"}
    expected = {n: line.partition(" # ")[2] for n, line in MARKED.items()}
    assert {n: finding["code"] for n, finding in at_line.items()} == expected
    # Where a value is not known, there are the values that it may have, or the variable that has none here.
    for words, way in {
        "smoke": "; use grpc or http/protobuf",
        "slow": "; use cumulative, delta or lowmemory",
        "morse": "; use tracecontext or b3",
        "MY_POD_IP": "host must be specified; its host is from ${env:MY_POD_IP}, which has no value here",
        "PORT:-": "; its port is from ${env:PORT}, whose default is empty",
    }.items():
        assert {at_line[n]["message"][-len(way) :] for n, line in MARKED.items() if words in line} == {way}, words
    paths = {one["component_path"].removeprefix("service::telemetry::") for one in answer["findings"]}
    assert {"metrics::readers::4::pull::exporter::prometheus::port", "traces::propagators::1"} <= paths
    # Nothing of what is right, and of all that one mistake breaks the mistake only.
    assert [one["component_path"] for one in encoding["findings"]] == ["service::telemetry::logs::encoding"]


@pytest.mark.full
@pytest.mark.parametrize("mistake", [0, *MARKED])
def test_the_collector_itself_ends_on_what_is_told_of_its_own_telemetry(mistake: int, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(own_telemetry(mistake))
    command: list[str | Path] = [
        Path(settings().collectors_dir, settings().collector_version, "otelcol-contrib"),
        "--config",
        file,
    ]

    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as collector:
        assert collector.stderr is not None
        lines: list[str] = []
        for line in collector.stderr:
            lines.append(line)
            if "Everything is ready" in line:
                collector.terminate()

    assert any("Everything is ready" in line for line in lines) == (mistake == 0), lines


NEEDS_VALUES: Final = """\
receivers: {nop: }
exporters:
  otlphttp: {endpoint: "${env:BACKEND}", headers: {key: "${env:API_KEY}"}}
  kafka: {auth: {sasl: {mechanism: PLAIN, username: "${env:API_KEY}", password: "${env:API_KEY}"}}}
service: {pipelines: {logs: {receivers: [nop], exporters: [otlphttp, kafka]}}}
"""


def test_the_variables_that_are_stored_with_a_group_count_where_a_version_is_for_it(ann: Member) -> None:
    configuration_id = cfg.create(ann, yaml=NEEDS_VALUES)
    assert cfg.publish(ann, configuration_id).status_code == 200
    added = add(ann, server(ann), configuration_id).json()
    group = f"{API}/fleets/{added['fleet_id']}/deployments/{added['id']}"
    version = {"configuration_id": configuration_id, "version_number": 1}

    def errors(answer: Any) -> list[str]:
        return [one["component_path"] for one in answer.json()["warnings"] if one["severity"] == "error"]

    assert "exporters::otlphttp" in errors(ann.http.post(f"{group}/assignment-check", json=version))
    values = {"variables": {"BACKEND": "http://otel:4318"}, "secrets": {"API_KEY": "s3cret"}}
    assert ann.http.patch(f"{group}/env", json=values).status_code == 200
    for answer in (
        ann.http.post(f"{group}/assignment-check", json=version),
        ann.http.patch(group, json=version),
        ann.http.post(f"{group}/rollouts", json=version),
    ):
        assert answer.status_code < 300, answer.text
        assert errors(answer) == []
        assert not [one for one in answer.json()["warnings"] if one["code"] == "unset_variable"]


def test_lint_says_of_an_entry_that_is_no_text_that_nobody_can_judge_it(ann: Member) -> None:
    answer = ann.http.post(f"{API}/ottl/lint", json={"yaml": CRASHES}).json()

    assert (answer["valid"], answer["checked"]) == (False, 1)
    assert [one["reason"] for one in answer["skipped"]] == ["a string is expected here, not a null"]


LISTENS: Final = """\
receivers: {otlp: {protocols: {grpc: }}}
processors: {remotetap: {endpoint: "127.0.0.1:0"}}
exporters: {debug: }
service: {pipelines: {traces: {receivers: [otlp], processors: [remotetap], exporters: [debug]}}}
"""
ALONE: Final = """
import json, sys
from pathlib import Path
from headgate_engine.checker.check_process import Child
from headgate_engine.checker.limits import Limits

child = Child.start(Path(sys.argv[1]), Limits())
print(json.dumps([child.held_by, child.ask("start", {"yaml": sys.argv[2], "env": {}}, 15)["findings"]]))
child.kill()
"""


def test_no_socket_is_opened_where_the_platform_refuses_every_filter() -> None:
    binary = Path(settings().collectors_dir, settings().collector_version, "otelcol-contrib")
    command = [sys.executable, like_lambda.__file__, sys.executable, "-c", ALONE, str(binary), LISTENS]
    function = {"AWS_LAMBDA_FUNCTION_NAME": "checker", "HEADGATE_CONFINED_BY": "platform"}

    done = subprocess.run(command, env=os.environ | function, capture_output=True, text=True, check=True)

    held_by, (finding,) = json.loads(done.stdout)
    assert "system calls" not in held_by
    assert "socket: too many open files" in finding["message"]
    assert finding["code"] == "depends_on_host"


STORED: Final = {entry["component"]: entry for entry in oracle.stored(settings().collector_version)}
MISTAKES: Final = [mistake for entry in STORED.values() for mistake in entry["mistakes"]]


def test_every_mistake_in_the_list_is_still_told_as_the_list_says() -> None:
    named = {component["component"] for component in MISTAKES}
    components = [component for kind in KINDS for component in reference.matching(settings().collector_version, kind)]
    subjects = {component.name: component for component in attempts.subjects(components) if component.name in named}
    collector = oracle.Sandboxed(Path(settings().collectors_dir, settings().collector_version, "otelcol-contrib"))
    differing = []
    try:
        for mistake in MISTAKES[:: either(on_change=5, full=1)]:
            findings = shown(subjects[mistake["component"]], mistake, collector)
            if (mistake["code"], mistake["message"][:40]) not in findings:
                differing.append((mistake, findings))
    finally:
        collector.close()

    assert MISTAKES != []
    assert differing == []


def shown(subject: attempts.Subject, mistake: dict[str, Any], collector: oracle.Sandboxed) -> list[tuple[str, str]]:
    text = subject.text(subject.with_value(tuple(mistake["path"]), mistake["value"]))
    findings = collector.start(text) if collector.verdict(text) == [] else ()
    return [(code, message[:40]) for code, message in findings]
