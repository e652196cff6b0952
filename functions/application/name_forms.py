"""The name field of forms, and forms that were refused."""

from collections.abc import Mapping
from dataclasses import dataclass

from headgate.foundation import errors
from headgate.http.statuses import status_of
from web.html import Html
from web.parts import text


@dataclass(frozen=True, slots=True)
class BadName:
    """A form that was refused: what was typed, and why it was refused."""

    form: Mapping[str, str]
    error: errors.HeadgateError


def status(wrong: BadName | None) -> int:
    return status_of(wrong.error) if wrong else 200


def name_field(wrong: BadName | None, value: str = "", *, as_id: str = "", hint: str = "") -> Html:
    shown = wrong.form.get("name", "") if wrong else value
    return text("name", "Name", shown, most=200, as_id=as_id, hint=hint, error=wrong.error.detail if wrong else "")


def name_of(form: dict[str, str]) -> str:
    name = form.get("name", "").strip()
    if not 1 <= len(name) <= 200:
        raise errors.Invalid("A name has 1 to 200 characters")
    return name
