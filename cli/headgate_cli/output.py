"""What a command prints: results on standard output, for people or as JSON; everything else on standard error."""

from __future__ import annotations

import json
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import click

_GAP: Final = "  "
# Narrower than this a column says nothing.
_NARROWEST: Final = 8
# As `click.style` writes it: all of an escape that these commands print themselves.
_STYLE: Final = re.compile(r"(\x1b\[(?:0|1|3[1-6])m)")
# JSON escapes the first control characters only; a terminal takes U+009B for the beginning of an escape, too.
_UNESCAPED: Final = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
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
    click.echo(_UNESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", written))


def cells(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return sum(
        0 if unicodedata.category(one) in _NO_CELL else 2 if unicodedata.east_asian_width(one) in "WF" else 1
        for one in text
    )


def printable(text: str) -> str:
    """Without what would drive a terminal: texts come from other people. Line ends and tabs stay."""
    return "".join(one if one.isprintable() or one in "\n\t" else "�" for one in text)


def harmless(text: str) -> str:
    """The same with colours, which are our own."""
    return "".join(part if _STYLE.fullmatch(part) else printable(part) for part in _STYLE.split(text))


def one_line(text: str) -> str:
    """A name within a sentence. With a line end in it, it could say what we did not, to CI's log readers above all."""
    return "".join(one if one.isprintable() else "�" for one in text)


def print_text(content: str) -> None:
    """A text that is the result: byte for byte in a pipe, harmless on a terminal."""
    if sys.stdout.isatty():
        click.echo(printable(content), nl=False)
        return
    # Not by click, which takes out of a pipe what looks like colour.
    sys.stdout.flush()
    sys.stdout.buffer.write(content.encode())
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
    click.echo(click.style(_row(headings, widths), bold=True))
    for row in texts:
        click.echo(_row(row, widths))


def diff(before: str, after: str, names: tuple[str, str]) -> bool:
    """Print a unified diff, coloured on a terminal. Returns whether there was a difference."""
    import difflib

    lines = list(
        _diff_lines(difflib.unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), *names))
    )
    for line in map(printable, lines) if sys.stdout.isatty() else lines:
        colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
        click.echo(click.style(line, fg=colour, bold=line.startswith(("+++", "---"))))
    return bool(lines)


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
