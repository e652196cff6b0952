"""The report of a run: as JSON, Markdown and JUnit. What it quotes of the server is a stranger's text."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree

from headgate_cli import VERSION, junit
from headgate_cli.accept.model import PAGE, REMEDIES, PromiseOutcome
from headgate_cli.accept.run import Result
from headgate_cli.untrusted import one_line

_MARKUP: Final = re.compile(r"([\\`*_\[\]<>#!|~&:@])")
Json = dict[str, object]


def as_json(result: Result) -> Json:
    return {
        "url": result.bench.redacted(result.bench.given.url),
        "run_id": result.bench.run_id,
        "passed": result.passed,
        "interrupted": result.interrupted,
        "seconds": round(result.seconds, 1),
        "requests": result.bench.record.requests,
        "checks": [_check(outcome) for outcome in result.outcomes],
        "latencies": latencies(result),
        "left": result.left,
    }


def latencies(result: Result) -> list[Json]:
    """Milliseconds by endpoint: of the first request, and the median and the longest of the later ones."""
    return [
        {
            "endpoint": one_line(result.bench.redacted(endpoint)),
            "requests": len(times),
            "first_ms": _ms(times[0]),
            "median_ms": _ms(statistics.median(times[1:])) if times[1:] else None,
            "longest_ms": _ms(max(times[1:])) if times[1:] else None,
        }
        for endpoint, times in sorted(result.bench.record.by_endpoint.items())
    ]


def as_markdown(result: Result) -> str:
    return "\n".join(_lines(result)) + "\n"


def as_junit(result: Result) -> bytes:
    root = ElementTree.Element("testsuites", name="headgate accept")
    suites: dict[str, ElementTree.Element] = {}
    for outcome in result.outcomes:
        section = outcome.check.section
        if section not in suites:
            suites[section] = ElementTree.SubElement(root, "testsuite", name=section)
        case = ElementTree.SubElement(
            suites[section],
            "testcase",
            name=outcome.check.id,
            classname=f"accept.{section}",
            time=f"{outcome.seconds:.3f}",
        )
        if outcome.status != "passed":
            kind = "failure" if outcome.status == "failed" else "skipped"
            message = junit.text(outcome.message)
            reason = ElementTree.SubElement(case, kind, message=message)
            if kind == "failure":
                reason.text = f"{outcome.check.promise}\n{message}\n{REMEDIES[section]}"
    return junit.document(root, {"failures": "failure", "skipped": "skipped"})


def summary(result: Result) -> str:
    """`57 checks passed, 1 failed, 4 not checked, in 210 s with 420 requests`."""
    counts = (
        f"{result.count('passed')} checks passed, {result.count('failed')} failed, {result.count('not checked')} not "
    )
    return f"{counts}checked, in {result.seconds:.0f} s with {result.bench.record.requests} requests"


def _check(outcome: PromiseOutcome) -> Json:
    failed = {"remedy": REMEDIES[outcome.check.section], "see": f"{PAGE}#{outcome.check.section}"}
    return {
        "id": outcome.check.id,
        "promise": outcome.check.promise,
        "status": outcome.status.replace(" ", "_"),
        "seconds": round(outcome.seconds, 3),
        "message": outcome.message or None,
    } | (failed if outcome.status == "failed" else {"remedy": None, "see": None})


def _lines(result: Result) -> Iterator[str]:
    yield from ("# Acceptance of a Headgate server", "")
    bench = result.bench
    yield f"{_escaped(bench.redacted(bench.given.url))}, run {bench.run_id}, by headgate {VERSION}: {summary(result)}."
    if result.interrupted:
        yield from ("", "The run was interrupted.")
    for status, title in (("failed", "Failed"), ("not checked", "Not checked"), ("passed", "Passed")):
        chosen = [outcome for outcome in result.outcomes if outcome.status == status]
        if not chosen:
            continue
        yield from ("", f"## {title}", "", "| Check | What it proves | Seconds | What happened |", "|---|---|---|---|")
        for outcome in chosen:
            message = _escaped(outcome.message)
            if status == "failed":
                section = outcome.check.section
                message += f" **{REMEDIES[section]}** See {PAGE}, section \u201c{section}\u201d."
            yield f"| {outcome.check.id} | {outcome.check.promise} | {outcome.seconds:.1f} | {message} |"
    yield from ("", "## Latencies", "", "Requests that succeeded. The first may have started a function.", "")
    yield from ("| Endpoint | Requests | First, ms | Median after, ms | Longest after, ms |", "|---|---|---|---|---|")
    for row in latencies(result):
        endpoint, *numbers = row.values()
        cells = ["-" if number is None else str(number) for number in numbers]
        yield f"| {_escaped(str(endpoint))} | {' | '.join(cells)} |"
    yield from ("", "## What is left", "")
    yield from [f"- {_escaped(sentence)}" for sentence in result.left or ["By name, nothing was left behind."]]
    yield f"- {LEFT}"


LEFT: Final = "Published configurations are archived, not deleted. Test runs are deleted after 30 days."


def _ms(seconds: float) -> int:
    return round(seconds * 1_000)


def _escaped(text: str) -> str:
    """The text in a cell of a table, with nothing that Markdown or HTML would interpret."""
    return _MARKUP.sub(r"\\\1", one_line(text.replace("\n", " ")))
