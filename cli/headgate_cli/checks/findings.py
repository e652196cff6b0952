"""The errors, warnings and notes about a file, printed as compilers do, or for CI."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal
from urllib.parse import quote

import click

from headgate_cli import VERSION, shapes
from headgate_cli.output import cells, say
from headgate_cli.shaped import shaped
from headgate_cli.untrusted import one_line, printable, quoted

Severity = Literal["error", "warning", "note"]
Entry = shapes.Finding | shapes.ListedFinding | shapes.PolicyFinding

# A policy's `info`, and what a newer server may say, are notes.
_SEVERITIES: Final[Mapping[str, Severity]] = {"error": "error", "warning": "warning"}
_COLOURS: Final = {"error": "red", "warning": "yellow", "note": "cyan"}
# GitHub calls a note a notice.
_GITHUB: Final = {"error": "error", "warning": "warning", "note": "notice"}
# What the service calls a part of the check that could not be had.
NOT_CHECKED: Final = "not_checked"
# The policy that finds secrets: its lines are not printed.
_HIDES_LINE: Final = "secret_in_text"
GIVE_FILES: Final = "give what stands in ${file:NAME} with --file NAME=PATH"
_TAB: Final = 4
# The line ends of YAML 1.1, as the server counts them; Python's splitlines knows more.
LINE_END: Final = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
# At least so many columns of a long line are shown around the caret.
_NARROWEST: Final = 40
_SARIF_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


@dataclass(frozen=True, slots=True)
class Finding:
    """`line` and `column` count from 1, in Unicode characters; 0 if the place is not known.

    `suppressed` is the reason of the comment that suppresses it, None if there is none. `fixable` is set if the server
    knows a change of the text that mends it.
    """

    file: str
    severity: Severity
    code: str
    message: str
    path: str = ""
    line: int = 0
    column: int = 0
    way_out: str = ""
    suppressed: str | None = None
    source: str = ""
    fixable: bool = False

    @property
    def whole(self) -> str:
        """The message with the way out."""
        return f"{self.message.rstrip('.')}. {self.way_out}" if self.way_out else self.message


def of_validation(file: str, answer: shapes.ValidationResult) -> list[Finding]:
    """The errors and warnings of an answer of POST /validate."""
    errors = [finding_of(file, "error", entry) for entry in answer["errors"]]
    return errors + [finding_of(file, "warning", entry) for entry in answer["warnings"]]


def finding_of(file: str, severity: Severity, entry: Entry) -> Finding:
    """A finding of an entry in an answer's list."""
    place = entry.get("component_path") or "", entry.get("line") or 0, entry.get("column") or 0
    return Finding(file, severity, entry["code"], entry["message"], *place, fixable=bool(entry.get("fix")))


def of_start(file: str, answer: shapes.ValidationResult) -> list[Finding]:
    """The findings of starting the components, of an answer of POST /validate?start=true."""
    return [finding for finding in of_check(file, answer) if finding.source == "start"]


def problem_of(part: object) -> shapes.PartProblem | None:
    """The reason why a part of an answer could not be had; None if it is there."""
    if not isinstance(part, dict) or not isinstance(part.get("problem"), dict):
        return None
    return shaped(shapes.PartNotChecked, part)["problem"]


def say_not_started(file: str, answer: shapes.ValidationResult) -> None:
    """Warn if the components could not be started: an outage of this stage stops nothing."""
    if problem := problem_of(answer.get("start")):
        warning = click.style("warning:", fg="yellow", bold=True)
        say(f"{warning} {one_line(file)} was not started: {one_line(problem['detail'])}")


def of_lint(file: str, answer: Linted, *, notes: bool) -> list[Finding]:
    """The errors of the linter's answer, what expressions probably do not mean, and other notes if `notes`.

    Skipped expressions are errors where nothing else is wrong and the text is not right all the same.
    """
    reported = [finding_of(file, "error", entry) for entry in answer.syntax]
    for item in answer.result["items"]:
        at = _place(item["location"])
        error, note = item.get("error"), item.get("note") or ""
        if error:
            reported.append(Finding(file, "error", "ottl", error, *at, way_out=note))
        elif note and notes:
            reported.append(Finding(file, "note", "ottl_note", note, *at))
        for remark in item.get("notes") or ():
            finding = Finding(file, "note", remark["code"], remark["message"], *at, way_out=remark["way_out"])
            reported.append(finding)
    if not answer.result["valid"] and not any(finding.severity == "error" for finding in reported):
        for skipped in answer.result["skipped"]:
            message = f"could not be judged: {skipped['reason']}"
            reported.append(Finding(file, "error", "ottl_skipped", message, *_place(skipped["location"])))
    return reported


def _place(location: shapes.Location) -> tuple[str, int, int]:
    return location["path"], location.get("line") or 0, location.get("column") or 0


def of_check(file: str, answer: shapes.ValidationResult) -> list[Finding]:
    """The findings of an answer of POST /validate, and behind them what comments suppress: code scanning lists these.

    Parts that were not checked are not among them.
    """
    reported = [
        replace(
            finding_of(file, _SEVERITIES.get(entry["severity"], "note"), entry),
            way_out=entry.get("way_out") or "",
            source=entry["source"],
        )
        for entry in answer["findings"]
        if entry["code"] != NOT_CHECKED
    ]
    policies = policies_of(answer)
    for broken in policies["findings"] if policies else ():
        if broken["suppressed"]:
            finding = finding_of(file, _SEVERITIES.get(broken["severity"], "note"), broken)
            way_out, reason = broken["way_out"], broken["suppressed"]["reason"]
            reported.append(replace(finding, way_out=way_out, suppressed=reason))
    return reported


