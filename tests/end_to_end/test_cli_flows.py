"""`headgate flow use` with the service: the draft has the flow's tests, and a pull writes them beside it."""

from pathlib import Path

import pytest
import yaml

from headgate.flows import source
from tests.support.cli_support import Cli

pytestmark = pytest.mark.end_to_end

FLOWS = Path(__file__).parents[2] / "flows"


def test_a_flow_comes_with_the_test_that_proves_it(cli: Cli) -> None:
    flow = source.read(FLOWS / "nginx")
    configuration_id = cli.ok("flow", "use", "nginx", "--name", "edge").strip()
    cli.ok("config", "pull", configuration_id)
    written = yaml.safe_load((cli.folder / "edge.tests" / "nginx.yaml").read_text())
    pushed = cli.run("config", "push", ".", "--dry-run")
    tested = cli.run("test", "suite", "edge.yaml")

    assert written["target_pipeline"] == flow.file.test.target_pipeline
    assert [rule["name"] for rule in written["rules"]] == [rule.name for rule in flow.rules]
    assert (pushed.code, "no change" in pushed.err) == (0, True), pushed
    assert tested.code == 0, tested
