"""Everything that is asked of one text, in one question: the collector parses, resolves and decodes the text once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from pydantic import TypeAdapter, ValidationError

from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import CheckerFailed, Refused
from headgate_engine.errors import Unavailable

Ends = Mapping[tuple[int, int], tuple[int, int]]
"""The end of the key, value or word that begins at a line and column."""
_ENDS: Final = TypeAdapter(list[tuple[int, int, int, int]])
_MOST_ENDS: Final = 10_000


def asked(
    question: Mapping[str, object], parts: Sequence[str], version: str | None, *, asker: Asker
) -> tuple[Asker, Ends]:
    """An asker that has the answers to `validate` and to these parts already, and where findings end.

    If they could not be had together, each operation is asked for itself: what one part costs, or breaks, takes nothing
    away from the others.
    """
    try:
        answer = asker.ask("check", {**question, "parts": list(parts)}, version=version)
    except (Refused, CheckerFailed):
        return asker, {}
    except Unavailable as error:
        # The verdict's own failure, for whoever asks for it next.
        return replace(asker, answers={"validate": error}), {}
    answers: dict[str, Mapping[str, object] | Exception] = {"validate": answer}
    for name in parts:
        match answer.get(name):
            case {"problem": {"code": str(code), "message": str(message)}}:
                answers[name] = Refused(code, message)
            case {"result": dict(result)}:
                answers[name] = result
    return replace(asker, answers=answers), _ends(answer.get("ends"))


def _ends(answer: object) -> Ends:
    """Read the ends of words; empty for an answer in another form: findings do without."""
    try:
        ends = _ENDS.validate_python(answer)
    except ValidationError:
        return {}
    return {(line, column): (last, end) for line, column, last, end in ends[:_MOST_ENDS]}
