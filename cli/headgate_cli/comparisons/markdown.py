"""The results of comparisons as Markdown, for a comment on a pull request.

Whatever a name or a value contains, it stays text: it is in code, in one line, and the fence around it is longer than
any that it contains. In code, GitHub makes no link, no mention, no image and no HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import click

from headgate_cli.comparisons import report
from headgate_cli.comparisons.run import Compared
from headgate_cli.shapes import ComparedTest
from headgate_cli.untrusted import one_line

# GitHub takes a comment of 65,536 characters.
_MOST: Final = 60_000
_MOST_RECORDS: Final = 10
_LONGEST: Final = 300
_WORDS: Final = {"equal": "same", "differs": "**differs**", "not_compared": "**not compared**"}
_TICKS: Final = re.compile("`+")


def as_markdown(all_compared: Sequence[Compared]) -> str:
    """The comment: a table of the tests for each comparison, and what differs folded below it."""
    parts = [f"### Behaviour: {report.summary(all_compared)}", ""]
    size = sum(map(len, parts))
    for at, compared in enumerate(all_compared):
        for block in _blocks(compared):
            if size + len(block) > _MOST:
                left = len(all_compared) - at
                parts.append(
                    f"_More is left out here: see {left} comparison{'' if left == 1 else 's'} in the job's log._\n"
                )
                return "\n".join(parts)
            parts.append(block)
            size += len(block) + 1
    return "\n".join(parts)


def code(text: str, *, cell: bool = False) -> str:
    """The text as inline code; in a `cell`, without a `|` that would end it."""
    shown = one_line(text).strip() or " "
    shown = f"{shown[:_LONGEST]}…" if len(shown) > _LONGEST else shown
    ticks = "`" * (_longest_ticks(shown) + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    # A backslash before a pipe would otherwise escape the escape.
    shown = shown.replace("\\|", "\\ |").replace("|", "\\|") if cell else shown
    return f"{ticks}{space}{shown}{space}{ticks}"


def fenced(lines: Sequence[str], language: str = "") -> str:
    """The lines as a block of code."""
    plain = [one_line(click.unstyle(line)) for line in lines]
    fence = "`" * max(3, 1 + max(map(_longest_ticks, plain), default=0))
    return "\n".join([f"{fence}{language}", *plain, fence])


def _longest_ticks(text: str) -> int:
    return max(map(len, _TICKS.findall(text)), default=0)


def _blocks(compared: Compared) -> Iterator[str]:
    """Parts that are left out whole if there is no room."""
    head = [f"#### {code(compared.pair.label)}", ""]
    if compared.pair.note:
        yield "\n".join([*head, f"Not compared: {compared.pair.note}.", ""])
        return
    if compared.problem:
        yield "\n".join([*head, "Could not be compared:", "", fenced(compared.problem.splitlines()), ""])
        if not compared.results:
            return
        head = []
    table = [*head, code(report.sides(compared)), "", "| Test | Pipeline | Result | Records |", "|---|---|---|---|"]
    table += [_row(test) for test in compared.tests]
    yield "\n".join([*table, ""])
    savings = [(test["name"], saving) for test in compared.tests for saving in report.saving_of(test)]
    if savings:
        yield "\n".join([*(f"- {code(name)}: {code(saving)}" for name, saving in savings), ""])
    for test in compared.tests:
        lines = report.changes(test, most=_MOST_RECORDS)
        if lines:
            name = code(test["name"])
            # The empty line makes what follows Markdown again.
            yield "\n".join(
                ["<details><summary>", "", name, "", "</summary>", "", fenced(lines, "diff"), "", "</details>", ""]
            )
    started = report.starts(compared)
    if started:
        yield "\n".join(["While they start:", "", fenced(started), ""])


def _row(test: ComparedTest) -> str:
    cells = [code(test["name"], cell=True), code(test["target_pipeline"], cell=True)]
    word = _WORDS.get(test["status"], "?")
    return f"| {' | '.join([*cells, word, code(report.outcome(test), cell=True)])} |"
