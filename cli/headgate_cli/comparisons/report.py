"""The results of comparisons for people, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import click

from headgate_cli.comparisons.run import Compared
from headgate_cli.runs.follow import complaints
from headgate_cli.shapes import ComparedTest, ComparisonResult, Differences
from headgate_cli.suites import differences
from headgate_cli.untrusted import one_line

_MARKS: Final = {"equal": ("same   ", "green"), "differs": ("DIFFERS", "yellow"), "not_compared": ("ERROR  ", "red")}
_LONGEST_REASON: Final = 400
_MOST_PATHS: Final = 5
_SIDES: Final[tuple[Literal["left", "right"], ...]] = ("left", "right")
_CHANGES: Final[tuple[Literal["changed", "missing", "added"], ...]] = ("changed", "missing", "added")


def as_text(compared: Compared) -> Iterator[str]:
    """A line for the comparison and one for each test, with what differs below it."""
    label = click.style(one_line(compared.pair.label), bold=True)
    if compared.pair.note:
        yield f"{label}: {compared.pair.note}; not compared"
        return
    if not compared.results:
        yield f"{label}: {click.style('could not be compared', fg='red', bold=True)}"
        yield from (f"  {one_line(line)}" for line in compared.problem.splitlines())
        return
    yield f"{label}: {one_line(sides(compared))}"
    for test in compared.tests:
        yield from _of_test(test)
    for line in starts(compared):
        yield f"  {one_line(line)}"
    if compared.problem:
        yield f"  {click.style('not all of it was compared', fg='red')}: {one_line(compared.problem)}"


def sides(compared: Compared) -> str:
    """`left is shop@3 on collector 0.139.0, right is shop@4 on collector 0.139.0`."""
    labels = compared.pair.left.label, compared.pair.right.label
    versions = (next((result[name]["collector_version"] for result in compared.results), "?") for name in _SIDES)
    parts = zip(_SIDES, labels, versions, strict=True)
    return ", ".join(f"{name} is {label} on collector {version}" for name, label, version in parts)


def outcome(test: ComparedTest) -> str:
    """The result of a test in words: `logs: 1 changed, 7 the same`."""
    document = test["differences"]
    parts = [_cut(test["reason"])]
    if document:
        parts.append(differences.summary(document) or _same(document))
        if document["profiles"]:
            parts.append("profiles are not compared")
    return "; ".join(part for part in parts if part)


def changes(test: ComparedTest, *, most: int = differences.MOST_RECORDS) -> list[str]:
    """A line for each record that differs, and for each of its fields; of many, first how often each field differs."""
    document = test["differences"]
    return [*_often(document), *differences.lines(document, most=most)] if document else []


def starts(compared: Compared) -> list[str]:
    """Messages that only one of two collectors logs while it starts; empty for one collector version."""
    return list(dict.fromkeys(line for result in compared.results for line in _starts(result)))


def summary(all_compared: Sequence[Compared]) -> str:
    """`1 test differs, 5 are the same, 1 could not be compared`."""
    tests = [test["status"] for compared in all_compared for test in compared.tests]
    same, differs = tests.count("equal"), tests.count("differs")
    errors = tests.count("not_compared") + sum(bool(compared.problem) for compared in all_compared)
    if not all_compared:
        return "no configuration with tests has changed"
    parts = [f"{differs} test{' differs' if differs == 1 else 's differ'}"] if differs else []
    parts += [f"{same} {'is' if same == 1 else 'are'} the same"] if same else []
    parts += [f"{errors} could not be compared"] if errors else []
    return ", ".join(parts) or "nothing to compare"


def as_json(compared: Compared) -> dict[str, object]:
    """The server's results, with the names of the sides."""
    return {
        "name": compared.pair.label,
        "left": compared.pair.left.label,
        "right": compared.pair.right.label,
        "equal": compared.compared and not compared.differs,
        "compared": compared.compared,
        "note": compared.pair.note or None,
        "problem": compared.problem or None,
        "jobs": compared.jobs,
        "results": compared.results,
    }


def _of_test(test: ComparedTest) -> Iterator[str]:
    mark, colour = _MARKS.get(test["status"], ("?", "red"))
    name, pipeline = one_line(test["name"]), one_line(test["target_pipeline"])
    yield f"  {click.style(mark, fg=colour)}  {name}  ({pipeline})  {one_line(outcome(test))}"
    yield from (f"             {line}" for line in [*saving_of(test), *changes(test), *complaints_of(test)])


def saving_of(test: ComparedTest) -> list[str]:
    """Savings of the right side for the same sample, and for each service in it, in the server's words."""
    saving = test.get("saving")
    if not saving:
        return []
    services = [f"{service['service']}: {service['words']}" for service in saving["services"]]
    return [one_line(line) for line in (saving["words"], *services)]


def complaints_of(test: ComparedTest) -> list[str]:
    """Complaints of components and notes on the runs, each with its side; once if both sides have it."""
    left, right = (list(complaints(test[name])) for name in _SIDES)
    both = [f"both: {line}" for line in left if line in right]
    only = [f"left: {line}" for line in left if line not in right] + [
        f"right: {line}" for line in right if line not in left
    ]
    return [*both, *only]


def _same(document: Differences) -> str:
    counts = [f"{signal}: {counts['same']} the same" for signal, counts in document["signals"].items()]
    return "; ".join(counts) or "nothing comes out"


def _often(document: Differences) -> Iterator[str]:
    """The fields that differ in several records, the most frequent first."""
    for signal, counts in document["signals"].items():
        for field in counts["fields"][:_MOST_PATHS]:
            if sum(field[change] for change in _CHANGES) > 1:
                often = ", ".join(f"{change} in {field[change]}" for change in _CHANGES if field[change])
                yield one_line(f"{signal}: {field['path']} {often} records")


def _cut(text: str) -> str:
    return f"{text[:_LONGEST_REASON]}…" if len(text) > _LONGEST_REASON else text


def _starts(result: ComparisonResult) -> Iterator[str]:
    starts = result["starts"]
    for name in _SIDES if starts else ():
        for message in starts[name] if starts else ():
            where = f"{message['component']}: " if message["component"] else ""
            version = result[name]["collector_version"]
            yield f"only collector {version} logs, {message['level']}: {where}{message['message']}"
