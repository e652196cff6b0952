"""`--local` runs what the service runs, and says the same: the same commands, once with each."""

import json
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from headgate_cli.local.api import LocalApi
from headgate_cli.shaped import PlainAnswer
from headgate_local.options import read_options
from tests.support import sizes
from tests.support.cli_support import BROKEN, EDGE, Cli, Done

pytestmark = [pytest.mark.end_to_end, pytest.mark.sized]

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
    "gated.yaml": EDGE.replace("5s", "100ms").replace("transform:\n", "transform:\n    flatten_data: true\n"),
    "filed.yaml": EDGE.replace('"edge"', '"${file:/etc/team}"'),
    "team.txt": "edge",
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
FILES |= {
    "edge.tests/passes.yaml": "sample: x\nrules: [{name: some, condition: 'true'}]\n",
    "edge.tests/fails.yaml": "sample: x\nrules: [{name: none, condition: 'false'}]\nexpected: ''\n",
    "edge.tests/wrong.yaml": "sample: x\nrules: [{name: wrong, condition: 'sett('}]\n",
    "edge.tests/refused.yaml": "sample: x\nskip: [absent]\nrules: [{name: some, condition: 'true'}]\n",
    "variables.tests/team.yaml": "sample: x\nenv: {TEAM: edge}\n"
    'rules: [{name: team, condition: \'log.attributes["team"] == "edge"\'}]\n',
}
RUN = ["test", "run", "--duration", "1"]
ALL_COMMANDS = [
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
    ["test", "suite", "edge.yaml", "variables.yaml"],
    ["test", "suite", "edge.yaml", "--test", "fails", "--json"],
    ["test", "suite", "edge.yaml", "variables.yaml", "--format", "github"],
    ["test", "diff", "edge.yaml", "variables.yaml", "--sample", "a.log", "--pipeline", "logs"],
    ["test", "diff", "edge.yaml", "variables.yaml", "--sample", "a.log", "--pipeline", "logs", "--markdown"],
    ["test", "diff", "edge.yaml", "edge.yaml", "--sample", "a.log", "--pipeline", "logs", "--json"],
    ["test", "diff", "edge.yaml", "broken.yaml", "--sample", "a.log", "--pipeline", "logs", "--ignore", "body"],
    ["test", "diff", "edge.yaml", "edge.yaml", "--sample", "a.log", "--pipeline", "logs", "--ignore", "no path"],
    [*RUN, "variables.yaml", "--sample", "a.log", "--rules", "rules.yaml", "--env", "TEAM=edge", "--json"],
    [*RUN, "routed.yaml", "--sample", "a.log", "--pipeline", "logs/in", "--trace", "--record", "2"],
    [*RUN, "edge.yaml", "--sample", "a.log", "--trace", "--record", "1", "--json"],
    [*RUN, "variables.yaml", "--sample", "a.log", "--trace", "--env", "TEAM=s3cret", "--json"],
    [*RUN, "broken.yaml", "--sample", "a.log", "--trace"],
    [*RUN, "outside.yaml", "--sample", "a.log", "--trace"],
    [*RUN, "gated.yaml", "--sample", "a.log", "--json"],
    [*RUN, "gated.yaml", "--sample", "a.log", "--feature-gate", "transform.flatten.logs", "--json"],
    ["test", "suite", "variables.yaml", "--env", "TEAM=core", "--json"],
]
COMMANDS = sizes.either(ALL_COMMANDS[::6], ALL_COMMANDS)


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
    """Without ids and times, and without the line that tells the id of a run on the server."""
    text = re.sub(r"^Run run_[0-9a-z]{26}\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"\b(run|job)_[0-9a-z]{26}\b|(?<=\")local(-\d+)?(?=\")|^local(?=  )", "ID", text, flags=re.MULTILINE)
    text = re.sub(r'\\"\w*[tT]imeUnixNano\\":\\"\d+\\"', "TIME", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+Z|\d{4}/\d\d/\d\d [0-9:]{8}", "TIME", text)
    text = re.sub(r'"seconds": \d+\.\d', '"seconds": 0', text)
    text = re.sub(r"\b\d+\.\d s\b", "N s", text)
    text = re.sub(r" \(\d+ times\)", "", text)
    return re.sub(r"(after|in) \d+(\.\d)? s\b", r"\1 N s", text)


LOG = {"target_pipeline": "logs", "sample": FILES["a.log"]}
ANOTHER = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"x"}}]}]}]}'
TRUE = {"rules": [{"name": "any", "condition": "true"}]}
TESTS = {
    "passes": TRUE,
    "expects-nothing": {"expected": ""},
    "fails": {"rules": [{"name": "none", "condition": "log.body == nil", "expect": "all"}, *TRUE["rules"]]},
    "expects-another-output": {
        "expected": '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"x"}}]}]}]}'
    },
    "expects-no-otlp": {"expected": "x"},
    "ignores-no-path": {"expected": "", "ignore": ["no such path"]},
    "of-an-absent-pipeline": {"target_pipeline": "logs/absent", **TRUE},
    "of-another-signal": {"signal_type": "traces", **TRUE},
    "with-a-wrong-rule": {"rules": [*TRUE["rules"], {"name": "wrong", "condition": "sett("}]},
    "with-an-empty-sample": {"sample": " ", **TRUE},
    "with-an-unknown-gate": {"feature_gates": ["no.such.gate"], **TRUE},
    "with-a-gate": {"feature_gates": ["transform.flatten.logs"], **TRUE},
    "with-a-value": {
        "env": {"TEAM": "core"},
        "rules": [{"name": "core", "condition": 'log.attributes["team"] == "core"'}],
    },
    "without-a-processor": {"skip": ["transform"], **TRUE},
    "with-an-absent-one-replaced": {"attributes": {"absent": {"a": "b"}}, **TRUE},
}


