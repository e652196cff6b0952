"""What a command prints: results on standard output, for people or as JSON; everything else on standard error."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import click

from headgate_cli.errors import Failed
from headgate_cli.untrusted import command, harmless, harmless_json, holds_command, printable

_GAP: Final = "  "
# Narrower than this a column says nothing.
_NARROWEST: Final = 8
# Unicode's marks that stand on or around the character before.
_NO_CELL: Final = ("Mn", "Me")


def say(message: str) -> None:
    """For people, beside the result."""
    click.echo(harmless(message), err=True)


def tell(message: str) -> None:
    """A result for people."""
    click.echo(harmless(message))


def dump(value: object) -> None:
    """A result for programs."""
    tell_json(json.dumps(value, ensure_ascii=False, indent=2))


def tell_json(written: str) -> None:
    """The same for what is JSON already."""
    click.echo(harmless_json(written))


def cells(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return sum(
        0 if unicodedata.category(one) in _NO_CELL else 2 if unicodedata.east_asian_width(one) in "WF" else 1
        for one in text
    )


def print_commands(lines: Iterable[str]) -> None:
    """Commands to GitHub's runner, whose data are escaped already."""
    for line in lines:
        click.echo(command(line))


def print_text(content: str) -> None:
    """A text that is the result: byte for byte in a pipe, harmless on a terminal.

    Raises Failed where a workflow's log may get it, and would take a line of it for a command.
    """
    if sys.stdout.isatty():
        click.echo(printable(content), nl=False)
        return
    if _may_be_obeyed() and holds_command(content):
        raise Failed("the workflow's log would take a line of this text for a command: write it to a file by `> FILE`")
    # Not by click, which takes out of a pipe what looks like colour.
    sys.stdout.flush()
    sys.stdout.buffer.write(content.encode(errors="replace"))
    sys.stdout.buffer.flush()


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, nothing: str) -> None:
    """A table as wide as the terminal at most; in a pipe nothing is cut off. `nothing` is said where no row is."""
    texts = [[_shown(value) for value in row] for row in rows]
    if not texts:
        say(nothing)
        return
    widths = [max(map(cells, column)) for column in zip(headings, *texts, strict=True)]
    if sys.stdout.isatty():
        widths = _fitting(widths, shutil.get_terminal_size().columns)
    tell(click.style(_row(headings, widths), bold=True))
    for row in texts:
        tell(_row(row, widths))


def diff(before: str, after: str, names: tuple[str, str]) -> bool:
    """Print a unified diff, coloured on a terminal. Returns whether there was a difference."""
    import difflib

    lines = list(
        _diff_lines(difflib.unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), *names))
    )
    for line in map(harmless, lines) if sys.stdout.isatty() or _may_be_obeyed() else lines:
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        click.echo(click.style(line, fg=colour, bold=line.startswith(("+++", "---"))))
    return bool(lines)


def _may_be_obeyed() -> bool:
    """Whether a runner reads what is printed, or may: a step's log is a pipe, and what `>` opens is a file."""
    in_workflow = os.environ.get("GITHUB_ACTIONS") or os.environ.get("TF_BUILD")
    return bool(in_workflow) and not stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)


def since(timestamp: str) -> str:
    """A timestamp of the API without its fraction, as people read it."""
    return f"{timestamp[:10]} {timestamp[11:16]}" if len(timestamp) > 16 else timestamp


def _diff_lines(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line.rstrip("\r\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _shown(value: object) -> str:
    text = "-" if value is None or value == "" else str(value)
    # One line a row, whatever a name holds; control characters could drive the terminal.
    return "".join(one if one.isprintable() else " " for one in text)


def _fitting(widths: list[int], available: int) -> list[int]:
    """Take what is too much from the widest columns."""
    widths = list(widths)
    while sum(widths) + len(_GAP) * (len(widths) - 1) > available:
        widest = max(range(len(widths)), key=lambda at: widths[at])
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
    return widths


def _row(values: Sequence[str], widths: Sequence[int]) -> str:
    shown = (_padded(_cut(value, width), width) for value, width in zip(values, widths, strict=True))
    return _GAP.join(shown).rstrip()


def _cut(text: str, width: int) -> str:
    if cells(text) <= width:
        return text
    while cells(text) > width - 1:
        text = text[:-1]
    return f"{text}…"


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cells(text))
