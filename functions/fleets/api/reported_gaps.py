"""Gaps of a reported configuration: what a collector runs with, and its own extension leaves out or cannot write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import yaml

from headgate.configurations.documents import Unreadable, document, serialized
from headgate_engine.upgrades.model import UpgradeReport, Verdict
from headgate_engine.validation.findings import ListedFinding
from headgate_engine.wire.checks import ValidationResult

CODE: Final = "left_out_of_report"
_MOST_ROUNDS: Final = 3
_OF_TEXT: Final = ("collector", "lint")
_RUNS: Final = "the host's collector runs with this place, so that its report leaves out or changes something here"
_WAY_OUT: Final = "Take this place from the file on the host"


def closed(text: str, check: Callable[[str], ValidationResult]) -> tuple[str, ValidationResult]:
    """The text that a running collector of the same version reports, and its verdict, in which gaps are warnings.

    An empty value that the collector refuses was not written: the report has it because it has all settings.
    """
    result = check(text)
    for _ in range(_MOST_ROUNDS):
        without = _without_empty(text, [each.component_path for each in _errors(result.findings)])
        if without is None:
            break
        text, result = without, check(without)
    gaps = {id(each) for each in _errors(result.findings)}
    result.findings = [_gap(each) if id(each) in gaps else each for each in result.findings]
    if gaps and not any(each.severity == "error" and each.source in _OF_TEXT for each in result.findings):
        result.valid, result.errors = True, []
    return text, result


def places(result: ValidationResult) -> list[str]:
    """The places that the report leaves out, each once."""
    return list(dict.fromkeys(each.component_path for each in result.findings if each.code == CODE))


def without_gaps(report: UpgradeReport, left_out: Sequence[str]) -> UpgradeReport:
    """The comparison without the errors of components in which the report has gaps."""
    components = {_component(place) for place in left_out}
    if not components:
        return report
    verdict = report.verdict.model_copy(
        update={
            "source": _reduced(report.verdict.source, components),
            "target": _reduced(report.verdict.target, components),
        }
    )
    new = [each for each in report.new_errors if _component(each.component_path) not in components]
    return report.model_copy(update={"verdict": verdict, "new_errors": new})


def _reduced(verdict: Verdict, components: set[str]) -> Verdict:
    errors = [each for each in verdict.errors if _component(each.component_path) not in components]
    return replace(verdict, errors=errors, valid=True if verdict.valid is False and not errors else verdict.valid)


def _component(path: str) -> str:
    return "::".join(path.split("::")[:2])


def _errors(findings: Sequence[ListedFinding]) -> Iterator[ListedFinding]:
    """Errors about a place of the text.

    What has no place, such as a text that is not YAML, and components that the build here lacks, stay errors.
    """
    return (
        each
        for each in findings
        if each.severity == "error"
        and each.source in _OF_TEXT
        and each.component_path
        and each.code != "unknown_component"
    )


def _gap(finding: ListedFinding) -> ListedFinding:
    return replace(finding, severity="warning", code=CODE, message=f"{finding.message}: {_RUNS}", way_out=_WAY_OUT)


def _without_empty(text: str, refused: Sequence[str]) -> str | None:
    """The text without the refused places whose value is empty. Returns None if there are none."""
    try:
        root = document(text)
    except Unreadable:
        return None
    removed = [path for path in refused if _removed(root, path.split("::"))]
    return serialized(root) if root and removed else None


def _removed(node: yaml.Node | None, path: Sequence[str]) -> bool:
    """Take an empty value out of its mapping. False if there is none at the place."""
    for part in path[:-1]:
        if isinstance(node, yaml.MappingNode):
            node = next((value for key, value in node.value if key.value == part), None)
        elif isinstance(node, yaml.SequenceNode) and part.isdigit() and int(part) < len(node.value):
            node = node.value[int(part)]
        else:
            return False
    if not isinstance(node, yaml.MappingNode):
        return False
    left = [pair for pair in node.value if pair[0].value != path[-1] or pair[1].value]
    removes = len(left) < len(node.value)
    node.value = left
    return removes
