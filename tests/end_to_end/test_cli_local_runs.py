"""`--local` runs what the service runs, and says the same: the same commands, once with each."""

import os
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from headgate_local.options import read_options
from tests.support.cli_support import BROKEN, EDGE, Cli, Done

pytestmark = pytest.mark.end_to_end

COLLECTORS = {"HEADGATE_COLLECTORS_DIR": str(read_options(os.environ).collectors)}
# Nothing of this reaches the service or a credential.
ALONE = {**COLLECTORS, "HEADGATE_URL": "https://headgate.invalid", "SERVICE_API_TOKEN": ""}
ROUTED = """\
receivers: {filelog: {include: [/x], operators: [{type: json_parser}]}}
connectors: {count: {}}
processors: {k8sattributes: {}, filter: {logs: {log_record: ['severity_number < 9 and body == "x"']}}}
exporters: {debug: {}}
service:
  pipelines:
    logs/in: {receivers: [filelog], processors: [filter], exporters: [count, debug]}
    metrics: {receivers: [count], exporters: [debug]}
    logs/k8s: {receivers: [filelog], processors: [k8sattributes], exporters: [debug]}
    logs/env: {receivers: [filelog], processors: [filter], exporters: [debug]}
"""
FILES = {
    "edge.yaml": EDGE.replace("5s", "100ms"),
    "broken.yaml": BROKEN,
    "routed.yaml": ROUTED,
    "none.yaml": EDGE.replace('set(log.attributes["team"], "edge")', "set(log.body, 1) where false")
    .replace("processors: [transform", "processors: [filter")
    .replace("  batch:", "  filter: {logs: {log_record: ['true']}}\n  batch:"),
    "not-yaml.yaml": "receivers: [\n",
    "outside.yaml": EDGE.replace("5s", "${file:/etc/passwd}"),
    "variables.yaml": EDGE.replace('"edge"', '"${env:TEAM}"').replace("5s", "100ms"),
    "a.log": '{"a": 1}\nnot JSON\n',
    "empty.log": "\n",
    "rules.yaml": 'logs:\n  - name: team\n    condition: log.attributes["team"] == "edge"\n    expect: all\n'
    "  - name: counted\n    condition: log.body != nil\n    expect: count\n    min: 2\n    max: 2\n",
    "fails.yaml": "- {name: number, condition: 'log.attributes[\"team\"] == 1', expect: all}\n",
    "wrong.yaml": "- {name: a, condition: 'sett(', expect: most, context: x}\n- {condition: '', min: -1, other: 1}\n",
    "ottl.yaml": "- {name: a, condition: 'sett(log.body)'}\n- {name: b, condition: 'true'}\n",
    "twice.yaml": "- {name: a, condition: 'true'}\n- {name: a, condition: 'true'}\n",
}
RUN = ["test", "run", "--duration", "1"]
COMMANDS = [
    [*RUN, "edge.yaml", "--sample", "a.log", "--rules", "rules.yaml"],
    [*RUN, "edge.yaml", "--sample", "a.log", "--rules", "rules.yaml", "--json"],
    [*RUN, "edge.yaml", "--sample", "a.log", "--rules", "fails.yaml", "--json"],
    [*RUN, "edge.yaml", "--sample", "a.log", "--rule", "a:none=true", "--sample-name", "/var/log/pods/a/0.log"],
    [*RUN, "edge.yaml", "--sample", "empty.log", "--json"],
    [*RUN, "none.yaml", "--sample", "a.log", "--json"],
    [*RUN, "broken.yaml", "--sample", "a.log", "--json"],
    [*RUN, "not-yaml.yaml", "--sample", "a.log", "--pipeline", "logs"],
    [*RUN, "outside.yaml", "--sample", "a.log", "--json"],
    [*RUN, "edge.yaml", "--sample", "a.log", "--pipeline", "logs/absent"],
    [*RUN, "edge.yaml", "--sample", "a.log", "--sample-format", "otlp"],
    [*RUN, "edge.yaml", "--sample", "a.log", "--feature-gate", "no.such.gate", "--json"],
    [*RUN, "edge.yaml", "--sample", "a.log", "--rules", "wrong.yaml"],
    [*RUN, "edge.yaml", "--sample", "a.log", "--rules", "ottl.yaml"],
    [*RUN, "edge.yaml", "--sample", "a.log", "--rules", "twice.yaml"],
    [*RUN, "routed.yaml", "--sample", "a.log", "--pipeline", "logs/in", "--json"],
    [*RUN, "routed.yaml", "--sample", "a.log", "--pipeline", "logs/k8s", "--json"],
    [*RUN, "routed.yaml", "--sample", "a.log", "--pipeline", "logs/k8s", "--skip", "k8sattributes", "--json"],
    [*RUN, "variables.yaml", "--sample", "a.log", "--rules", "rules.yaml", "--env", "TEAM=edge", "--json"],
]


@pytest.fixture(scope="module")
def said() -> dict[str, tuple[Done, Done]]:
    """What each command says, with the service and with `--local`; made by the first test that asks."""
    return {}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_local_run_says_what_the_service_says(
    cli: Cli, command: list[str], said: dict[str, tuple[Done, Done]]
) -> None:
    if not said:
        for name, text in FILES.items():
            cli.write(name, text)
        with ThreadPoolExecutor(4) as pool:
            both = pool.map(lambda one: (cli.run(*one), cli.run(*one, "--local", **ALONE)), COMMANDS)
            said.update(zip(map(" ".join, COMMANDS), both, strict=True))
    asked, local = said[" ".join(command)]

    assert (local.code, plain(local.out), plain(local.err)) == (asked.code, plain(asked.out), plain(asked.err))
    assert "Traceback" not in local.err


def plain(text: str) -> str:
    """Without ids and times."""
    text = re.sub(r"\brun_[0-9a-z]{26}\b|(?<=\"id\": \")local|^local(?=  )", "ID", text, flags=re.MULTILINE)
    text = re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+Z|\d{4}/\d\d/\d\d [0-9:]{8}", "TIME", text)
    return re.sub(r"after \d+\.\d s", "after N s", text)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["stored"], "--local runs a file"),
        (["edge.yaml", "--trace"], "--trace needs a server"),
        (["edge.yaml", "--no-wait"], "--no-wait needs a server"),
        (["edge.yaml", "--url", "https://x"], "--url names a server"),
    ],
    ids=str,
)
def test_what_needs_a_server_is_a_usage_error(cli: Cli, options: list[str], told: str) -> None:
    cli.write("edge.yaml", EDGE)
    cli.write("a.log", "x\n")
    done = cli.run("test", "run", "--local", "--sample", "a.log", *options, **ALONE)

    assert (done.code, told in done.err) == (2, True), done


def test_a_local_run_gets_nothing_of_the_callers_environment(cli: Cli) -> None:
    cli.write("variables.yaml", FILES["variables.yaml"])
    cli.write("a.log", "x\n")
    rule = 'secret=log.attributes["team"] == "s3cret"'
    done = cli.run(*RUN, "variables.yaml", "--sample", "a.log", "--rule", rule, "--local", TEAM="s3cret", **ALONE)

    assert done.code == 1
    assert "s3cret" not in done.out.replace(rule.partition("=")[2], "") + done.err
