"""Two generations of the collector side by side in one service: verdicts, lint and test runs of each."""

import json
from collections.abc import Iterator
from typing import Any, Final

import httpx
import pytest

from headgate.foundation.settings import settings
from tests.support import run_support, sizes
from tests.support.run_support import request
from tests.support.second_version import needs_second_version, second_version
from tests.support.service import running_service

pytestmark = [pytest.mark.end_to_end, needs_second_version]

DEFAULT: Final = settings().collector_version
SECOND: Final = second_version() or ""
BOTH: Final = pytest.mark.parametrize("version", [DEFAULT, SECOND])
FILELOG: Final = """\
receivers:
  filelog/app: {include: [/var/log/app.log], operators: [{type: json_parser}]}
processors:
  transform: {log_statements: ['set(log.attributes["team"], "edge")']}
  filter: {logs: {log_record: ['attributes["level"] == "debug"']}}
exporters: {debug: {}}
service:
  pipelines: {logs: {receivers: [filelog/app], processors: [transform, filter], exporters: [debug]}}
"""
LINES: Final = '{"level": "debug"}\n{"level": "info"}\n{"level": "warn"}\n'
OTLP: Final = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "a line"}}] * 3}]}]}
RULES: Final = [
    {"name": "team", "condition": 'log.attributes["team"] == "edge"', "expect": "all"},
    {"name": "two", "condition": "true", "expect": "count", "min": 2, "max": 2},
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running_service(tmp_path_factory.mktemp("data")) as service, service.client() as opened:
        yield opened


def listed(client: httpx.Client, version: str) -> dict[str, Any]:
    return next(item for item in client.get("/collector-versions").json()["items"] if item["version"] == version)


def validated(client: httpx.Client, yaml: str, version: str) -> httpx.Response:
    return client.post("/validate", json={"yaml": yaml, "version": version})


@BOTH
def test_each_version_is_built_here_and_can_do_everything(version: str, client: httpx.Client) -> None:
    found = listed(client, version)

    assert (found["source"], found["unusable"], found["default"]) == ("built", None, version == DEFAULT)
    assert {name for name, can in found["can"].items() if can} == {"lines", "lint", "runs", "steps", "upgrade_check"}
    assert found["reduced"] == bool(found["lacks"])


@BOTH
def test_each_version_gives_its_own_verdict_with_positions(version: str, client: httpx.Client) -> None:
    right = validated(client, FILELOG, version).json()
    wrong = validated(client, FILELOG.replace("{debug: {}}", "{debug: {verbosity: loud}}"), version).json()

    assert (right["valid"], right["version"], right["errors"]) == (True, version, [])
    assert right.get("reduced", False) == listed(client, version)["reduced"]
    assert not wrong["valid"]
    assert wrong["errors"][0]["component_path"].startswith("exporters::debug")
    assert wrong["errors"][0]["line"] == 6


@BOTH
def test_a_component_that_no_release_has_is_unknown_in_each(version: str, client: httpx.Client) -> None:
    answer = validated(client, FILELOG.replace("filelog/app", "filelogg/app"), version).json()

    assert not answer["valid"]
    assert {error["code"] for error in answer["errors"]} == {"unknown_component"}


def test_what_the_reduced_build_lacks_is_not_checked_there_and_is_here(client: httpx.Client) -> None:
    if not listed(client, SECOND)["reduced"]:
        pytest.skip(f"this build of {SECOND} lacks no component")
    assert {"kind": "receiver", "type": "nop"} in listed(client, SECOND)["lacks"]
    yaml = FILELOG.replace("receivers: [filelog/app]", "receivers: [filelog/app, nop]").replace(
        "processors:\n", "  nop: {}\nprocessors:\n", 1
    )

    refused, valid = validated(client, yaml, SECOND), validated(client, yaml, DEFAULT)

    assert (refused.status_code, refused.json()["code"]) == (503, "component_not_in_build")
    assert "Retry-After" not in refused.headers
    detail = refused.json()["detail"]
    assert detail.startswith("receivers::nop: ")
    assert SECOND in detail
    assert "the YAML was not checked" in detail
    assert valid.json()["valid"], valid.text


def test_a_run_does_not_need_a_receiver_that_gives_way_to_the_sample(client: httpx.Client) -> None:
    yaml = FILELOG.replace("receivers: [filelog/app]", "receivers: [nop]").replace(
        "processors:\n", "  nop: {}\nprocessors:\n", 1
    )
    asked = request(yaml=yaml, sample=OTLP, target_pipeline="logs", collector_version=SECOND, duration_seconds=1)

    run = run_support.run(client, asked)

    assert (run["status"], run["records"]["out"]) == ("Success", {"logs": 3}), run["stderr"]


@pytest.mark.sized
@pytest.mark.parametrize("version", sizes.turn([DEFAULT, SECOND], 1))
def test_resource_detection_finds_a_machine_in_the_sandbox(version: str, client: httpx.Client) -> None:
    yaml = FILELOG.replace("  filter:", "  resourcedetection: {detectors: [system]}\n  filter:")
    yaml = yaml.replace("[transform, filter]", "[resourcedetection]")
    asked = request(yaml=yaml, sample=LINES, target_pipeline="logs", collector_version=version, duration_seconds=1)

    run = run_support.run(client, asked)

    assert run["status"] == "Success", run["stderr"]


def test_a_run_of_a_processor_that_the_build_lacks_ends_in_error(client: httpx.Client) -> None:
    if not listed(client, SECOND)["reduced"]:
        pytest.skip(f"this build of {SECOND} lacks no component")
    assert {"kind": "processor", "type": "logdedup"} in listed(client, SECOND)["lacks"]
    yaml = FILELOG.replace("  filter:", "  logdedup: {}\n  filter:").replace("[transform, filter]", "[logdedup]")
    asked = request(yaml=yaml, sample=LINES, target_pipeline="logs", collector_version=SECOND, duration_seconds=1)

    run = run_support.run(client, asked)
    elsewhere = run_support.run(client, {**asked, "collector_version": DEFAULT})

    assert run["status"] == "Error"
    assert run["stderr"].startswith("The test was never executed: processors::logdedup: ")
    assert SECOND in run["stderr"]
    assert elsewhere["status"] == "Success", elsewhere["stderr"]


def test_each_version_lints_with_its_own_parser(client: httpx.Client) -> None:
    versions = set()
    for version in (DEFAULT, SECOND):
        right = client.post("/ottl/lint", json={"yaml": FILELOG, "version": version}).json()
        wrong = client.post("/ottl/lint", json={"yaml": FILELOG.replace("set(", "sett("), "version": version}).json()
        assert (right["valid"], right["checked"]) == (True, 2)
        assert [item["location"]["line"] for item in wrong["items"] if item["error"]] == [4]
        versions.add(right["ottl_version"])

    assert len(versions) == 2


# Each version and each sample, or every pair of them.
JUDGED: Final = {
    f"{version}-{name}": (version, sample, came_out)
    for at, version in enumerate([DEFAULT, SECOND])
    for name, sample, came_out in sizes.turn([("lines", LINES, 2), ("otlp", OTLP, 3)], at)
}


@pytest.mark.sized
@pytest.mark.parametrize(("version", "sample", "came_out"), JUDGED.values(), ids=JUDGED)
def test_each_version_runs_and_judges(version: str, sample: object, came_out: int, client: httpx.Client) -> None:
    rules = RULES if came_out == 2 else RULES[:1]
    asked = request(
        yaml=FILELOG, sample=sample, target_pipeline="logs", rules=rules, collector_version=version, duration_seconds=2
    )

    run = run_support.run(client, asked)

    assert run["status"] == "Success", run["stderr"]
    assert run["collector_version"] == version
    assert run["records"] == {"in": {"logs": 3}, "out": {"logs": came_out}}
    assert [result["passed"] for result in run["validation_results"]] == [True] * len(rules)
    output = run_support.output(client, run["id"])
    assert all(json.loads(line)["resourceLogs"] for line in output.splitlines())


@BOTH
def test_a_rule_is_refused_in_the_words_of_its_version(version: str, client: httpx.Client) -> None:
    rules = [{"name": "wrong", "condition": "IsMatchh(log.body, 'a')"}]
    body = request(yaml=FILELOG, sample=LINES, target_pipeline="logs", rules=rules, collector_version=version)

    answer = client.post("/testing/runs", json=body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["body", "rules", 0, "condition"]
