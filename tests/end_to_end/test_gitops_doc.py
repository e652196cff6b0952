"""docs/gitops.md: the first folder, line by line as it stands."""

import pytest
import yaml

from headgate_cli.apply import wanted
from tests.support.cli_support import Cli
from tests.support.service import ROOT
from tests.support.transcript import blocks, plain, section, shell, transcript

pytestmark = pytest.mark.end_to_end

WRITTEN = transcript(section("docs/gitops.md", "## The first folder"))


@pytest.mark.full
def test_the_first_folder_is_applied_as_it_is_written(cli: Cli) -> None:
    shown = shell([command for command, _ in WRITTEN], cli.url, cli.token, cli.folder)

    for (command, expected), said in zip(WRITTEN, shown, strict=True):
        assert plain(said) == plain(expected), command


def test_the_files_that_are_shown_can_be_applied(cli: Cli) -> None:
    shown = blocks(section("docs/gitops.md", "## What a folder holds"), "yaml")
    for name, text in zip(("apply.yaml", "fleets/servers.yaml"), shown, strict=True):
        cli.write(f"all/{name}", text)
    for name in ("shop", "attempt"):
        cli.write(f"all/configurations/{name}.yaml", "")
    found = wanted.read(cli.folder / "all")

    assert (found.configurations["shop"].publish, found.configurations["attempt"].publish) == (True, False)
    assert set(found.fleets["servers"].groups) == {"Default", "web"}


def test_the_workflow_applies_the_folder_of_the_page() -> None:
    (workflow,) = blocks(section("docs/gitops.md", "## In a pipeline"), "yaml")
    jobs = yaml.safe_load(workflow)["jobs"]
    action = yaml.safe_load((ROOT / "check" / "action.yml").read_text())
    (used,) = [step["with"] for step in jobs["check"]["steps"] if "headgate/check" in step.get("uses", "")]

    assert set(used) <= set(action["inputs"])
    assert any("apply -f organization --prune --yes" in step.get("run", "") for step in jobs["apply"]["steps"])
