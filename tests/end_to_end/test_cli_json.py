"""What commands print with --json is what docs/cli-json.yaml says: `cli.ok` holds each to it."""

import json

import pytest

from tests.support.cli_support import Cli

YAML = """\
receivers:
  otlp: {protocols: {grpc: {}}}
processors:
  transform: {log_statements: ['set(log.attributes["team"], "shop")']}
exporters:
  debug: {}
service:
  pipelines:
    logs: {receivers: [otlp], processors: [transform], exporters: [debug]}
"""
RULES = "logs:\n  rules:\n    - {name: some, condition: 'true'}\n"
RUN = "test run edge --pipeline logs --sample sample.log --duration 1 --trace"


@pytest.mark.full
def test_what_commands_print_as_json_is_what_is_described(cli: Cli) -> None:
    cli.write("edge.yaml", YAML)
    cli.write("rules.yaml", RULES)
    cli.write("sample.log", "one\ntwo\n")

    def ok(line: str) -> object:
        return json.loads(cli.ok(*line.split(), "--json"))

    for line in (
        *("whoami", "completion bash", "collector list", "schema", "ottl reference", "ottl reference transform log"),
        *("component list", "component show otlp --kind receiver", "policy list", "policy get", "flow list"),
        *("validate edge.yaml", "lint edge.yaml", "config create edge.yaml", "config push edge.yaml --to edge"),
        *("config pull edge --force", "config list", "config show edge", "config show edge@1", "config versions edge"),
        *(
            "rules set edge rules.yaml",
            "rules get edge@1",
            "config describe edge what",
            "config diff edge --file edge.yaml",
        ),
        *("config publish edge", "config rename edge shop", "upgrade check shop@1 --to 0.139.0", "test list shop"),
        *("fleet create edges", "fleet list", "fleet instances edges", "fleet install edges --platform docker"),
        *("deployment create edges canary shop@1", "deployment list edges", "deployment assign edges Default shop@1"),
        *("deployment check edges canary shop", "deployment history edges canary", "deployment env edges canary"),
        *(
            "deployment select edges canary --label zone=a",
            "rollout list edges canary",
            "deployment clear edges canary",
        ),
        *("deployment delete edges canary", "fleet delete edges", "config archive shop", "config restore shop"),
    ):
        assert ok(line) is not None, line

    flows = ok("flow list")
    assert isinstance(flows, list)
    assert ok(f"flow show {flows[0]['slug']}")
    run = ok(RUN.replace("edge", "shop"))
    assert isinstance(run, dict)
    for line in ("show", "output", "stderr", "steps"):
        assert ok(f"test {line} {run['id']}"), line
    assert ok("test runs")
    assert ok("logout") == {"deleted": False}
