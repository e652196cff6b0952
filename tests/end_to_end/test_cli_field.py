"""What people's configurations need of the command line: fixes, configurations inside of another text, upgrades."""

import os
from pathlib import Path
from typing import Final

import pytest

from headgate_local.options import read_options
from tests.support.cli_support import EDGE, Cli, Done
from tests.support.second_version import needs_second_version, second_version

pytestmark = pytest.mark.end_to_end

FIELD: Final = Path(__file__).parent.parent / "contract" / "field"
ALONE: Final = {
    "HEADGATE_COLLECTORS_DIR": str(read_options(os.environ).collectors),
    "HEADGATE_URL": "https://headgate.invalid",
    "SERVICE_API_TOKEN": "",
}


def text_of(name: str) -> str:
    return (FIELD / name / "config.yaml").read_text()


def _locally(cli: Cli, *arguments: str) -> Done:
    return cli.run(*arguments, "--local", **ALONE)


STATEMENT: Final = '- set(log.attributes["team"], "edge")'
# OTTL that YAML ends early, or reads as a mapping, in the places where people write it.
CUT: Final = {
    "a colon in a statement": (STATEMENT, '- set(log.attributes["a"], "app: b")'),
    "a comment in a statement": (STATEMENT, '- set(log.attributes["a"], "b #1")'),
    "a colon in the value of a key": (
        "log_statements:\n      " + STATEMENT,
        "log_statements:\n      - context: log\n        statements:\n"
        '          - set(attributes["a"], "x: y") where body == "z: 1"',
    ),
    "an apostrophe": (STATEMENT, '- set(log.attributes["a"], "it\'s: b")'),
    "a mapping by its last colon": (STATEMENT, '- set(log.attributes["a"], "b"):'),
}


def test_fix_puts_what_yaml_ended_into_quotes(cli: Cli) -> None:
    files = [f"{number}.yaml" for number in range(len(CUT))]
    for file, (written, by) in zip(files, CUT.values(), strict=True):
        cli.write(file, EDGE.replace(written, by))
    cli.write("map.yaml", text_of("72-ottl-map-in-list"))
    # In quotes it is a statement with a colon too many, which the parser tells.
    wrong = ["map.yaml", *(file for file, (_, by) in zip(files, CUT.values(), strict=True) if by.endswith('"):'))]

    before = _locally(cli, "validate", "--json", *files, "map.yaml")
    told = _locally(cli, "validate", files[0])
    fixed = _locally(cli, "lint", "--fix", *files, "map.yaml")
    after = _locally(cli, "validate", "--json", *files, "map.yaml")

    assert [one["valid"] for one in before.json] == [False] * (len(files) + 1)
    assert "`headgate validate --fix` mends this" in told.out
    assert fixed.err.count(": fixed line") == len(files) + 1
    assert sorted(str(one["file"]) for one in after.json if not one["valid"]) == sorted(wrong)
    for file, (written, by) in zip(files, CUT.values(), strict=True):
        expected = EDGE.replace(written, by).splitlines()
        changed = [line for line in (cli.folder / file).read_text().splitlines() if line not in expected]
        assert len(changed) == 1, changed


SURPRISES: Final = """\
receivers:
  otlp: {protocols: {grpc: {}}}
processors:
  attributes: {actions: [{key: a, value: 0777, action: insert}]}
exporters: {debug: {}}
service:
  pipelines:
    logs: {receivers: [otlp], processors: [attributes], exporters: [debug]}
"""


def test_fix_leaves_warnings_and_files_without_errors(cli: Cli) -> None:
    cli.write("a.yaml", SURPRISES)

    done = _locally(cli, "validate", "--fix", "a.yaml")

    assert (done.code, (cli.folder / "a.yaml").read_text()) == (0, SURPRISES)
    assert "changed_value" in done.out
    assert "--fix changes files" in _locally(cli, "validate", "--fix", "-").err


@pytest.mark.full
def test_on_host_ends_by_what_a_host_makes_of_it(cli: Cli) -> None:
    cli.write("region.yaml", text_of("86-aws-region-from-environment"))
    cli.write("token.yaml", text_of("74-header-crlf-token"))
    cli.write("token", "abc")

    plain, on_host = (_locally(cli, "validate", *more, "region.yaml") for more in ([], ["--on-host"]))
    unknown = _locally(cli, "validate", "--on-host", "region.yaml", "token.yaml")
    given = ["--env", "AWS_REGION=eu-west-1", "--file", "/run/secrets/token=token"]
    both = _locally(cli, "validate", *given, "region.yaml", "token.yaml")

    assert (plain.code, on_host.code, unknown.code, both.code) == (1, 0, 1, 0)
    assert "--on-host accepts it" in plain.err
    assert "give what stands in ${file:NAME} with --file NAME=PATH" in unknown.err
    assert _locally(cli, "validate", "--file", "token", "token.yaml").code == 2


CONFIG_MAP: Final = """\
apiVersion: v1
kind: ConfigMap
metadata: {{name: edge}}
data:
  relay: |
{text}"""


def test_a_configuration_inside_is_pushed_without_what_is_around_it(cli: Cli) -> None:
    cli.write("edge.yaml", CONFIG_MAP.format(text="".join(f"    {line}\n" for line in EDGE.splitlines())))

    refused = cli.run("config", "push", "edge.yaml")
    pushed = cli.ok("config", "push", "edge.yaml", "--unwrap")
    again = cli.ok("config", "push", "edge.yaml", "--unwrap")

    assert refused.code == 1
    assert "To save the configuration inside, without what is around it: --unwrap" in refused.err
    assert "edge v1" in pushed
    assert "unchanged" in again
    assert cli.ok("config", "show", "edge", "--yaml") == EDGE
    cli.write("other.yaml", text_of("12-custom-resource-pasted"))
    assert "taking the configuration under spec.config" in cli.run("config", "create", "other.yaml", "--unwrap").err


@pytest.mark.full
@needs_second_version
def test_an_upgrade_runs_the_tests_on_both_collectors(cli: Cli) -> None:
    told = {
        "30-tailsampling-invert-match": "use a policy of type drop",
        "51-latency-threshold-exclusive": "threshold_ms of a latency policy is exclusive",
    }
    files = [f"{name}.yaml" for name in told]
    check = ("upgrade", "check", *files, "--to", str(second_version()))
    for name, file in zip(told, files, strict=True):
        cli.write(file, text_of(name))

    without = _locally(cli, *check)
    rule = "rules: [{name: some come out, condition: 'true', expect: count, min: 0, max: 99}]\n"
    for name in told:
        (cli.folder / f"{name}.tests").mkdir()
        cli.write(f"{name}.tests/sample.json", (FIELD / name / "sample.json").read_text())
        test = f"sample_file: sample.json\nsignal_type: traces\nduration_seconds: 4\n{rule}"
        cli.write(f"{name}.tests/traces.yaml", test)
    done = _locally(cli, *check, "--tests", "--strict")

    assert [words in without.out for words in told.values()] == [True, True]
    assert without.err.count("what the pipelines put out was not compared") == 2
    assert done.out.count("DIFFERS") == 2, done
    # The texts work on both, and --strict lets nothing differ.
    assert (without.code, done.code) == (0, 1)
