"""The results of comparisons for people, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import click

from headgate_cli.api import Entity, entities, optional
from headgate_cli.comparisons.run import Compared
from headgate_cli.runs.follow import complaints
from headgate_cli.suites import differences
from headgate_cli.untrusted import one_line

_MARKS: Final = {"equal": ("same   ", "green"), "differs": ("DIFFERS", "yellow"), "not_compared": ("ERROR  ", "red")}
_LONGEST_REASON: Final = 400
_MOST_PATHS: Final = 5


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
    told = []
    for name, side in (("left", compared.pair.left), ("right", compared.pair.right)):
        told.append(f"{name} is {side.label} on collector {_collector(compared, name)}")
    return ", ".join(told)


def outcome(test: Entity) -> str:
    """What became of a test, in words: `logs: 1 changed, 7 the same`."""
    found = test.get("differences")
    told = [_cut(optional(test, "reason"))]
    if isinstance(found, Mapping):
        told.append(differences.summary(found) or _same(found))
        if found.get("profiles"):
            told.append("profiles are not compared")
    return "; ".join(part for part in told if part)


def changes(test: Entity, *, most: int = differences.MOST_RECORDS) -> list[str]:
    """A line for each record that differs, and for each of its fields; of many, first how often each field differs."""
    found = test.get("differences")
    return [*_often(found), *differences.lines(found, most=most)] if isinstance(found, Mapping) else []


def starts(compared: Compared) -> list[str]:
    """What only one of two collectors logs while it starts; empty for one collector version."""
    told = dict.fromkeys(line for result in compared.results for line in _starts(result))
    return list(told)


def summary(all_compared: Sequence[Compared]) -> str:
    """`1 test differs, 5 are the same, 1 could not be compared`."""
    tests = [optional(test, "status") for compared in all_compared for test in compared.tests]
    same, differs = tests.count("equal"), tests.count("differs")
    errors = tests.count("not_compared") + sum(bool(compared.problem) for compared in all_compared)
    if not all_compared:
        return "no configuration with tests has changed"
    told = [f"{differs} test{' differs' if differs == 1 else 's differ'}"] if differs else []
    told += [f"{same} {'is' if same == 1 else 'are'} the same"] if same else []
    told += [f"{errors} could not be compared"] if errors else []
    return ", ".join(told) or "nothing to compare"


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


def _of_test(test: Entity) -> Iterator[str]:
    mark, colour = _MARKS.get(optional(test, "status"), ("?", "red"))
    name, pipeline = one_line(optional(test, "name")), one_line(optional(test, "target_pipeline"))
    yield f"  {click.style(mark, fg=colour)}  {name}  ({pipeline})  {one_line(outcome(test))}"
    yield from (f"             {line}" for line in [*saving_of(test), *changes(test), *complaints_of(test)])


def saving_of(test: Entity) -> list[str]:
    """What the right side saves of the same sample, and of each service in it, in the server's words."""
    saving = test.get("saving")
    if not isinstance(saving, dict):
        return []
    services = [
        f"{optional(service, 'service')}: {optional(service, 'words')}" for service in entities(saving, "services")
    ]
    return [one_line(line) for line in (optional(saving, "words"), *services)]


def complaints_of(test: Entity) -> list[str]:
    """What components complained of and the notes on the runs, each with its side; once if both sides have it."""
    by_side = {name: [*complaints(side)] for name in ("left", "right") if isinstance(side := test.get(name), Mapping)}
    left, right = by_side.get("left", []), by_side.get("right", [])
    both = [f"both: {line}" for line in left if line in right]
    only = [f"left: {line}" for line in left if line not in right] + [
        f"right: {line}" for line in right if line not in left
    ]
    return [*both, *only]


def _collector(compared: Compared, name: str) -> str:
    for result in compared.results:
        side = result.get(name)
        if isinstance(side, Mapping):
            return optional(side, "collector_version")
    return "?"


def _same(found: Entity) -> str:
    signals = found.get("signals")
    counted = signals.items() if isinstance(signals, Mapping) else ()
    told = [
        f"{signal}: {counts['same']} the same"
        for signal, counts in counted
        if isinstance(counts, Mapping) and "same" in counts
    ]
    return "; ".join(told) or "nothing comes out"


def _often(found: Entity) -> Iterator[str]:
    """The fields that differ in several records, the most frequent first."""
    signals = found.get("signals")
    for signal, counts in signals.items() if isinstance(signals, Mapping) else ():
        for field in (
            entities(counts, "fields")[:_MOST_PATHS] if isinstance(counts, Mapping) and "fields" in counts else ()
        ):
            told = [(change, field.get(change)) for change in ("changed", "missing", "added")]
            often = [f"{change} in {count}" for change, count in told if isinstance(count, int) and count > 0]
            if sum(count for _, count in told if isinstance(count, int)) > 1:
                yield one_line(f"{signal}: {optional(field, 'path')} {', '.join(often)} records")


def _cut(text: str) -> str:
    return f"{text[:_LONGEST_REASON]}…" if len(text) > _LONGEST_REASON else text


def _starts(result: Entity) -> Iterator[str]:
    found = result.get("starts")
    if not isinstance(found, Mapping):
        return
    for name in ("left", "right"):
        side = result.get(name)
        version = optional(side, "collector_version") if isinstance(side, Mapping) else name
        for message in entities(found, name):
            component = optional(message, "component")
            where = f"{component}: " if component else ""
            yield f"only collector {version} logs, {optional(message, 'level')}: {where}{optional(message, 'message')}"
