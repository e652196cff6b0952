"""Findings of a check, as one list in the order of the text, in which one mistake is one entry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from headgate_engine.entries import Entries
from headgate_engine.policies.model import PolicyResult
from headgate_engine.validation.model import (
    Cause,
    Edit,
    Finding,
    LintItem,
    LintResult,
    Location,
    StartResult,
    ValidationResult,
)
from headgate_engine.validation.together import Ends

Severity = Literal["error", "warning", "note"]
Source = Literal["collector", "start", "lint", "policy", "schema"]

_OF_POLICIES: Final[dict[str, Severity]] = {"error": "error", "warning": "warning", "info": "note"}
RANK: Final[dict[Severity, int]] = {"error": 0, "warning": 1, "note": 2}
# Each counts lines and columns in a text of its own.
_POSITION: Final = re.compile(r"\b\d+:\d+\b")
_MEND: Final = "An Admin mends the rule with `headgate policy set`"
_FILE: Final = "No file is read here: send its text in files (--file NAME=PATH), for ${file:NAME}"
NOT_CHECKED: Final = "not_checked"
# Errors that the linter may know the place of.
_OF_A_VALUE: Final = ("invalid_value", "start_failed")
# Errors that the host decides.
ON_HOST: Final = ("depends_on_host", "provider_not_allowed")


@dataclass(frozen=True, slots=True)
class ListedFinding:
    """One finding about a text, whoever found it.

    The place is from 1, in characters; `end_column` is behind the last one. It is None where it is not known. `fix`
    mends the text, and `cause` is what it comes from, None where that is not known.
    """

    severity: Severity
    source: Source
    code: str
    message: str
    way_out: str = ""
    component_path: str = ""
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    fix: Entries[Edit] | None = None
    cause: Cause | None = None


def listed(
    verdict: ValidationResult,
    lint: LintResult | None,
    policies: PolicyResult | None,
    not_checked: Sequence[tuple[Source, str]],
    ends: Ends,
    start: StartResult | None = None,
) -> list[ListedFinding]:
    """All findings. Parts that were not checked are told without a place: nothing that is not said counts as right."""
    wrapped = verdict.wrapped
    errors = [*verdict.errors, *(wrapped.errors if wrapped else ())]
    warnings = [*verdict.warnings, *(wrapped.warnings if wrapped else ())]
    linted = [item for item in lint.items if item.error] if lint else []
    findings = [
        *_of_collector(errors, "error", "collector", linted),
        *_of_collector(warnings, "warning", "collector", linted),
        *(_of_lint(lint, errors) if lint else ()),
        *(_of_policies(policies) if policies else ()),
        *_of_collector(start.findings if start else (), "error", "start", linted),
    ]
    # A text that is not YAML has neither lint nor policies, and says so.
    if not any(finding.code == "yaml_syntax" for finding in findings):
        findings += [
            ListedFinding("warning", source, NOT_CHECKED, f"Not checked: {reason}") for source, reason in not_checked
        ]
    unique = {(finding.line, finding.column, finding.code, finding.message): finding for finding in reversed(findings)}
    return [_with_end(finding, ends) for finding in sorted(unique.values(), key=_order)]


def _order(finding: ListedFinding) -> tuple[bool, int, int, int, str, str]:
    return (
        not finding.line,
        finding.line or 0,
        finding.column or 0,
        RANK[finding.severity],
        finding.code,
        finding.message,
    )


def _with_end(finding: ListedFinding, ends: Ends) -> ListedFinding:
    end = ends.get((finding.line or 0, finding.column or 0))
    return finding if end is None else replace(finding, end_line=end[0], end_column=end[1])


def _of_collector(
    findings: Sequence[Finding], severity: Severity, source: Source, linted: Sequence[LintItem]
) -> Iterator[ListedFinding]:
    """The findings without those that the linter tells of, at their own places."""
    for finding in findings:
        if any(_same(finding, item) for item in linted):
            continue
        on_host = finding.code in ON_HOST
        yield ListedFinding(
            "warning" if on_host else severity,
            source,
            "depends_on_host" if on_host else finding.code,
            finding.message,
            _FILE if finding.code == "provider_not_allowed" and finding.message.startswith("${file:") else "",
            component_path=finding.component_path,
            line=finding.line or None,
            column=finding.column or None,
            fix=finding.fix,
            cause=finding.cause,
        )


def _same(finding: Finding, item: LintItem) -> bool:
    """True if the linter reports the same about an expression of the component, at the expression's own place."""
    if finding.code not in _OF_A_VALUE or not finding.component_path or not item.error:
        return False
    if item.location.path.split("::")[:2] != finding.component_path.split("::")[:2]:
        return False
    if (finding.line, finding.column) == (item.location.line, item.location.column):
        return True
    said, linted = (_POSITION.sub("", message).strip() for message in (finding.message, item.error))
    return linted in said


def explained(item: LintItem, errors: Sequence[Finding]) -> LintItem:
    """The item in the words of the verdict's error about it, if that says where YAML ended the expression."""
    mended = _mended(item, errors)
    return replace(item, error=mended.message) if mended else item


def _mended(item: LintItem, errors: Sequence[Finding]) -> Finding | None:
    """The error about the item that has a fix."""
    return next((error for error in errors if error.fix and _same(error, item)), None)


def _of_lint(lint: LintResult, errors: Sequence[Finding]) -> Iterator[ListedFinding]:
    split = {(error.line, error.column) for error in errors if error.code == "wrong_type"}
    for item in lint.items:
        # The verdict on what YAML reads as a mapping says more.
        if item.error and (item.location.line, item.location.column) not in split:
            mended = _mended(item, errors)
            finding = _at(item.location, "error", "ottl", item.error, item.note or "")
            yield replace(finding, fix=mended.fix if mended else None)
        for note in item.notes:
            yield _at(item.location, "note", note.code, note.message, note.way_out)
    for skipped in lint.skipped:
        yield _at(skipped.location, "note", "ottl_skipped", f"Not linted: {skipped.reason}", "")


def _at(at: Location, severity: Severity, code: str, message: str, way_out: str) -> ListedFinding:
    return ListedFinding(severity, "lint", code, message, way_out, at.path, at.line or None, at.column or None)


def _of_policies(policies: PolicyResult) -> Iterator[ListedFinding]:
    """Those without a comment that suppresses them, comments that fail to, and rules that could not be evaluated."""
    for finding in policies.findings:
        if finding.suppressed is None:
            yield ListedFinding(
                _OF_POLICIES[finding.severity],
                "policy",
                finding.code,
                finding.message,
                finding.way_out,
                finding.component_path,
                finding.line,
                finding.column,
            )
    for comment in policies.suppressions:
        if comment.problem is not None:
            message = f"the comment for {comment.code}: {comment.problem}"
            yield ListedFinding("warning", "policy", "suppression", message, line=comment.line)
    for rule in policies.failed_rules:
        message = f"the rule could not be evaluated: {rule.error}"
        yield ListedFinding(_OF_POLICIES[rule.severity], "policy", rule.name, message, _MEND)
