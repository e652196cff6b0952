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

from headgate_cli import VERSION
from headgate_cli.api import Entity, entities, optional, text
from headgate_cli.output import cells, say
from headgate_cli.untrusted import one_line, printable, quoted

Severity = Literal["error", "warning", "note"]

_COLOURS: Final = {"error": "red", "warning": "yellow", "note": "cyan"}
# GitHub calls a note a notice.
_GITHUB: Final = {"error": "error", "warning": "warning", "note": "notice"}
# What the service calls a part of the check that could not be had.
NOT_CHECKED: Final = "not_checked"
# The policy that finds secrets: its lines are not printed.
_HIDES_LINE: Final = "secret_in_text"
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


def of_validation(file: str, answer: Entity) -> list[Finding]:
    """The errors and warnings of an answer of POST /validate."""
    return [finding_of(file, severity, entry) for severity, name in _SEVERITIES for entry in entities(answer, name)]


def finding_of(file: str, severity: Severity, entry: Entity) -> Finding:
    """One entry of an answer's list of errors or warnings."""
    return Finding(
        file,
        severity,
        text(entry, "code"),
        text(entry, "message"),
        text(entry, "component_path"),
        _at(entry, "line"),
        _at(entry, "column"),
        fixable=bool(entry.get("fix")),
    )


def of_start(file: str, answer: Entity) -> list[Finding]:
    """What starting the components has shown, of an answer of POST /validate?start=true."""
    return [finding for finding in of_check(file, answer) if finding.source == "start"]


def say_not_started(file: str, answer: Entity) -> None:
    """Warn if the components could not be started: an outage of this stage stops nothing."""
    part = answer.get("start")
    problem = part.get("problem") if isinstance(part, dict) else None
    if isinstance(problem, dict):
        warning = click.style("warning:", fg="yellow", bold=True)
        say(f"{warning} {one_line(file)} was not started: {one_line(optional(problem, 'detail'))}")


def of_lint(file: str, answer: Entity, *, notes: bool) -> list[Finding]:
    """The errors of the linter's answer, what expressions probably do not mean, and other notes if `notes`.

    Skipped expressions are errors where nothing else is wrong and the text is not right all the same.
    """
    # A text that is not YAML has no expressions, and this one error: see `linting`.
    reported = of_validation(file, answer)
    for item in entities(answer, "items"):
        location = item.get("location")
        place: Entity = location if isinstance(location, dict) else {}
        at = (optional(place, "path"), _at(place, "line"), _at(place, "column"))
        error, note = optional(item, "error"), optional(item, "note")
        if error:
            reported.append(Finding(file, "error", "ottl", error, *at, way_out=note))
        elif note and notes:
            reported.append(Finding(file, "note", "ottl_note", note, *at))
        for remark in entities(item, "notes"):
            way_out = optional(remark, "way_out")
            reported.append(Finding(file, "note", text(remark, "code"), text(remark, "message"), *at, way_out=way_out))
    if answer.get("valid") is False and not any(finding.severity == "error" for finding in reported):
        for skipped in entities(answer, "skipped"):
            location = skipped.get("location")
            place = location if isinstance(location, dict) else {}
            at = (optional(place, "path"), _at(place, "line"), _at(place, "column"))
            reported.append(
                Finding(file, "error", "ottl_skipped", f"could not be judged: {text(skipped, 'reason')}", *at)
            )
    return reported


def of_check(file: str, answer: Entity) -> list[Finding]:
    """The findings of an answer of POST /validate, and behind them what comments suppress: code scanning lists these.

    Parts that were not checked are not among them.
    """
    if "findings" not in answer:
        # A server from before they were one list: its verdict.
        return of_validation(file, answer)
    reported = [
        replace(
            finding_of(file, _SEVERITY.get(text(entry, "severity"), "note"), entry),
            way_out=optional(entry, "way_out"),
            source=optional(entry, "source"),
        )
        for entry in entities(answer, "findings")
        if text(entry, "code") != NOT_CHECKED
    ]
    policies = answer.get("policies")
    for entry in entities(policies, "findings") if isinstance(policies, dict) else []:
        by = entry.get("suppressed")
        if isinstance(by, dict):
            finding = finding_of(file, _OF_POLICIES.get(text(entry, "severity"), "note"), entry)
            reported.append(replace(finding, way_out=optional(entry, "way_out"), suppressed=optional(by, "reason")))
    return reported


def shown(findings: Iterable[Finding]) -> list[Finding]:
    """Those that people and annotations show; the others are for code scanning."""
    return [finding for finding in findings if finding.suppressed is None]


_SEVERITY: Final[Mapping[str, Severity]] = {"error": "error", "warning": "warning", "note": "note"}
_OF_POLICIES: Final[Mapping[str, Severity]] = {"error": "error", "warning": "warning", "info": "note"}
_SEVERITIES: Final[tuple[tuple[Severity, str], ...]] = (("error", "errors"), ("warning", "warnings"))


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
    """How to mend the finding, or an invisible cause of it in this line; empty if there is none."""
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


def _at(place: Entity, name: str) -> int:
    value = place.get(name)
    return value if isinstance(value, int) else 0