def test_a_local_suite_says_what_the_service_says(cli: Cli) -> None:
    # On each change every second of them, each of which ends in another way.
    tests = [{"name": name, **LOG, **test} for name, test in list(TESTS.items())[:: sizes.either(2, 1)]]
    text = FILES["variables.yaml"].replace("${env:TEAM}", "${env:TEAM:-edge}")
    body = {"yaml": text, "tests": tests, "output": True}
    asked, told = both(cli, "/testing/suites", body)

    assert told["status"] == asked["status"] == "Fail"
    same(told["result"], asked["result"])


def test_a_local_comparison_says_what_the_service_says(cli: Cli) -> None:
    tests = [
        {"name": "changed", **LOG},
        {"name": "of-one-side", **LOG, "target_pipeline": "logs/in", "ignore": ["body"]},
        {"name": "of-none", **LOG, "target_pipeline": "logs/absent"},
        {"name": "wrong", **LOG, "feature_gates": ["no.such.gate"]},
    ]
    left, right = FILES["edge.yaml"], FILES["edge.yaml"].replace('"edge")', '"core")')
    right = right.replace("    logs:\n", "    logs/in: {receivers: [filelog], exporters: [debug]}\n    logs:\n")
    body: dict[str, Any] = {"left": {"yaml": left}, "right": {"yaml": right}, "tests": tests}
    asked, told = both(cli, "/testing/comparisons", body)
    same(told["result"], asked["result"])
    assert [test["status"] for test in told["result"]["tests"]] == [
        "differs",
        "differs",
        "not_compared",
        "not_compared",
    ]


# What the service cuts, and what only a comparison of versions tells: a former name, many errors, many differences.
DRIFTING = """\
receivers: {filelog: {include: [/x]}}
processors:
  transform: {error_mode: ignore, log_statements: [STATEMENTS]}
FAILING
exporters: {otlphttp: {endpoint: "http://x"}}
service: {pipelines: {logs: {receivers: [filelog], processors: [NAMES], exporters: [otlphttp]}}}
"""
FAILING = {f"transform/{n}": f"'set(log.attributes[\"a{n}\"], ParseJSON(log.body))'" for n in range(20)}


def drifting(side: str) -> str:
    changing = [f"'set(log.attributes[\"{side}{n}\"], log.body)'" for n in range(12)]
    failing = "\n".join(
        f"  {name}: {{error_mode: ignore, log_statements: [{statement}]}}" for name, statement in FAILING.items()
    )
    text = DRIFTING.replace("STATEMENTS", ", ".join(changing)).replace("FAILING", failing)
    return text.replace("NAMES", ", ".join(["transform", *FAILING]))


@pytest.mark.full
def test_a_local_comparison_on_two_collectors_says_what_the_service_says(cli: Cli) -> None:
    tests = [{"name": f"small-{n}", **LOG} for n in range(3)]
    tests.append({"name": "large", **LOG, "sample": "".join(f"line {n} of many that differ\n" for n in range(600))})
    body = {
        "left": {"yaml": drifting("l"), "collector_version": "0.139.0"},
        "right": {"yaml": drifting("r"), "collector_version": "0.158.0"},
        "tests": tests,
    }
    asked, told = both(cli, "/testing/comparisons", body)

    same(told["result"], asked["result"])
    aliases = [one["component"] for one in asked["result"]["starts"]["right"]]
    assert "exporters::otlphttp" in aliases
    assert max(len(one["left"]["stderr"]) for one in asked["result"]["tests"]) > 1_500
    assert asked["result"]["tests"][-1]["differences"]["left_out"] > 0


