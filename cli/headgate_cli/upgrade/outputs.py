"""Outputs of the pipelines on both versions, by the tests of a file or of a stored version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from headgate_cli.api import Api, Entity
from headgate_cli.comparisons import report
from headgate_cli.comparisons.run import Compared
from headgate_cli.comparisons.run import run as compare
from headgate_cli.comparisons.sides import Pair, SideToCompare
from headgate_cli.safe_files import STDIN_NAME
from headgate_cli.shapes import DeploymentOut, UpgradeReport
from headgate_cli.suites import files
from headgate_cli.untrusted import one_line
from headgate_cli.upgrade.targets import UpgradeTarget


def compared(api: Api, target: UpgradeTarget, answer: UpgradeReport) -> Compared | None:
    """The comparison of a text with itself on both versions of its report; None if it has no tests here.

    Raises what the comparison does, and Failed for a file of tests that is wrong.
    """
    tests = _tests(target)
    if target.is_file and not tests:
        return None
    side = SideToCompare(
        target.label, {"yaml": target.content} if target.is_file else _stored(api, target.named), tests
    )
    pair = Pair(target.label, side.on(answer["from"]), side.on(answer["to"]), tests)
    return compare(api, [pair], ())[0]


def lines(outputs: Compared) -> Iterator[str]:
    """The comparison for people: its summary, and what differs in each test."""
    yield f"  outputs: {report.summary([outputs])}"
    yield from (f"  {line}" for line in [*report.as_text(outputs)][1:])


def way_to_compare(target: UpgradeTarget, answer: UpgradeReport) -> str:
    """The sentence that outputs were not compared, with the command that compares them."""
    named, to = one_line(target.arguments), one_line(answer["to"])
    not_compared = "what the pipelines put out was not compared"
    if answer.get("inside"):
        return f"{not_compared}: take the configuration out with `headgate config import`, and test that"
    if target.label == STDIN_NAME:
        return f"{not_compared}: save the text to a file, and see `headgate test diff --help`"
    if not target.is_file or _has_tests(target):
        return f"{not_compared}: `headgate upgrade check {named} --to {to} --tests` does, if it has tests"
    versions = " ".join(f"--collector-version {one_line(version)}" for version in (answer["from"], answer["to"]))
    return f"{not_compared}: `headgate test diff {named} --sample SAMPLE --pipeline PIPELINE {versions}` does"


def _stored(api: Api, named: Entity) -> Entity:
    """The version that is named, or that the named group runs."""
    if "deployment_id" in named:
        path = f"/fleets/{named['fleet_id']}/deployments/{named['deployment_id']}"
        named = dict(api.get(DeploymentOut, path))
    return {name: named.get(name) for name in ("configuration_id", "version_number")}


def _tests(target: UpgradeTarget) -> list[files.FileTest]:
    # An expected output need not be there: it is not compared with.
    return list(files.beside(Path(target.label), target.content, may_await=True)) if _has_tests(target) else []


def _has_tests(target: UpgradeTarget) -> bool:
    return target.is_file and target.label != STDIN_NAME and files.folder_of(Path(target.label)).is_dir()
