"""Demands of a check on an answer: each function raises Broken with what came instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from headgate_cli.accept.errors import Broken
from headgate_cli.api import Entity
from headgate_cli.responses import HttpAnswer

_MOST_LETTERS: Final = 300


def shown(value: object) -> str:
    """A value of the server, short enough for a message."""
    text = repr(value)
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…"


def that(holds: bool, otherwise: str) -> None:
    """Raises Broken with the sentence unless it holds."""
    if not holds:
        raise Broken(otherwise)


def equal(what: str, actual: object, expected: object) -> None:
    that(actual == expected, f"{what} is {shown(actual)}, not {shown(expected)}")


def status(answer: HttpAnswer, *statuses: int) -> None:
    detail = (answer.entity() or {}).get("detail", answer.content[:_MOST_LETTERS])
    expected = " or ".join(map(str, statuses))
    that(answer.status in statuses, f"the answer is {answer.status}, not {expected}: {shown(detail)}")


def entity(answer: HttpAnswer, *statuses: int) -> Entity:
    """The JSON object of an answer with that status, by default 200."""
    status(answer, *(statuses or (200,)))
    answered = answer.entity()
    if answered is None:
        raise Broken(f"the answer is not a JSON object: {shown(answer.content[:_MOST_LETTERS])}")
    return answered


def problem(answer: HttpAnswer, expected: int, *, code: str = "", detail: str = "") -> Entity:
    """A problem of RFC 9457 with that status, and that code and message if they are given."""
    answered = entity(answer, expected)
    kind = answer.headers.get("Content-Type", "").partition(";")[0]
    equal("the Content-Type", kind, "application/problem+json")
    lacking = [name for name in ("type", "title", "status", "detail", "code", "request_id") if name not in answered]
    that(not lacking, f"the problem lacks {', '.join(lacking)}")
    equal("the problem's `status`", answered["status"], expected)
    equal("the problem's `request_id`", answered["request_id"], answer.headers.get("X-Request-Id"))
    if code:
        equal("the problem's `code`", answered["code"], code)
    if detail:
        equal("the problem's `detail`", answered["detail"], detail)
    return answered


def names_field(answered: Entity, field: str) -> None:
    """One of the problem's errors is about that field."""
    errors = answered.get("errors")
    places = [error.get("loc") for error in errors if isinstance(error, dict)] if isinstance(errors, list) else []
    that(any(isinstance(loc, list) and field in loc for loc in places), f"no error names {field}: {shown(errors)}")


def items(answered: Entity) -> list[Entity]:
    listed = answered.get("items")
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise Broken(f"`items` is not a list of objects: {shown(listed)}")
    return listed


def text(answered: Entity, field: str) -> str:
    value = answered.get(field)
    if not isinstance(value, str):
        raise Broken(f"`{field}` is not a text: {shown(value)}")
    return value


def number(answered: Entity, field: str) -> int:
    value = answered.get(field)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Broken(f"`{field}` is not a whole number: {shown(value)}")
    return value


def none_broken(broken: Sequence[str]) -> None:
    """Raises Broken with all of them together."""
    that(not broken, "; ".join(broken))
