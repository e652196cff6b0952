"""Markdown that several generated pages have."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of a table, with an empty line before and after."""
    lines = [_row(head), _row(["---"] * len(head)), *map(_row, rows)]
    return ["", *lines, ""]


def code(text: str) -> str:
    """A span of code, also with backticks in it."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def heading(name: str) -> str:
    """A second-level heading whose anchor keeps capital letters."""
    return f"## {name} {{: #{name} }}"


def _row(cells: Sequence[str]) -> str:
    # A line break would end the row, and a pipe the cell.
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"
