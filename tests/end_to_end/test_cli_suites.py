"""`headgate test suite` on the running service, in a terminal and with configurations of the gallery."""

import json
import shutil

import pytest
import yaml

from headgate.foundation.settings import settings
from tests.support.cli_support import Cli, until_end
from tests.support.service import ROOT

pytestmark = pytest.mark.end_to_end

CONFIGURATION = """\
receivers: {filelog: {include: [/var/log/app.log]}}
exporters: {debug: {}}
service: {pipelines: {logs: {receivers: [filelog], exporters: [debug]}}}
"""


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


def test_a_collector_of_this_machine_runs_the_tests_of_files(cli: Cli) -> None:
    cli.write("edge.yaml", CONFIGURATION)
    cli.write("edge.tests/one.yaml", "sample: one\nexpected_file: one.json\n")
    alone = {"HEADGATE_URL": "", "SERVICE_API_TOKEN": "", "HEADGATE_COLLECTORS_DIR": settings().collectors_dir}

    assert cli.run("test", "suite", "--local", "--update", "--yes", **alone).code == 0
    assert cli.ok("test", "suite", "--local", **alone).startswith("edge.yaml: 1 test on collector ")
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
