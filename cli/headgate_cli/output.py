"""Printing: results on standard output, for people or as JSON; everything else on standard error."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeVar

import click

from headgate_cli.errors import Failed
from headgate_cli.untrusted import command, harmless, harmless_json, holds_command, printable

T = TypeVar("T")

_GAP: Final = "  "
_BARS: Final = "▁▂▃▄▅▆▇█"
# A narrower column would be unreadable.
_NARROWEST: Final = 8
# An id of the API: cut, it would name nothing.
_NAMES: Final = frozenset({"NAME", "LABEL"})
_ID: Final = re.compile(r"\b[a-z]{3}_[0-7][0-9a-z]{25}\b")
# Unicode categories of marks that combine with the character before.
_NO_CELL: Final = ("Mn", "Me")


def say(message: str) -> None:
    """Print a message for people on standard error."""
    click.echo(harmless(message), err=True)


def status_line(content: str) -> None:
    """Replace the line that says what the command waits for; only on a terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r\033[K{content}", nl=False, err=True)


def print_result(message: str) -> None:
    """Print a result for people."""
    click.echo(harmless(message))


def print_json(value: object) -> None:
    """Print a result as JSON, for programs."""
    print_json_text(json.dumps(value, ensure_ascii=False, indent=2))


def print_json_text(written: str) -> None:
    """Print a result that is JSON already."""
    click.echo(harmless_json(written))


def print_outcome(value: object, as_json: bool, shown: str | Callable[[], object]) -> None:
    """Print what a command did: the value for programs; a message for people, or what the function prints."""
    if as_json:
        print_json(value)
    elif isinstance(shown, str):
        print_result(shown)
    else:
        shown()


def cells(text: str) -> int:
    """Count the columns of a terminal that the text takes."""
    return sum(
        0 if unicodedata.category(char) in _NO_CELL else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def sparkline(values: Sequence[int | None]) -> str:
    """One character for each value, as high as its part of the most; a space for None."""
    most = max((value for value in values if value is not None), default=0) or 1
    return "".join(" " if value is None else _BARS[(len(_BARS) - 1) * value // most] for value in values)


def confirm(question: str, without_terminal: str, undone: str = "nothing was changed") -> None:
    """Ask. Raises UsageError if there is nobody to ask, Failed if the person does not want it."""
    if not sys.stdin.isatty():
        raise click.UsageError(without_terminal)
    if not click.confirm(question, err=True):
        raise Failed(undone)


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 test`, `2 tests`."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def print_commands(lines: Iterable[str]) -> None:
    """Print workflow commands for GitHub's runner, whose data are escaped already."""
    for line in lines:
        click.echo(command(line))


def print_text(content: str) -> None:
    """Print a text that is the result: byte for byte in a pipe, harmless on a terminal.

    Raises Failed if a CI runner may read it and would run a line of it as a command.
    """
    if sys.stdout.isatty():
        click.echo(printable(content), nl=False)
        return
    if _runner_may_read() and holds_command(content):
        raise Failed("the CI runner would run a line of this text as a command: write it to a file with `> FILE`")
    # Not with click, which removes what looks like colour from a pipe.
    sys.stdout.flush()
    sys.stdout.buffer.write(content.encode(errors="replace"))
    sys.stdout.buffer.flush()


def show_list(
    entries: Iterable[T],
    as_json: bool,
    nothing: str,
    columns: Mapping[str, Callable[[T], object]],
    *,
    answer: object = None,
    whole: bool = False,
) -> None:
    """Print entries as JSON, or as a `table` with a column for each heading; `answer` is the JSON if there is more."""
    entries = list(entries)
    if as_json:
        print_json(entries if answer is None else answer)
        return
    rows = [[cell(entry) for cell in columns.values()] for entry in entries]
    table(list(columns), rows, nothing=nothing, whole=whole)


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    nothing: str,
    whole: bool = False,
    paragraphs: Sequence[str] = (),
) -> None:
    """Print a table, at most as wide as the terminal; in a pipe nothing is cut. Without rows, print `nothing`.

    If it does not fit and has to be `whole`, each row is a paragraph: the first cell, the next ones with their
    headings, and below them the last one. `paragraphs` takes their place, if given.
    """
    texts = [[_cell(value) for value in row] for row in rows]
    if not texts:
        say(nothing)
        return
    widths = [max(map(cells, column)) for column in zip(headings, *texts, strict=True)]
    if sys.stdout.isatty():
        columns = shutil.get_terminal_size().columns
        if (whole or paragraphs) and _width(widths) > columns:
            for paragraph in paragraphs or [_paragraph(headings, row, columns) for row in texts]:
                print_result(paragraph)
            return
        ids = [any(map(_ID.search, column)) for column in zip(*texts, strict=True)]
        named = [heading in _NAMES for heading in headings]
        if any(named):
            # Commands take names as well: ids give way first, and names last.
            widths = _fitting(widths, columns, [not is_id for is_id in ids])
            widths = _fitting(widths, columns, named)
            ids = [False for _ in ids]
        widths = _fitting(widths, columns, ids)
    print_result(click.style(_row(headings, widths), bold=True))
    for row in texts:
        print_result(_row(row, widths))


def diff(before: str, after: str, names: tuple[str, str]) -> bool:
    """Print a unified diff, coloured on a terminal. Returns whether there was a difference."""
    lines = unified(before, after, names)
    for line in map(harmless, lines) if sys.stdout.isatty() or _runner_may_read() else lines:
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        click.echo(click.style(line, fg=colour, bold=line.startswith(("+++", "---"))))
    return bool(lines)


def unified(before: str, after: str, names: tuple[str, str]) -> list[str]:
    """The lines of a unified diff, without line breaks; empty if there is no difference."""
    import difflib

    lines = difflib.unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), *names)
    return list(_diff_lines(lines))


def _runner_may_read() -> bool:
    """True if a CI runner may read what is printed: in a workflow, and not redirected to a file."""
    in_workflow = os.environ.get("GITHUB_ACTIONS") or os.environ.get("TF_BUILD")
    return bool(in_workflow) and not stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)


def minute(timestamp: str) -> str:
    """A timestamp of the API to the minute, in UTC: `2026-11-20 19:32`."""
    return f"{timestamp[:10]} {timestamp[11:16]}" if len(timestamp) > 16 else timestamp


def _diff_lines(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line.rstrip("\r\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _cell(value: object) -> str:
    text = "-" if value is None or value == "" else str(value)
    # One line a row, and nothing that controls the terminal, whatever a name contains.
    return "".join(char if char.isprintable() else " " for char in text)


def _paragraph(headings: Sequence[str], row: Sequence[str], columns: int) -> str:
    name, *facts, description = row
    words = ", ".join(
        f"{heading.lower()} {fact}".lstrip() for heading, fact in zip(headings[1:], facts, strict=False) if fact != "-"
    )
    lines = [f"{click.style(name, bold=True)}{_GAP}{words}".rstrip()]
    if description != "-":
        indent = " " * _NARROWEST
        lines.append(
            textwrap.fill(
                description, max(columns, 40), initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
            )
        )
    return "\n".join(lines)


def _width(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _fitting(widths: list[int], available: int, whole: Sequence[bool]) -> list[int]:
    """Narrow the widest columns until the row fits. Those that are `whole` stay; then the terminal wraps the row."""
    widths = list(widths)
    while _width(widths) > available:
        widest = max(range(len(widths)), key=lambda at: 0 if whole[at] else widths[at])
        if whole[widest] or widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
    return widths


def _row(values: Sequence[str], widths: Sequence[int]) -> str:
    padded = (_padded(_cut(value, width), width) for value, width in zip(values, widths, strict=True))
    return _GAP.join(padded).rstrip()


def _cut(text: str, width: int) -> str:
    if cells(text) <= width:
        return text
    while cells(text) > width - 1:
        text = text[:-1]
    return f"{text}…"


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cells(text))