@pytest.mark.full
def test_a_local_coverage_says_what_the_service_says(cli: Cli) -> None:
    passes = {"name": "passes", **LOG, "rules": [{"name": "team", "condition": 'log.attributes["team"] == "edge"'}]}
    body = {
        "yaml": FILES["edge.yaml"],
        "tests": [passes, {"name": "fails", **LOG, "expected": ""}],
        "max_mutants": sizes.either(1, 4),
    }
    asked, told = both(cli, "/testing/coverage", body)

    assert json.dumps(told["result"], indent=1) == json.dumps(asked["result"], indent=1)
    assert asked["result"]["killed"] > 0


UPGRADED = """\
receivers: {filelog: {include: [/x]}}
processors: {batch: {timeot: 5s}, transform: {log_statements: ['set(log.body, "${env:TEAM}")']}}
exporters: {otlphttp: {endpoint: "http://x"}, debug: {}}
service: {pipelines: {logs: {receivers: [filelog], processors: [transform], exporters: [otlphttp, debug]}}}
"""
WITH_A_FILE_AND_A_GATE = ["--file", "/etc/team=team.txt", "--feature-gate", "transform.flatten.logs"]
ALL_UPGRADES = [
    ["check", "upgraded.yaml", "edge.yaml", "not-yaml.yaml", "--to", "0.158.0", "--json", "--env", "TEAM=edge"],
    ["check", "upgraded.yaml", "--to", "0.139.0", "--from", "0.158.0"],
    ["check", "edge.yaml", "--to", "0.1.0"],
    ["check", "edge.yaml", "--to", "0.139.0", "--from", "0.1.0"],
    ["check", "costly.yaml", "empty.yaml", "--to", "0.158.0"],
    ["fix", "upgraded.yaml", "--to", "0.158.0", "--dry-run"],
    ["bisect", "edge.yaml", "--json"],
    ["check", "filed.yaml", "gated.yaml", "--to", "0.158.0", "--json", *WITH_A_FILE_AND_A_GATE],
]
# On each change a check of several files, one of no version that is installed, costly texts, and a bisection.
UPGRADES = sizes.either(ALL_UPGRADES[::2], ALL_UPGRADES)


@pytest.mark.full
def test_a_local_upgrade_check_says_what_the_service_says(cli: Cli) -> None:
    costly = "a: &a [" + "x, " * 30 + "]\n" + "".join(f"{n}: &{n} [{', '.join(['*a'] * 30)}]\n" for n in "bcdefgh")
    for name, text in {**FILES, "upgraded.yaml": UPGRADED, "costly.yaml": costly, "empty.yaml": ""}.items():
        cli.write(name, text)
    with ThreadPoolExecutor(2) as pool:
        done = [
            *pool.map(lambda one: (cli.run("upgrade", *one), cli.run("upgrade", *one, "--local", **ALONE)), UPGRADES)
        ]

    # Each names the way to a version in its own words.
    ways = r"(Collector version .* is not installed; installed: [0-9., ]+): .*"
    for command, (asked, local) in zip(UPGRADES, done, strict=True):
        told = [(one.code, one.out, re.sub(ways, r"\1", one.err)) for one in (local, asked)]
        assert told[0] == told[1], command
        assert "Traceback" not in local.err
    assert '"from": "filelog"' in done[0][1].out, done[0]


def both(cli: Cli, path: str, body: Any) -> tuple[Any, Any]:
    """A job of the service, and of this machine, when they have ended."""
    with cli.api() as api, closing(LocalApi()) as local, pytest.MonkeyPatch.context() as environment:
        environment.setenv("HEADGATE_COLLECTORS_DIR", COLLECTORS["HEADGATE_COLLECTORS_DIR"])
        started = api.post(path, json=body).raise_for_status().json()
        here = local.create(PlainAnswer, path, body)
        while (ended := api.get(f"{path}/{started['id']}").json())["status"] in ("Queued", "Running"):
            time.sleep(0.2)
    assert ended["result"], ended
    return tuple(json.loads(plain(json.dumps(one, indent=1))) for one in (ended, here))


def same(told: Any, asked: Any) -> None:
    """Byte for byte, but for what is rounded by chance."""
    for one, other in zip(told["tests"], asked["tests"], strict=True):
        for side in ("left", "right"):
            if side in one:
                one[side]["seconds"] = other[side]["seconds"] = 0
        one["seconds"] = other["seconds"] = 0
        assert json.dumps(one, indent=1) == json.dumps(other, indent=1)
    assert json.dumps(told, indent=1) == json.dumps(asked, indent=1)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["stored"], "--local runs a file"),
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
