"""`--fix`: the changes of a text that mend its errors, as the server's findings propose them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from headgate_cli.api import Api, Entity, entities
from headgate_cli.checks import findings, many
from headgate_cli.errors import Failed
from headgate_cli.output import say
from headgate_cli.safe_files import STDIN, read, read_bytes, replace
from headgate_cli.untrusted import one_line

# A mended error may have hidden further ones.
_MOST_ROUNDS: Final = 20

option = click.option("--fix", is_flag=True, help="First mend the errors whose fix is known, in the files themselves.")


@dataclass(frozen=True, slots=True)
class Edit:
    """What stands between two offsets of a text gives way to `text`."""

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
        if read_bytes(Path(file)) != before.encode():
            raise Failed(f"{one_line(file)} was changed meanwhile: nothing was written, run the command again")
        try:
            replace(Path(file), after.encode())
        except OSError as error:
            raise Failed(f"cannot write {one_line(file)}: {error.strerror}") from error
        numbers = ", ".join(map(str, sorted(lines)))
        say(f"{one_line(file)}: fixed line{'s' if len(lines) > 1 else ''} {numbers}")


def _mended(api: Api, content: str, request: Mapping[str, object]) -> tuple[str, set[int]]:
    """The text, and its lines that were changed. Fixes keep the number of lines."""
    lines: set[int] = set()
    for _ in range(_MOST_ROUNDS if content else 0):
        answer = many.answer(api, "/validate", {"yaml": content, **request})
        # The check that follows says why there is no answer.
        edits = [] if isinstance(answer, Failed) else [*edits_of(content, _errors(answer))]
        if not edits:
            break
        lines |= {content.count("\n", 0, edit.start) + 1 for edit in edits}
        content = applied(content, edits)
    return content, lines


def _errors(answer: Entity) -> Iterator[Entity]:
    return (entry for entry in entities(answer, "findings") if entry.get("severity") == "error")


def edits_of(content: str, entries: Iterator[Entity]) -> Iterator[Edit]:
    """The edits of findings, in the order of the text, without those that overlap an earlier one or are misplaced."""
    begins = [0, *(end.end() for end in findings.LINE_END.finditer(content))]
    edits = {
        edit
        for entry in entries
        if isinstance(entry.get("fix"), list)
        for part in entities(entry, "fix")
        if (edit := _edit(part, begins, len(content)))
    }
    reached = 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if edit.start >= reached:
            reached = edit.end
            yield edit


def _edit(part: Entity, begins: Sequence[int], length: int) -> Edit | None:
    match part:
        case {
            "line": int(line),
            "column": int(column),
            "end_line": int(last),
            "end_column": int(end),
            "text": str(text),
        } if 0 < line <= last <= len(begins):
            start, stop = begins[line - 1] + column - 1, begins[last - 1] + end - 1
            return Edit(start, stop, text) if 0 <= start <= stop <= length else None
    return None


def applied(content: str, edits: Sequence[Edit]) -> str:
    """The text with edits that are in order and do not overlap."""
    for edit in reversed(edits):
        content = content[: edit.start] + edit.text + content[edit.end :]
    return content
