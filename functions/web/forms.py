"""Reading the forms that browsers post."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Generic, TypeVar
from urllib.parse import parse_qsl

from fastapi import Request
from pydantic import ValidationError

from headgate.foundation import errors
from headgate_engine.wire import refusals
from headgate_engine.wire.inputs import Input
from web.parts import Fields

_MAX_FIELDS = 200
_MINUTE: Final = "%Y-%m-%dT%H:%M"


Chosen = TypeVar("Chosen")
Model = TypeVar("Model", bound=Input)


@dataclass(frozen=True, slots=True)
class Filters(Generic[Chosen]):
    """The typed values of a form that filters a list, the filter that they ask for, and the errors by field."""

    typed: Mapping[str, str]
    chosen: Chosen
    problems: Mapping[str, str]

    @property
    def fields(self) -> Fields:
        return Fields(self.typed, self.problems)


def by_field(error: errors.HeadgateError | None) -> dict[str, str]:
    """The first error of each field, also of those that an entry of a list has; without errors of the whole."""
    match error:
        case errors.Invalid() | errors.Conflict():
            problems: dict[str, str] = {}
            for wrong in _at_fields(error.errors):
                *_, before, last = wrong.loc
                in_entry = isinstance(before, int) and isinstance(last, str)
                problems.setdefault(str(last if in_entry else wrong.loc[1]), wrong.message)
            return problems
        case errors.NotFound() if error.field:
            return {error.field: error.detail.removeprefix(f"{error.field}: ")}
    return {}


def by_line(error: errors.HeadgateError | None) -> dict[str, str]:
    """The first error of each field, with the line that an entry of a list stands in; without errors of the whole."""
    problems: dict[str, str] = {}
    for wrong in _at_fields(error.errors) if isinstance(error, errors.Invalid) else ():
        field, *entry = wrong.loc[1:]
        line = f"Line {entry[0] + 1}: " if entry and isinstance(entry[0], int) else ""
        problems.setdefault(str(field), f"{line}{wrong.message}")
    return problems


def _at_fields(every: Iterable[errors.FieldError]) -> list[errors.FieldError]:
    return [wrong for wrong in every if len(wrong.loc) > 1]


def model_of(model: type[Model], values: Mapping[str, object]) -> Model:
    """Build the API's model from a form's values. Raises Invalid with the API's sentences."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        wrong = [refusals.plain({**entry, "loc": ("body", *entry["loc"])}) for entry in error.errors()]
        raise errors.Invalid(wrong[0].message, wrong) from error


def filled(form: Mapping[str, str], *names: str) -> dict[str, str]:
    """The fields that are not empty, without blanks around them."""
    return {name: form[name].strip() for name in names if form.get(name, "").strip()}


def number_of(text: str) -> int | str:
    """The number, or what is not one, which the API's model refuses."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text


async def read_form(request: Request) -> dict[str, str]:
    """The fields of the body; the last value of a repeated field. Raises Invalid if the body is not a form."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != "application/x-www-form-urlencoded":
        raise errors.Invalid("The body must be a form, `application/x-www-form-urlencoded`")
    try:
        text = (await request.body()).decode("utf-8")
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict"))
    except ValueError as error:
        raise errors.Invalid(f"The form must be UTF-8 text with at most {_MAX_FIELDS} fields") from error


def read_minute(text: str, field: str) -> datetime:
    """The time in UTC of a field of the type `datetime-local`. Raises Invalid, naming the field."""
    try:
        return datetime.strptime(text[:16], _MINUTE).replace(tzinfo=UTC)
    except ValueError:
        message = "Give a time in UTC, such as 2026-11-20T19:32"
        raise errors.Invalid(message, at=("form", field)) from None
