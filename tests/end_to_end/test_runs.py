"""Test runs as a client meets them: refusals, saved rules, abuse, many at once, and a service that is killed."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from headgate.foundation.settings import settings
from headgate_local.options import read_options
from tests.support import processes, run_support, sizes
from tests.support.local_service import LocalService
from tests.support.run_support import LOGS, Json, configuration, request
from tests.support.service import running_service

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="module")
def client(service: LocalService) -> Any:
    with service.client() as opened:
        yield opened


def stored(client: httpx.Client, yaml: str, **fields: str) -> str:
    response = client.post("/configurations", json={"name": "tested", "yaml": yaml, **fields})
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


def test_an_accepted_run_is_queued_then_runs_then_ends(client: httpx.Client) -> None:
    started = run_support.start(client, request())
    ended = run_support.finished(client, started["id"])

    assert (started["status"], started["success"], started["validation_results"]) == ("Queued", None, None)
    assert (ended["status"], ended["success"], ended["validation_results"]) == ("Success", True, [])
    assert ended["created_at"] <= ended["started_at"] <= ended["finished_at"]
    assert len(run_support.output(client, started["id"]).splitlines()) == 1


@pytest.mark.parametrize(
    ("changes", "place", "said"),
    [
        ({"target_pipeline": "logs"}, ["body", "target_pipeline"], 'no pipeline "logs"; it has "logs/app"'),
        ({"signal_type": "traces"}, ["body", "signal_type"], "holds logs, not traces"),
        ({"yaml": "a: [b"}, ["body", "yaml"], "not a collector configuration"),
        ({"sample": ""}, ["body", "sample"], "the sample is empty"),
        ({"sample": {"resourceSpans": []}}, ["body", "sample"], "line 1: it contains traces"),
        ({"sample": {"resourceLogs": []}}, ["body", "sample"], "contains no log records"),
        ({"sample": {"logs": []}}, ["body", "sample"], 'has no "resourceLogs"'),
        ({"sample": LOGS + '{"resourceLogs": [}'}, ["body", "sample"], "line 2: it is not OTLP/JSON"),
    ],
)
def test_what_cannot_be_run_is_422_and_says_where(
    changes: Json, place: list[str], said: str, client: httpx.Client
) -> None:
    response = client.post("/testing/runs", json=request(**changes))

    assert response.status_code == 422, response.text
    assert response.json()["errors"][0]["loc"] == place
    assert said in response.json()["errors"][0]["message"]


def test_a_rule_that_the_parser_refuses_is_422_in_its_words(client: httpx.Client) -> None:
    rules = [{"name": "fine", "condition": "true"}, {"name": "typo", "condition": 'sett(body) == "x"'}]
    response = client.post("/testing/runs", json=request(rules=rules))
    error = response.json()["errors"][0]

    assert (response.status_code, error["loc"]) == (422, ["body", "rules", 1, "condition"])
    assert error["message"].startswith("rule 'typo': ")
    assert "sett" in error["message"]


def test_a_context_of_another_signal_is_422(client: httpx.Client) -> None:
    rules = [{"name": "spans", "condition": "true", "context": "span"}]

    assert client.post("/testing/runs", json=request(rules=rules)).status_code == 422


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"collector_version": "0.1.2"}, "collector 0.1.2 is not installed on the test runner; installed: "),
        (
            {
                "yaml": configuration(
                    "{attributes: {actions: [{key: a, value: '${file:/etc/passwd}', action: insert}]}}", "[attributes]"
                )
            },
            'a run reads nothing outside the configuration: scheme "file" is not supported',
        ),
        (
            {
                "yaml": configuration(
                    "{attributes: {actions: [{key: a, value: '${http://127.0.0.1/x}', action: insert}]}}",
                    "[attributes]",
                )
            },
            "a run reads nothing outside the configuration",
        ),
    ],
)
def test_a_run_that_the_testing_service_refuses_is_an_error_at_once(
    changes: Json, reason: str, client: httpx.Client
) -> None:
    started = run_support.start(client, request(**changes))

    assert started["status"] == "Error"
    assert started["stderr"].startswith(f"The test was never executed: {reason}")
    assert run_support.finished(client, started["id"]) == started
    assert run_support.output(client, started["id"]) == ""


def test_orgvar_tokens_are_not_substituted_and_defaults_of_the_environment_are(client: httpx.Client) -> None:
    actions = (
        "{attributes: {actions: [{key: a, value: '$orgvar:NAME', action: insert},"
        " {key: b, value: '${env:NAME:-fallback}', action: insert}]}}"
    )
    rules = [
        {"name": "token", "condition": 'attributes["a"] == "$orgvar:NAME"', "expect": "all"},
        {"name": "default", "condition": 'attributes["b"] == "fallback"', "expect": "all"},
    ]

    ended = run_support.run(client, request(yaml=configuration(actions, "[attributes]"), rules=rules))

    assert ended["status"] == "Success", ended


def test_a_condition_that_cannot_be_evaluated_says_so(client: httpx.Client) -> None:
    rules = [{"name": "odd", "condition": "ParseJSON(body) != nil", "expect": "none"}]
    ended = run_support.run(client, request(rules=rules))

    assert ended["status"] == "Fail"
    assert "could not be evaluated on 6" in ended["validation_results"][0]["message"]


@pytest.mark.sized
def test_anchors_and_merges_keep_their_meaning_when_a_pipeline_is_lifted(client: httpx.Client) -> None:
    yaml = (
        "receivers: {otlp: {protocols: {grpc: {}}}}\n"
        "exporters: {debug: &settings {actions: [{key: a, value: 1.0, action: insert}]}}\n"
        "processors: {attributes: {<<: *settings}, attributes/same: *settings}\n"
        "service: {pipelines: {logs/app: &p {receivers: [otlp], processors: [attributes], exporters: [debug]},"
        " logs/b: {<<: *p, processors: [attributes/same]}}}\n"
    )
    rules = [{"name": "a double", "condition": 'IsDouble(attributes["a"])', "expect": "all"}]

    for pipeline in sizes.turn(("logs/app", "logs/b"), 1):
        ended = run_support.run(client, request(yaml=yaml, target_pipeline=pipeline, rules=rules))
        assert ended["status"] == "Success", ended


def test_a_run_of_a_stored_version_uses_its_saved_rules(client: httpx.Client) -> None:
    configuration_id = stored(client, configuration())
    path = f"/configurations/{configuration_id}/versions/1/validation-pipelines"
    saved = client.put(
        f"{path}/logs%2Fapp",
        json={
            "signal_type": "logs",
            "rules": [{"name": "six", "condition": "true", "expect": "count", "min": 6, "max": 6}],
        },
    )
    assert saved.status_code == 200, saved.text
    ended = run_support.run(
        client,
        request(yaml=None, configuration_id=configuration_id, version_number=1, use_saved_rules=True),
    )

    assert client.get(path).json() == {"items": [saved.json()]}
    assert (ended["status"], ended["configuration_id"], ended["version_number"]) == ("Success", configuration_id, 1)
    assert [result["name"] for result in ended["validation_results"]] == ["six"]


def test_saved_rules_that_are_not_there_are_422(client: httpx.Client) -> None:
    configuration_id = stored(client, configuration())
    body = request(yaml=None, configuration_id=configuration_id, version_number=1, use_saved_rules=True)

    assert client.post("/testing/runs", json=body).json()["code"] == "no_saved_rules"


def test_the_rules_of_a_pipeline_are_replaced_and_named_by_default(client: httpx.Client) -> None:
    configuration_id = stored(client, configuration())
    path = f"/configurations/{configuration_id}/versions/1/validation-pipelines/logs/app"

    def put(*names: str, **fields: str) -> Json:
        rules = [{"name": name, "condition": "true"} for name in names]
        response = client.put(path, json={"signal_type": "logs", "rules": rules, **fields})
        assert response.status_code == 200, response.text
        answer: Json = response.json()
        return answer

    first, second = put("a", "b"), put("c", name="Mine")

    assert (first["name"], [rule["name"] for rule in first["rules"]]) == ("API tests — logs/app", ["a", "b"])
    assert (second["name"], [rule["name"] for rule in second["rules"]]) == ("Mine", ["c"])
    assert set(second["rules"][0]) == {"id", "api_owned", "name", "context", "condition", "expect", "min", "max"}
    assert second["rules"][0]["api_owned"] is True


@pytest.mark.parametrize(
    ("pipeline", "changes", "said"),
    [
        ("logs", {}, 'no pipeline "logs"'),
        ("logs/app", {"signal_type": "metrics"}, "holds logs, not metrics"),
        ("logs/app", {"rules": [{"name": "typo", "condition": "bodyy == 1"}]}, "rule 'typo': "),
        ("logs/app", {"rules": [{"name": "deep", "condition": "(" * 200}]}, "the limit is 100"),
        ("logs/app", {"rules": []}, "rules"),
    ],
)
def test_rules_that_cannot_be_saved_are_422_and_nothing_is(
    pipeline: str, changes: Json, said: str, client: httpx.Client
) -> None:
    configuration_id = stored(client, configuration())
    path = f"/configurations/{configuration_id}/versions/1/validation-pipelines"
    body = {"signal_type": "logs", "rules": [{"name": "a", "condition": "true"}], **changes}
    response = client.put(f"{path}/{pipeline}", json=body)

    assert response.status_code == 422, response.text
    assert said in json.dumps(response.json(), ensure_ascii=False).replace('\\"', '"')
    assert client.get(path).json() == {"items": []}


# Abuse. Each ends in a status that says what happened, and leaves nothing of itself.


def test_a_configuration_that_never_becomes_right_is_an_error_with_the_collectors_words(client: httpx.Client) -> None:
    ended = run_support.run(client, request(yaml=configuration("{batch: {nope: 1}}", "[batch]")))

    assert (ended["status"], ended["validation_results"]) == ("Error", [])
    assert "has invalid keys: nope" in ended["stderr"]
    first = ended["stderr"].splitlines()[0]
    assert first.startswith("headgate: the collector exited with status 1 after ")
    assert first.endswith("""'processors' error reading configuration for "batch": '' has invalid keys: nope""")


def test_files_of_the_machine_are_not_there_for_a_processor(client: httpx.Client) -> None:
    processors = "{geoip: {providers: {maxmind: {database_path: /etc/passwd}}}}"
    ended = run_support.run(client, request(yaml=configuration(processors, "[geoip]")))

    assert ended["status"] == "Error"
    assert "/etc/passwd: no such file" in ended["stderr"]


def test_a_processor_that_calls_out_reaches_nothing(client: httpx.Client, service: LocalService) -> None:
    processors = (
        "{resourcedetection: {detectors: [ec2, ecs, consul], timeout: 1s, consul: "
        f"{{address: '{service.base_url}'}}}}}}"
    )
    ended = run_support.run(client, request(yaml=configuration(processors, "[resourcedetection]")))

    assert ended["status"] in ("Success", "Error")
    assert str(Path.cwd()) not in ended["stderr"]


def test_a_processor_that_cannot_start_is_told_first_and_not_waited_for(client: httpx.Client) -> None:
    """It would keep the collector from becoming ready, and from ending."""
    ended = run_support.run(client, request(yaml=configuration("{k8sattributes: {}}", "[k8sattributes]")))
    first = ended["stderr"].splitlines()[0]

    assert (ended["status"], ended["records"]) == ("Error", None)
    assert first.startswith("headgate: the collector did not become ready in ")
    assert ": k8sattributes: Could not initialize kube client: unable to load k8s config" in first


@pytest.mark.parametrize("operator", ["file_output", "tcp_input", "stdout"])
def test_an_operator_that_opens_something_is_refused(operator: str, client: httpx.Client) -> None:
    yaml = configuration().replace(
        "receivers: {otlp: {protocols: {grpc: {}}}}",
        f"receivers: {{filelog: {{include: [/x], operators: [{{type: {operator}}}]}}}}",
    )
    ended = run_support.run(client, request(yaml=yaml.replace("[otlp]", "[filelog]"), sample="a line\n"))

    assert ended["status"] == "Error"
    assert ended["stderr"].startswith("The test was never executed: ")
    assert ended["stderr"].endswith(f"remove the operator {operator} from receivers::filelog")


def test_a_run_says_what_went_in_and_what_came_out(client: httpx.Client) -> None:
    dropping = configuration("{filter: {logs: {log_record: ['true']}}}", "[filter]")
    kept, dropped = run_support.run(client, request()), run_support.run(client, request(yaml=dropping))

    assert kept["records"] == {"in": {"logs": 6}, "out": {"logs": 6}}
    assert (dropped["status"], dropped["records"]) == ("Success", {"in": {"logs": 6}, "out": {"logs": 0}})
    assert dropped["stderr"].startswith("headgate: nothing came out of the pipeline")
    assert not kept["stderr"].startswith("headgate:")


def test_extensions_and_what_else_there_is_are_not_started(client: httpx.Client) -> None:
    yaml = configuration(extensions="{pprof: {}, file_storage: {directory: /var/lib/none}}").replace(
        "service: {", "service: {extensions: [pprof, file_storage], telemetry: {logs: {output_paths: [/var/log/x]}}, "
    )
    ended = run_support.run(client, request(yaml=yaml))

    assert ended["status"] == "Success", ended
    assert "pprof" not in ended["stderr"]


def test_output_without_end_is_stopped(client: httpx.Client) -> None:
    doubled = "'set(log.body, Concat([log.body, log.body], \"\"))', " * 11
    processors = f"{{transform: {{log_statements: [{doubled}]}}}}"
    lines = "x\n" * 20_000
    ended = run_support.run(
        client, request(yaml=configuration(processors, "[transform]"), sample=lines, duration_seconds=60)
    )

    assert ended["status"] == "Error"
    assert "output exceeded 32 MB" in ended["stderr"]


def test_memory_without_end_is_stopped(client: httpx.Client) -> None:
    doubled = "'set(log.body, Concat([log.body, log.body], \"\"))', " * 24
    processors = f"{{transform: {{log_statements: [{doubled}]}}}}"
    ended = run_support.run(
        client, request(yaml=configuration(processors, "[transform]"), sample="x" * 5_000, duration_seconds=60)
    )

    assert ended["status"] == "Error"
    assert "used up its 1024 MB of memory" in ended["stderr"].splitlines()[0]


def test_a_collector_that_holds_on_is_ended_at_its_time(client: httpx.Client) -> None:
    processors = "{batch: {timeout: 3600s, send_batch_size: 100000}}"
    ended = run_support.run(client, request(yaml=configuration(processors, "[batch]")))

    assert ended["status"] == "Success", ended
    assert run_support.output(client, ended["id"])


def test_a_sample_over_a_megabyte_is_413(client: httpx.Client) -> None:
    response = client.post("/testing/runs", json=request(sample="x" * 1_048_577))

    assert response.status_code == 413, response.text


def test_a_sample_of_nearly_a_megabyte_is_run(client: httpx.Client) -> None:
    line = "2026-11-20 10:00:00 INFO a line of the usual length, with some words in it and a number 12345\n"
    count = 1_000_000 // len(line)
    rules = [{"name": "all", "condition": "true", "expect": "count", "min": count, "max": count}]
    ended = run_support.run(client, request(sample=line * count, rules=rules, duration_seconds=3))

    assert ended["status"] == "Success", (ended["validation_results"], ended["stderr"][-500:])


@pytest.mark.parametrize(
    "condition",
    [
        'IsMatch(body, "^(a+)+$") or IsMatch(body, "(x*)*y")',
        " and ".join(['IsMatch(Concat([body, body, body], ""), ".*.*.*=.*")'] * 60),
        "(" * 90 + "true" + ")" * 90,
    ],
)
def test_a_pathological_rule_comes_to_an_end(condition: str, client: httpx.Client) -> None:
    rules = [{"name": "slow", "condition": condition[:4096]}]
    response = client.post("/testing/runs", json=request(rules=rules))

    assert response.status_code in (202, 422), response.text
    if response.status_code == 202:
        assert run_support.finished(client, response.json()["id"])["status"] in run_support.FINAL


@pytest.mark.full
def test_many_runs_at_once_all_end_rightly(client: httpx.Client) -> None:
    # More than are under way at once; test_run_turns.py has that on each change, with fewer places and runs.
    runs = 20

    def one(number: int) -> Json:
        return run_support.run(client, run_support.own(number, duration_seconds=2))

    with ThreadPoolExecutor(runs) as pool:
        ended = list(pool.map(one, range(runs)))

    assert [run["status"] for run in ended] == ["Success"] * runs, ended


@pytest.mark.full
def test_after_a_kill_every_run_has_a_final_status_and_no_collector_is_left(own_service: LocalService) -> None:
    with own_service.client() as client:
        done = run_support.run(client, request())
        started = [run_support.start(client, request(duration_seconds=60))["id"] for _ in range(4)]
        while {client.get(f"/testing/runs/{run}").json()["status"] for run in started} != {"Running"}:
            time.sleep(0.1)
    while not (running := processes.children(own_service.pid, "sandbox")):
        time.sleep(0.1)
    own_service.kill9()
    own_service.start()

    with own_service.client() as client:
        statuses = [client.get(f"/testing/runs/{run}").json() for run in started]
        assert [run["status"] for run in statuses] == ["Error"] * 4
        assert all("interrupted" in run["stderr"] for run in statuses)
        assert client.get(f"/testing/runs/{done['id']}").json() == done
    for process in running:
        processes.wait_until_ended(process)


@pytest.mark.full
def test_a_run_takes_the_collector_version_that_was_asked_for(tmp_path: Path) -> None:
    """An official release beside ours would be one more download; what counts is which of two is taken."""
    ours = read_options(os.environ).collectors
    collectors = tmp_path / "collectors"
    for version in (settings().collector_version, "0.138.0"):
        (collectors / version).mkdir(parents=True)
        (collectors / version / "otelcol-contrib").symlink_to(ours / settings().collector_version / "otelcol-contrib")
    with (
        running_service(tmp_path / "data", HEADGATE_COLLECTORS_DIR=str(collectors)) as service,
        service.client() as client,
    ):
        asked = run_support.run(client, request(collector_version="0.138.0"))
        configuration_id = stored(client, configuration())
        client.patch(f"/configurations/{configuration_id}/versions/1", json={"collector_version": "0.138.0"})
        stored_version = request(yaml=None, configuration_id=configuration_id, version_number=1)
        inherited = run_support.run(client, stored_version)
        (collectors / "0.138.0" / "otelcol-contrib").unlink()
        gone = run_support.run(client, stored_version)

    assert [run["status"] for run in (asked, inherited, gone)] == ["Success", "Success", "Error"]
    assert [run["collector_version"] for run in (asked, inherited, gone)] == ["0.138.0"] * 3
