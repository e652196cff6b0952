"""The coverage of configurations for people, as annotations of a workflow, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import click

from headgate_cli.checks.findings import Finding, Severity
from headgate_cli.checks.findings import as_text as findings_as_text
from headgate_cli.coverage.run import CoverageRun
from headgate_cli.output import table
from headgate_cli.shapes import CoverageResult, Mutant
from headgate_cli.untrusted import one_line

SURVIVED: Final = "not_noticed"
UNREACHED: Final = "not_reached"
NOT_MEASURED: Final = "not_measured"


def as_text(measured: CoverageRun, *, unreached: bool) -> str:
    """The score, what no test noticed with its lines, and what was not measured."""
    label = click.style(one_line(measured.suite.label), bold=True)
    if measured.result is None:
        lines = [f"{label}: {click.style('could not be measured', fg='red', bold=True)}"]
        return "\n".join(lines + [f"  {line}" for line in measured.problem.splitlines()])
    lines = [f"{label}: {_score(measured.result)}", *(f"  {line}" for line in _notes(measured.result))]
    if listed := findings(measured, unreached=unreached):
        content = measured.suite.request.get("yaml")
        sources = {measured.suite.label: content} if isinstance(content, str) else {}
        lines.append(findings_as_text([finding for finding in listed if finding.code != NOT_MEASURED], sources))
    return "\n".join(lines)


def findings(measured: CoverageRun, *, unreached: bool = False) -> list[Finding]:
    """Each test that was not used, and each change that no test noticed; with `unreached`, those of no output too."""
    file = measured.suite.label
    if measured.result is None:
        return [Finding(file, "error", NOT_MEASURED, measured.problem)]
    listed = [
        Finding(file, "error", NOT_MEASURED, f"the test {test['name']} is not used: {test['reason']}")
        for test in measured.result["tests"]
        if not test["usable"]
    ]
    for mutant in measured.mutants("survived"):
        listed.append(_finding(file, "warning", SURVIVED, "no test notices if ", mutant))
    for mutant in measured.mutants("unreached") if unreached else ():
        listed.append(_finding(file, "note", UNREACHED, "no output changes if ", mutant))
    return listed


def print_table(measured: Sequence[CoverageRun]) -> None:
    """A row for each configuration, the lowest score first."""
    rows = [
        (coverage.suite.label, "-" if coverage.score is None else f"{coverage.score:.1f} %", *_counts(coverage.result))
        for coverage in sorted(measured, key=lambda coverage: (coverage.score is None, coverage.score or 0.0))
    ]
    headings = ("CONFIGURATION", "SCORE", "NOTICED", "NOT NOTICED", "NOT REACHED", "LEFT OUT")
    table(headings, rows, nothing="Nothing was measured")


def as_json(measured: CoverageRun) -> dict[str, object]:
    """The server's result of the configuration."""
    return {
        **measured.suite.named,
        "problem": measured.problem or None,
        "job": measured.jobs[0] if measured.jobs else None,
        "result": measured.result,
    }


def _score(result: CoverageResult) -> str:
    """`81.2 %: tests notice 13 of 16 changes of an output`."""
    if result["score"] is None:
        return f"no score: {one_line(result['reason'])}"
    killed, survived = result["killed"], result["survived"]
    colour = "green" if survived == 0 else "yellow"
    score = click.style(f"{result['score']:.1f} %", fg=colour, bold=True)
    return f"{score}: tests notice {killed} of {killed + survived} changes that change an output"


def _notes(result: CoverageResult) -> Iterator[str]:
    for test in result["tests"]:
        name = one_line(test["name"])
        if not test["usable"]:
            yield f"{click.style('not used', fg='red')}: the test {name}: {one_line(test['reason'])}"
        elif not test["steady"]:
            yield f"the output of the test {name} differs from run to run, so what changes it may be chance"
    unreached, left_out = result["unreached"], result["left_out"]
    if unreached:
        many = "1 change changes no output: no sample reaches it"
        if unreached > 1:
            many = f"{unreached} changes change no output: no sample reaches them"
        yield f"{many} (--unreached lists them)"
    if left_out:
        yield f"{left_out} change{' was' if left_out == 1 else 's were'} left out (--max tries up to 100)"
    if result["untested_pipelines"]:
        yield f"no test runs {one_line(', '.join(result['untested_pipelines']))}"


def _finding(file: str, severity: Severity, code: str, begins: str, mutant: Mutant) -> Finding:
    place = mutant["component"], mutant["line"], mutant["column"]
    way_out = f"would notice: {mutant['would_notice']}"
    return Finding(file, severity, code, begins + mutant["description"], *place, way_out=way_out)


def _counts(result: CoverageResult | None) -> Sequence[int]:
    if result is None:
        return 0, 0, 0, 0
    return result["killed"], result["survived"], result["unreached"], result["left_out"]
