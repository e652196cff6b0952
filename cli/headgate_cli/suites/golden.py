"""Expected outputs in files, and writing them anew from what came out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from headgate_cli import safe_files
from headgate_cli.errors import Failed
from headgate_cli.suites import report
from headgate_cli.suites.files import FileTest
from headgate_cli.suites.run import SuiteOutcome, SuiteRun
from headgate_cli.untrusted import one_line
from headgate_cli.yaml_files import parse, span_of

# Above it, a document stays on one line: a request has 1 MB for all texts of a test.
_MOST_INDENTED: Final = 200_000


@dataclass(frozen=True, slots=True)
class Renewal:
    """A test whose expected output is to be written: into which file, and what the output is."""

    outcome: SuiteOutcome
    test: FileTest
    output: str

    @property
    def file(self) -> str:
        return self.test.expected_path or self.test.file


def renewals(all_ran: Sequence[SuiteRun]) -> tuple[list[Renewal], list[str]]:
    """The expected outputs that differ or are not there yet, and why others cannot be renewed."""
    listed: list[Renewal] = []
    refused: list[str] = []
    for outcome in (outcome for ran in all_ran for outcome in ran.outcomes):
        test, answer = outcome.test, outcome.answer
        if test is None or answer is None or not (test.expected_file or "expected" in test.fields):
            continue
        failures = report.failures(outcome)
        if not any(failure.golden for failure in failures) and not test.awaits_expected:
            continue
        if any(failure.errored and not failure.golden for failure in failures):
            refused.append(f"{one_line(test.file)}: the test did not run as it should, so its output is not taken")
        elif answer["output"] is None:
            refused.append(
                f"{one_line(test.file)}: too much output for one answer: run this test alone, or with less of a sample"
            )
        else:
            output = readable(answer["output"], with_observed=test.fields.get("ignore") is not None)
            listed.append(Renewal(outcome, test, output))
    return listed, refused


def readable(output: str, *, with_observed: bool = False) -> str:
    """The output's documents indented, so that a change of a field is a change of a line; a line each if they are long.

    Their order and values stay; the times at which log records were observed, which no comparison looks at unless the
    test says what to ignore, are left out without `with_observed`: they would change each time.
    """
    try:
        documents = [json.loads(line) for line in output.split("\n") if line.strip()]
    except (ValueError, RecursionError):
        return output if output.endswith("\n") or not output else f"{output}\n"
    if not with_observed:
        for document in documents:
            _forget_observed(document, "resourceLogs", "scopeLogs", "logRecords")
    indented = "".join(f"{json.dumps(document, ensure_ascii=False, indent=1)}\n" for document in documents)
    if len(indented.encode()) <= _MOST_INDENTED:
        return indented
    return "".join(f"{json.dumps(document, ensure_ascii=False, separators=(',', ':'))}\n" for document in documents)


def _forget_observed(document: object, *levels: str) -> None:
    """Delete the times from the log records, which are the lists of lists at these levels."""
    if not isinstance(document, dict):
        return
    if not levels:
        document.pop("observedTimeUnixNano", None)
        return
    inner = document.get(levels[0])
    for entry in inner if isinstance(inner, list) else ():
        _forget_observed(entry, *levels[1:])


def write(renewal: Renewal) -> None:
    """Write the output into the test's file of it, or into the test itself. Raises Failed."""
    test = renewal.test
    if test.expected_path:
        safe_files.write(test.expected_path, renewal.output)
        return
    content = safe_files.read(test.file)
    span = span_of(content, test.file, "expected")
    written = "|\n" + "".join(f"  {line}\n" for line in renewal.output.splitlines()) if renewal.output else '""\n'
    replaced = f"{content[: span[0]]}{written}{content[span[1] :].lstrip(chr(10))}" if span else content
    try:
        document = parse(replaced, test.file)
    except Failed:
        document = None
    before = parse(content, test.file)
    # The rest of the file has to be what it was.
    if not isinstance(before, dict) or document != {**before, "expected": renewal.output}:
        raise Failed(
            f"{one_line(test.file)}: the expected output cannot be replaced in this file: move it into a file of its "
            "own, and name that as expected_file"
        )
    safe_files.write(test.file, replaced)
