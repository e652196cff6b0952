"""`--local` says what the service says: the same commands, once with each."""

import os
import re

import pytest

from headgate_cli.local import collectors
from headgate_local.options import read_options
from tests.support.cli_support import BROKEN, EDGE, Cli, Done

pytestmark = pytest.mark.end_to_end

FILES = {
    "valid.yaml": EDGE,
    "broken.yaml": BROKEN,
    "mistyped.yaml": EDGE.replace("set(log", "sett(log"),
    "not-yaml.yaml": "receivers: [\n",
    "empty.yaml": "",
    "variables.yaml": EDGE.replace("5s", "${env:TIMEOUT}").replace("/var/log/app.log", "${env:FOLDER:-/var}/app.log"),
    "outside.yaml": EDGE.replace("5s", "${file:/etc/passwd}"),
    "several.yaml": BROKEN.replace("include:", "includes:").replace("processors: [transform", "processors: [absent"),
    "skipped.yaml": EDGE.replace('set(log.attributes["team"], "edge")', "${env:STATEMENT:-set(log.body, 1)}"),
    "many-expressions.yaml": EDGE.replace(
        '      - set(log.attributes["team"], "edge")\n', '      - set(log.attributes["team"], "edge")\n' * 2001
    ),
    "costly.yaml": "a: &a ["
    + "x, " * 30
    + "]\n"
    + "".join(f"{n}: &{n} [{', '.join(['*a'] * 30)}]\n" for n in "bcdefgh"),
    "suppressed.yaml": EDGE.replace(
        "debug: {}", "debug: {} # headgate: allow debug_exporter_only because it is a test"
    ),
    "wide.yaml": EDGE.replace("batch:\n    timeout: 5s", "batch/配置: {\ttimeout: 5 parsecs}"),
}
VERSION = collectors.DEFAULT
# Both take two seconds for it, so one command has it.
LARGE = "many-expressions.yaml"
ALL = [name for name in FILES if name != LARGE]
COLLECTORS = {"HEADGATE_COLLECTORS_DIR": str(read_options(os.environ).collectors)}
# Nothing of this reaches the service or a credential.
ALONE = {**COLLECTORS, "HEADGATE_URL": "https://headgate.invalid", "SERVICE_API_TOKEN": ""}


def _locally(cli: Cli, *arguments: str) -> Done:
    return cli.run(*arguments, "--local", **ALONE)


@pytest.mark.parametrize(
    ("command", "files"),
    [
        # The collector's verdict on a mistyped statement lists contexts in any order.
        ("validate", [name for name in ALL if name != "mistyped.yaml"]),
        # Each verdict starts two collectors, so an option meets the texts that it is about.
        (
            "validate --json --env TIMEOUT=7s --env UNUSED=x",
            ["variables.yaml", "skipped.yaml", "outside.yaml", "several.yaml"],
        ),
        (f"validate --policies --version {VERSION}", ["valid.yaml", "suppressed.yaml", "not-yaml.yaml", LARGE]),
        ("validate --version 0.1.0", ["valid.yaml", "broken.yaml"]),
        ("lint --notes", ALL),
        ("lint --json", ALL),
    ],
    ids=["validate", "values", "policies", "version", "notes", "json"],
)
def test_a_local_collector_says_what_the_service_says(cli: Cli, command: str, files: list[str]) -> None:
    for name in files:
        cli.write(name, FILES[name])
    asked = cli.run(*command.split(), *files)
    local = _locally(cli, *command.split(), *files)

    # Each names the way to a version in its own words, and only the service counts requests.
    assert (local.code, local.out, _of_both(local.err)) == (asked.code, asked.out, _of_both(asked.err))
    assert "Traceback" not in local.err


def test_values_files_and_gates_reach_a_local_collector_as_they_reach_that_of_the_service(cli: Cli) -> None:
    text = EDGE.replace("5s", "${env:TIMEOUT}").replace('"edge"', '"${file:/etc/team}"')
    cli.write("a.yaml", text.replace("transform:\n", "transform:\n    flatten_data: true\n"))
    cli.write("team.txt", "edge")
    options = ["--env", "TIMEOUT=7s", "--file", "/etc/team=team.txt", "--feature-gate", "transform.flatten.logs"]

    for command, code in ((["validate", "--json"], 1), (["validate", "--json", *options], 0)):
        asked, local = cli.run(*command, "a.yaml"), _locally(cli, *command, "a.yaml")
        assert (local.code, local.out, local.err) == (asked.code, asked.out, asked.err)
        assert asked.code == code, asked


def _of_both(said: str) -> str:
    said = re.sub(r', "request_id": "[^"]+"', "", said)
    return re.sub(r"(Collector version .* is not installed; installed: [0-9., ]+): .*", r"\1", said)


def test_a_collector_can_be_named_and_its_version_held(cli: Cli) -> None:
    cli.write("a.yaml", EDGE)
    binary = read_options(os.environ).collectors / VERSION / "otelcol-contrib"

    done = cli.run("validate", "--local", "--collector", str(binary), "a.yaml", HEADGATE_COLLECTORS_DIR="/nowhere")
    assert (done.code, done.err) == (0, f"a.yaml: valid on otelcol-contrib {VERSION}\n")

    done = cli.run("validate", "--local", "--collector", str(binary), "--version", "0.1.0", "a.yaml")
    assert done.code == 1
    assert f"is collector {VERSION}, and --version asks for 0.1.0" in done.err


def test_without_a_collector_the_way_out_is_said(cli: Cli) -> None:
    cli.write("a.yaml", EDGE)
    done = cli.run("validate", "--local", "a.yaml", HEADGATE_COLLECTORS_DIR="/nowhere")

    assert (done.code, done.out) == (1, "")
    way_out = "install one with `pip install headgate-collector`, build one with `make collector`"
    assert f"there is no collector in /nowhere: {way_out}" in done.err


@pytest.mark.parametrize(
    "options", [["--collector", "a.yaml"], ["--local", "--url", "https://x"], ["--local", "--token", "x"]], ids=" ".join
)
def test_options_that_contradict_each_other_are_usage_errors(cli: Cli, options: list[str]) -> None:
    cli.write("a.yaml", EDGE).chmod(0o755)

    assert cli.run("validate", *options, "a.yaml").code == 2
