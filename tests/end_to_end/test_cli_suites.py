"""`headgate test suite` on the running service, in a terminal and with configurations of the gallery."""

import json
import shutil
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from headgate.settings import settings
from tests.support.cli_support import Cli, until_end
from tests.support.service import ROOT

pytestmark = pytest.mark.end_to_end

CONFIGURATION = """\
receivers: {filelog: {include: [/var/log/app.log]}}
exporters: {debug: {}}
service: {pipelines: {logs: {receivers: [filelog], exporters: [debug]}}}
"""


def what(result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The result without what is another each time."""
    tests = [{**test, "stderr": "", "seconds": 0} for test in result["tests"]]
    return {**result, "jobs": [], "tests": tests}


def test_of_several_configurations_only_the_broken_one_fails(cli: Cli) -> None:
    for slug in ("log-noise-filter", "multi-tenant-routing", "pii-redaction"):
        flow = ROOT / "flows" / slug
        tests = cli.folder / f"{slug}.tests"
        tests.mkdir()
        shutil.copy(flow / "collector.yaml", cli.folder / f"{slug}.yaml")
        shutil.copy(flow / "sample.json", tests / "sample.json")
        asked = yaml.safe_load((flow / "flow.yaml").read_text())["test"]
        rules = yaml.safe_load((flow / "rules.yaml").read_text())["rules"]
        test = {"target_pipeline": asked["target_pipeline"], "sample_file": "sample.json", "rules": rules}
        (tests / "gallery.yaml").write_text(yaml.safe_dump(test))
    broken = cli.folder / "multi-tenant-routing.yaml"
    broken.write_text(broken.read_text().replace('== "tenant-b"', '== "tenant-x"'))
    done = cli.run("test", "suite", "--json")

    results = json.loads(done.out)
    assert {one["file"]: one["passed"] for one in results} == {
        "log-noise-filter.yaml": True,
        "multi-tenant-routing.yaml": False,
        "pii-redaction.yaml": True,
    }
    assert done.code == 1
    assert "gallery.yaml:" in done.err
    assert "tenant B goes its way (count, min 1, max 1): 0 of 6 log records matched" in done.err
    assert done.err.splitlines()[-1] == "2 tests passed, 1 failed"


def test_an_expected_output_is_renewed_only_after_a_yes(cli: Cli) -> None:
    cli.write("edge.yaml", CONFIGURATION)
    cli.write("edge.tests/one.yaml", "sample: one\nexpected_file: one.json\nduration_seconds: 1\n")
    for answer, code in (("n", 1), ("y", 0)):
        child = cli.terminal("test", "suite", "--update")
        child.expect(r"0 of 1 configurations tested")
        child.expect(r"\+ added logs \"one\"")
        child.expect(r"Write 1 expected output\? \[y/N\]: ")
        child.sendline(answer)
        assert until_end(child)[0] == code
        assert (cli.folder / "edge.tests" / "one.json").exists() == (answer == "y")

    assert cli.run("test", "suite").code == 0


def test_a_collector_of_this_machine_gives_the_same_results(cli: Cli) -> None:
    cli.write("edge.yaml", CONFIGURATION)
    rule = "{name: short, condition: 'log.body == \"one\"', expect: all}"
    cli.write("edge.tests/one.yaml", f"sample: one\nrules: [{rule}]\nexpected_file: one.json\n")
    cli.write("edge.tests/two.yaml", f"sample: two\nrules: [{rule}]\n")
    alone = {"HEADGATE_URL": "", "SERVICE_API_TOKEN": "", "HEADGATE_COLLECTORS_DIR": settings().collectors_dir}

    assert cli.run("test", "suite", "--local", "--update", "--yes", **alone).code == 1
    local = cli.run("test", "suite", "--local", "--json", **alone)
    served = cli.run("test", "suite", "--json")
    assert (local.code, served.code) == (1, 1)
    assert [what(one) for one in local.json] == [what(one) for one in served.json]
    pushed = cli.run("test", "suite", "--local", "--pushed", **alone)
    assert (pushed.code, "leave out --local" in pushed.err) == (2, True)


def test_an_interrupt_says_that_the_tests_continue(cli: Cli) -> None:
    cli.write("edge.yaml", CONFIGURATION)
    cli.write("edge.tests/one.yaml", "sample: one\nexpected: ''\n")
    child = cli.terminal("test", "suite", "edge.yaml")
    child.expect("0 of 1 configurations tested")
    child.sendintr()
    code, said = until_end(child)

    assert (code, "The tests continue on the server (job_" in said) == (130, True)
