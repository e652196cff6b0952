"""`--fix`: the changes of a text that mend its errors, as the server's findings propose them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import click

from headgate_cli import shapes
from headgate_cli.api import Api
from headgate_cli.checks import findings, many
from headgate_cli.errors import Failed
from headgate_cli.output import say
from headgate_cli.safe_files import STDIN, read, rewrite
from headgate_cli.untrusted import one_line

# A mended error may have hidden further ones.
MOST_ROUNDS: Final = 20

option = click.option("--fix", is_flag=True, help="First mend the errors whose fix is known, in the files themselves.")


@dataclass(frozen=True, slots=True)
class TextReplacement:
    """A replacement of the text between two offsets."""

    start: int
    end: int
    text: str


def mend(api: Api, files: Sequence[str], request: Mapping[str, object]) -> None:
    """Write each file with its errors mended, as far as their fixes are known; the rest stays byte for byte.

    Fixes of warnings change what a valid text means, so they are left. Raises Failed, and UsageError for standard
    input.
    """
    if STDIN in files:
        raise click.UsageError("--fix changes files, and standard input is none")
    for file in files:
        before = read(file)
        after, lines = _mended(api, before, request)
        if after == before:
            continue
        rewrite(file, before, after)
        numbers = ", ".join(map(str, sorted(lines)))
        say(f"{one_line(file)}: fixed line{'s' if len(lines) > 1 else ''} {numbers}")


def _mended(api: Api, content: str, request: Mapping[str, object]) -> tuple[str, set[int]]:
    """The text, and its lines that were changed. Fixes keep the number of lines."""
    lines: set[int] = set()
    for _ in range(MOST_ROUNDS if content else 0):
        answer = many.answer(api, shapes.ValidationResult, "/validate", {"yaml": content, **request})
        # The check that follows says why there is no answer.
        edits = [] if isinstance(answer, Failed) else of_errors(content, answer)
        if not edits:
            break
        lines |= {content.count("\n", 0, edit.start) + 1 for edit in edits}
        content = applied(content, edits)
    return content, lines


def of_errors(content: str, answer: shapes.ValidationResult) -> list[TextReplacement]:
    """The edits that mend the errors of an answer of POST /validate."""
    return list(edits_of(content, (entry for entry in answer["findings"] if entry["severity"] == "error")))


def edits_of(content: str, entries: Iterable[shapes.ListedFinding]) -> Iterator[TextReplacement]:
    """The edits of findings, in the order of the text, without those that overlap an earlier one or are misplaced."""
    begins = [0, *(end.end() for end in findings.LINE_END.finditer(content))]
    fixes = (fix for entry in entries for fix in entry.get("fix") or ())
    edits = {edit for fix in fixes if (edit := _edit(fix, begins, len(content)))}
    reached = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start >= reached:
            reached = edit.end
            yield edit


def _edit(fix: shapes.Edit, begins: Sequence[int], length: int) -> TextReplacement | None:
    if not 0 < fix["line"] <= fix["end_line"] <= len(begins):
        return None
    start, end = begins[fix["line"] - 1] + fix["column"] - 1, begins[fix["end_line"] - 1] + fix["end_column"] - 1
    return TextReplacement(start, end, fix["text"]) if 0 <= start <= end <= length else None


def applied(content: str, edits: Sequence[TextReplacement]) -> str:
    """The text with edits that are in order and do not overlap."""
    for edit in reversed(edits):
        content = content[: edit.start] + edit.text + content[edit.end :]
    return content
