"""Traced runs of the real collector, in the API and on the command line, and as the docs show them."""

import re
from typing import Any

import httpx
import pytest

from tests.support import run_support
from tests.support.cli_support import Cli
from tests.support.local_service import LocalService
from tests.support.service import ROOT
from tests.support.transcript import plain, section, shell, transcript

pytestmark = pytest.mark.end_to_end

PAGE = (ROOT / "docs" / "test-steps.md").read_text()
[ORDERS] = re.findall(r"```yaml\n(# orders.yaml\n.*?)```", PAGE, re.DOTALL)
ROUTING = transcript(section("docs/test-steps.md", "## Where a routing connector sends a record"))
# The sample before a command, the command, and what it prints.
[(SAMPLE, COMMAND, PRINTED)] = re.findall(
    r"```\n([^`]*)```\n\n`(headgate test run [^`]*)` prints\n\n```text\n(.*?)```", PAGE, re.DOTALL
)


@pytest.fixture(scope="module")
def client(service: LocalService) -> Any:
    with service.client() as opened:
        yield opened


def test_the_command_line_prints_the_steps_that_the_docs_show(cli: Cli) -> None:
    cli.write("orders.yaml", ORDERS)
    cli.write("orders.log", SAMPLE)
    ran = cli.shell(f"{COMMAND} --duration 1")
    run_id = re.findall(r"^run_\w+", ran.out, re.MULTILINE)[-1]

    assert (ran.code, ran.out.partition(f"\n{run_id}")[0]) == (0, PRINTED), ran
    assert cli.ok("test", "steps", run_id) == PRINTED.partition("\nRecord 2")[0]


def test_one_test_file_tells_where_a_routing_connector_sends_a_record(cli: Cli) -> None:
    cli.write("orders.yaml", ORDERS)
    shown = shell([command for command, _ in ROUTING], cli.url, cli.token, cli.folder)

    for (command, expected), said in zip(ROUTING, shown, strict=True):
        assert plain(said) == plain(expected), command


def test_the_trace_changes_nothing_of_the_output_and_tells_the_steps(client: httpx.Client) -> None:
    asked = {"yaml": ORDERS, "signal_type": "logs", "target_pipeline": "logs/orders", "sample": SAMPLE}
    traced = run_support.start(client, {**asked, "duration_seconds": 1, "trace": True})
    untraced = run_support.start(client, {**asked, "duration_seconds": 1})
    for run in (traced, untraced):
        assert run_support.finished(client, run["id"])["status"] == "Success"
    steps = client.get(f"/testing/runs/{traced['id']}/steps").json()
    dropped = client.get(f"/testing/runs/{traced['id']}/steps/3?record=2").json()

    # The connector feeds its pipelines in any order.
    outputs = [
        sorted(re.sub(r'"observedTimeUnixNano":"\d+"', "", run_support.output(client, run["id"])).splitlines())
        for run in (traced, untraced)
    ]
    assert outputs[0] == outputs[1]
    assert (steps["available"], steps["complete"], len(steps["items"])) == (True, True, 6), steps
    (entry,) = dropped["records"]
    assert (entry["outcome"], entry["outputs"]) == ("dropped", 0)
    assert [(by["condition"], by["line"]) for by in entry["by"]] == [('attributes["path"] == "/healthz"', 15)]
    assert client.get(f"/testing/runs/{untraced['id']}/steps").json()["code"] == "run_not_traced"
