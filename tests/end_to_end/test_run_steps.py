"""Traced runs of the real collector, in the API and on the command line, and as the docs show them."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.support import run_support
from tests.support.cli_support import Cli
from tests.support.local_service import LocalService
from tests.support.run_support import Json

pytestmark = pytest.mark.end_to_end

PAGE = (Path(__file__).parents[2] / "docs" / "testing.md").read_text()
FILES = {name: text for text, name in re.findall(r"```yaml\n(# (\S+)\n.*?)```", PAGE, re.DOTALL)}
TEST: Mapping[str, Any] = yaml.safe_load(FILES["orders.tests/abc-gets-its-own-orders.yaml"])
# The sample before a command, the command, and what it prints.
[(SAMPLE, COMMAND, PRINTED)] = re.findall(
    r"```\n([^`]*)```\n\n`(headgate test run [^`]*)` prints\n\n```text\n(.*?)```", PAGE, re.DOTALL
)


@pytest.fixture(scope="module")
def client(service: LocalService) -> Any:
    with service.client() as opened:
        yield opened


def asked(**changes: Any) -> Json:
    return {"yaml": FILES["orders.yaml"], "signal_type": "logs", **TEST, **changes}


def test_the_command_line_prints_the_steps_that_the_docs_show(cli: Cli) -> None:
    cli.write("orders.yaml", FILES["orders.yaml"])
    cli.write("orders.log", SAMPLE)
    ran = cli.shell(f"{COMMAND} --duration 1")
    run_id = re.findall(r"^run_\w+", ran.out, re.MULTILINE)[-1]

    assert (ran.code, ran.out.partition(f"\n{run_id}")[0]) == (0, PRINTED), ran
    assert cli.ok("test", "steps", run_id) == PRINTED.partition("\nRecord 2")[0]


def test_one_test_file_tells_where_a_routing_connector_sends_a_record(client: httpx.Client) -> None:
    as_shown = run_support.start(client, asked())
    broken = FILES["orders.yaml"].replace('attributes["name"] == "abc"', 'attributes["name"] == "xyz"')
    misrouted = run_support.start(client, asked(yaml=broken))

    passed = run_support.finished(client, as_shown["id"])
    failed = run_support.finished(client, misrouted["id"])
    assert (passed["status"], passed["records"]) == ("Success", {"in": {"logs": 4}, "out": {"logs": 1}}), passed
    assert failed["status"] == "Fail"
    assert [result["passed"] for result in failed["validation_results"]] == [False, False]


def test_the_trace_changes_nothing_of_the_output_and_tells_the_steps(client: httpx.Client) -> None:
    whole = {"output_pipelines": [], "sample": SAMPLE, "rules": None}
    traced = run_support.start(client, asked(trace=True, **whole))
    plain = run_support.start(client, asked(**whole))
    for run in (traced, plain):
        assert run_support.finished(client, run["id"])["status"] == "Success"
    steps = client.get(f"/testing/runs/{traced['id']}/steps").json()
    dropped = client.get(f"/testing/runs/{traced['id']}/steps/3?record=2").json()

    # The connector feeds its pipelines in any order.
    outputs = [
        sorted(re.sub(r'"observedTimeUnixNano":"\d+"', "", run_support.output(client, run["id"])).splitlines())
        for run in (traced, plain)
    ]
    assert outputs[0] == outputs[1]
    assert (steps["available"], steps["complete"], len(steps["items"])) == (True, True, 6), steps
    (entry,) = dropped["records"]
    assert (entry["outcome"], entry["outputs"]) == ("dropped", 0)
    assert [(by["condition"], by["line"]) for by in entry["by"]] == [('attributes["path"] == "/healthz"', 15)]
    assert client.get(f"/testing/runs/{plain['id']}/steps").json()["code"] == "run_not_traced"
