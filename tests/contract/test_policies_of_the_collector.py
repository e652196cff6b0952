"""`policies`, `policy_list` and `policy_rules` of every installed collector's check process."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from headgate.checker import Checker, Refused
from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from headgate_engine.collector import by_age
from scripts.site import policies as policy_page
from scripts.site.staging import DOCS, POLICIES
from tests.support.askers import ASKER
from tests.support.second_version import versions_in_turn

pytestmark = [pytest.mark.contract, pytest.mark.collector, pytest.mark.sized]

FLOWS = Path(__file__).resolve().parents[2] / "flows"
TODAY = "2026-11-22"
# What the flows do on purpose. A finding that is not here is a mistake of the flow, or a false alarm of the policy.
ON_PURPOSE = {
    "listens_everywhere",  # they run in containers
    "deprecated_name",  # they are written for the default version
    "no_sending_queue",  # s3-archive-routing: the uploader's default
}


@pytest.fixture(scope="module", params=versions_in_turn(3))
def version(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture(scope="module")
def checker(version: str) -> Iterator[Checker]:
    opened = Checker(Installed(Path(settings().collectors_dir)), version, Limits(processes=1))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def policies(checker: Checker) -> list[dict[str, Any]]:
    listed = checker.call("policy_list", {}, asker=ASKER)["policies"]
    assert isinstance(listed, list)
    return listed


def found(checker: Checker, text: str, **fields: object) -> dict[str, Any]:
    return checker.call("policies", {"yaml": text, "env": {}, "today": TODAY, **fields}, asker=ASKER)


def codes(checker: Checker, text: str) -> set[str]:
    return {finding["code"] for finding in found(checker, text)["findings"]}


def test_only_the_failing_example_has_the_finding_and_both_are_valid(
    checker: Checker, version: str, policies: list[dict[str, Any]]
) -> None:
    validated = 0
    for policy in policies:
        for kind in ("failing", "passing"):
            text = policy[kind]
            if kind == "failing" and policy["until"] and by_age(version) >= by_age(policy["until"]):
                assert policy["code"] not in codes(checker, text), policy["code"]
                continue  # this release refuses it itself, or does otherwise
            if not is_valid(checker, text):
                continue  # this build lacks a component, or this release has another name
            validated += 1
            # A release without renamed or deprecated components has nothing to find.
            expected = {policy["code"]} if kind == "failing" else set()
            if not policy["code"].startswith("deprecated_"):
                assert codes(checker, text) & {policy["code"]} == expected, (policy["code"], kind)

    assert validated > len(policies)


def is_valid(checker: Checker, text: str) -> bool:
    try:
        verdict = checker.call("validate", {"yaml": text, "env": {}}, asker=ASKER)
    except Refused as refused:
        if refused.code != "component_not_in_build":
            raise
        return False
    errors = verdict["errors"]
    assert isinstance(errors, list)
    unknown = {error["code"] for error in errors}
    assert verdict["valid"] or unknown <= {"unknown_component", "undefined_reference"}, (verdict, text)
    return bool(verdict["valid"])


def test_the_gallery_follows_the_policies(checker: Checker) -> None:
    mistakes = {
        folder.name: sorted(codes(checker, (folder / "collector.yaml").read_text()) - ON_PURPOSE)
        for folder in sorted(FLOWS.iterdir())
        if folder.is_dir()
    }

    assert {flow: listed for flow, listed in mistakes.items() if listed} == {}
    assert len(mistakes) > 30


def test_the_page_lists_the_policies(version: str, policies: list[dict[str, Any]]) -> None:
    listed = policy_page.listed(version)

    assert re.findall(r"^### (.+)$", listed, re.MULTILINE) == [policy["code"] for policy in policies]
    assert all(policy["failing"].rstrip() in listed and policy["passing"].rstrip() in listed for policy in policies)


def test_the_rules_of_the_page_do_what_it_says(checker: Checker) -> None:
    (printed,) = re.findall(r"^```yaml\n(rules:\n.*?)^```", (DOCS / POLICIES).read_text(), re.MULTILINE | re.DOTALL)
    rules = yaml.safe_load(printed)["rules"]

    results = checker.call("policy_rules", {"rules": rules}, asker=ASKER)["rules"]

    assert isinstance(results, list)
    assert [result["error"] for result in results] == [None] * len(rules)
    assert all(
        example["as_expected"] and example["error"] is None for result in results for example in result["examples"]
    )
    assert [len(result["examples"]) for result in results] == [len(rule["examples"]) for rule in rules]


def test_a_text_that_is_not_a_configuration_is_refused_as_by_the_linter(checker: Checker) -> None:
    with pytest.raises(Refused, match="yaml_syntax"):
        found(checker, "receivers: [")
    with pytest.raises(Refused, match=r"bad_request.*2026-11-22"):
        found(checker, "receivers: {}", today="tomorrow")


def test_costly_rules_fail_in_the_process_that_goes_on(checker: Checker) -> None:
    checker.call("policy_list", {}, asker=ASKER)
    before = checker.pids()
    text = f"x: [{'y,' * 2_000}]\n"
    costly = {"expression": "config.x.all(a, config.x.all(b, config.x.all(c, a + b != c)))", "message": "m"}
    rules = [{**costly, "name": f"costly-{n}", "severity": "error"} for n in range(100)]

    result = found(checker, text, rules=rules)

    assert len(result["failed_rules"]) == 100
    assert "costs too much" in result["failed_rules"][0]["error"]
    assert checker.pids() == before