def policies_of(answer: shapes.ValidationResult) -> shapes.PolicyResult | None:
    """The result of the policies; None if they were not checked."""
    part = answer.get("policies")
    return shaped(shapes.PolicyResult, part) if part and "findings" in part else None


@dataclass(frozen=True, slots=True)
class Linted:
    """The result of the linter; a text that is not YAML has no expressions, and its errors are `syntax`."""

    result: shapes.LintResult
    syntax: Sequence[shapes.Finding] = ()

    @property
    def whole(self) -> dict[str, object]:
        return {**self.result, **({"errors": self.syntax} if self.syntax else {})}


def shown(findings: Iterable[Finding]) -> list[Finding]:
    """Those that people and annotations show; the others are for code scanning."""
    return [finding for finding in findings if finding.suppressed is None]


def as_text(findings: Iterable[Finding], sources: Mapping[str, str]) -> str:
    """`file:line:column: error: message [code]`, the line itself, and a caret below the place.

    Lines with a secret are not repeated: this is printed in the logs of workflows.
    """
    findings = list(findings)
    hidden = {(finding.file, finding.line) for finding in findings if finding.code == _HIDES_LINE}
    return "\n".join(
        line
        for finding in findings
        for line in _lines(finding, "" if (finding.file, finding.line) in hidden else sources.get(finding.file, ""))
    )


def as_github(findings: Iterable[Finding]) -> list[str]:
    """Workflow commands; GitHub shows them at the lines of a change."""
    return [_github(finding) for finding in findings]


def as_sarif(findings: Sequence[Finding], *, complete: bool) -> str:
    """SARIF 2.1.0 with one run of the tool; `complete` is false if a file could not be checked."""
    codes = sorted({finding.code for finding in findings})
    driver = {
        "name": "headgate",
        "version": VERSION,
        "rules": [{"id": code, "shortDescription": {"text": code.replace("_", " ")}} for code in codes],
    }
    results = [_result(finding, codes.index(finding.code)) for finding in findings]
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": complete}],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=2)


def _lines(finding: Finding, source: str) -> Iterable[str]:
    place = ":".join(str(part) for part in (finding.file, finding.line, finding.column) if part)
    severity = click.style(f"{finding.severity}:", fg=_COLOURS[finding.severity], bold=True)
    # Without a line, the component's path is the place.
    message = finding.message
    if not finding.line and finding.path and finding.path not in message:
        message = f"{finding.path}: {message}"
    yield f"{click.style(one_line(place), bold=True)}: {severity} {quoted(message)} [{one_line(finding.code)}]"
    lines = LINE_END.split(source) if source else []
    if not 0 < finding.line <= len(lines):
        if finding.way_out:
            yield f"      = {quoted(finding.way_out)}"
        return
    line = lines[finding.line - 1]
    number = f"{finding.line:>5} | "
    room = max(shutil.get_terminal_size((120, 24)).columns - len(number) - 1, _NARROWEST)
    shown, before = _around(line.expandtabs(_TAB), len(line[: max(finding.column - 1, 0)].expandtabs(_TAB)), room)
    yield f"{number}{shown}"
    if finding.column:
        caret = click.style("^", fg=_COLOURS[finding.severity], bold=True)
        yield f"{' ' * (len(number) - 2)}| {' ' * before}{caret}"
    hint = finding.way_out or _hint(finding, line)
    if hint:
        yield f"{' ' * (len(number) - 2)}= {quoted(hint)}"


def _hint(finding: Finding, line: str) -> str:
    """Advice for mending the finding, or its invisible cause in this line; empty if there is none."""
    if finding.fixable and finding.severity == "error":
        return "`headgate validate --fix` mends this"
    if finding.code == "yaml_syntax" and "\t" in line[: len(line) - len(line.lstrip())]:
        return "a tab is not indentation in YAML: use spaces"
    return ""


def _around(line: str, at: int, room: int) -> tuple[str, int]:
    """The part of the line around `line[at]` that fits into `room` columns, and how many columns are before it."""
    line = printable(line).replace("\n", "�")
    if cells(line) <= room:
        return line, cells(line[:at])
    start = max(0, at - room // 2)
    end = start + 1
    while end < len(line) and cells(line[start : end + 1]) <= room - 2:
        end += 1
    left = "…" if start else ""
    return f"{left}{line[start:end]}{'…' if end < len(line) else ''}", cells(left + line[start:at])


def _github(finding: Finding) -> str:
    properties = {"file": finding.file, "title": finding.code}
    if finding.line:
        properties["line"] = str(finding.line)
    if finding.column:
        properties["col"] = str(finding.column)
    named = ",".join(f"{name}={_escaped(value, ',:')}" for name, value in properties.items())
    return f"::{_GITHUB[finding.severity]} {named}::{_escaped(finding.whole, '')}"


def _escaped(value: str, more: str) -> str:
    """Escaped for GitHub's runner: percent signs and line ends always, the characters in `more` in properties."""
    return re.sub(f"[%\r\n{more}]", lambda match: f"%{ord(match[0]):02X}", value)


def _result(finding: Finding, rule: int) -> dict[str, object]:
    location: dict[str, object] = {"artifactLocation": {"uri": quote(finding.file)}}
    if finding.line:
        region = {"startLine": finding.line} | ({"startColumn": finding.column} if finding.column else {})
        location["region"] = region
    place: dict[str, object] = {"physicalLocation": location}
    if finding.path:
        place["logicalLocations"] = [{"fullyQualifiedName": finding.path}]
    result: dict[str, object] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.severity,
        "message": {"text": finding.whole},
        "locations": [place],
    }
    if finding.suppressed is not None:
        result["suppressions"] = [{"kind": "inSource", "justification": finding.suppressed}]
    return result
