"""The coverage of configurations for people, as annotations of a workflow, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import click

from headgate_cli.api import Entity, entities, number, optional, text
from headgate_cli.checks.findings import Finding, Severity
from headgate_cli.checks.findings import as_text as findings_as_text
from headgate_cli.coverage.run import Measured
from headgate_cli.output import table
from headgate_cli.untrusted import one_line

SURVIVED: Final = "not_noticed"
UNREACHED: Final = "not_reached"
NOT_MEASURED: Final = "not_measured"


def as_text(measured: Measured, *, unreached: bool) -> str:
    """The score, what no test noticed with its lines, and what was not measured."""
    label = click.style(one_line(measured.suite.label), bold=True)
    if measured.problem:
        told = [f"{label}: {click.style('could not be measured', fg='red', bold=True)}"]
        return "\n".join(told + [f"  {line}" for line in measured.problem.splitlines()])
    told = [f"{label}: {_score(measured)}"]
    told += [f"  {line}" for line in _notes(measured)]
    found = findings(measured, unreached=unreached)
    if found:
        content = measured.suite.request.get("yaml")
        sources = {measured.suite.label: content} if isinstance(content, str) else {}
        told.append(findings_as_text([one for one in found if one.code != NOT_MEASURED], sources))
    return "\n".join(told)


def findings(measured: Measured, *, unreached: bool = False) -> list[Finding]:
    """Each test that was not used, and each change that no test noticed; with `unreached`, those of no output too."""
    file = measured.suite.label
    if measured.problem:
        return [Finding(file, "error", NOT_MEASURED, measured.problem)]
    found = [
        Finding(
            file, "error", NOT_MEASURED, f"the test {optional(test, 'name')} is not used: {optional(test, 'reason')}"
        )
        for test in entities(measured.result, "tests")
        if test.get("usable") is not True
    ]
    found += [_finding(file, "warning", SURVIVED, "no test notices if ", one) for one in measured.mutants("survived")]
    if unreached:
        found += [
            _finding(file, "note", UNREACHED, "no output changes if ", one) for one in measured.mutants("unreached")
        ]
    return found


def print_table(measured: Sequence[Measured]) -> None:
    """A row for each configuration, the lowest score first."""
    rows = [
        (
            one.suite.label,
            "-" if one.score is None else f"{one.score:.1f} %",
            *(_count(one, name) for name in ("killed", "survived", "unreached", "left_out")),
        )
        for one in sorted(measured, key=lambda one: (one.score is None, one.score or 0.0))
    ]
    headings = ("CONFIGURATION", "SCORE", "NOTICED", "NOT NOTICED", "NOT REACHED", "LEFT OUT")
    table(headings, rows, nothing="Nothing was measured")


def as_json(measured: Measured) -> dict[str, object]:
    """The server's result of the configuration."""
    return {
        **measured.suite.named,
        "problem": measured.problem or None,
        "job": measured.job or None,
        "result": measured.result or None,
    }


def _score(measured: Measured) -> str:
    """`81.2 %: tests notice 13 of 16 changes of an output`."""
    if measured.score is None:
        return f"no score: {one_line(optional(measured.result, 'reason'))}"
    killed, survived = number(measured.result, "killed"), number(measured.result, "survived")
    colour = "green" if survived == 0 else "yellow"
    score = click.style(f"{measured.score:.1f} %", fg=colour, bold=True)
    return f"{score}: tests notice {killed} of {killed + survived} changes that change an output"


def _notes(measured: Measured) -> Iterator[str]:
    result = measured.result
    for test in entities(result, "tests"):
        name = one_line(text(test, "name"))
        if test.get("usable") is not True:
            yield f"{click.style('not used', fg='red')}: the test {name}: {one_line(optional(test, 'reason'))}"
        elif test.get("steady") is not True:
            yield f"the output of the test {name} differs from run to run, so what changes it may be chance"
    unreached, left_out = _count(measured, "unreached"), _count(measured, "left_out")
    if unreached:
        many = "1 change changes no output: no sample reaches it"
        if unreached > 1:
            many = f"{unreached} changes change no output: no sample reaches them"
        yield f"{many} (--unreached lists them)"
    if left_out:
        yield f"{left_out} change{' was' if left_out == 1 else 's were'} left out (--max tries up to 100)"
    untested = result.get("untested_pipelines")
    if isinstance(untested, list) and untested:
        yield f"no test runs {one_line(', '.join(map(str, untested)))}"


def _finding(file: str, severity: Severity, code: str, begins: str, mutant: Entity) -> Finding:
    return Finding(
        file,
        severity,
        code,
        begins + text(mutant, "description"),
        text(mutant, "component"),
        number(mutant, "line"),
        number(mutant, "column"),
        way_out=f"would notice: {optional(mutant, 'would_notice')}",
    )


def _count(measured: Measured, name: str) -> int:
    count = measured.result.get(name)
    return count if isinstance(count, int) else 0
