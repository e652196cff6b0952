"""Refusals of fields in plain words: pydantic's error types as sentences of ours.

A sentence begins with a capital letter, says what the field must be, and with it the way out.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from headgate_engine.errors import FieldError

HIDDEN: Final = "~"
"""The prefix of a union's tag that is not shown as a part of a place."""
# How `foundation.ids.id_pattern` begins, wherever a pattern has it.
_ID_PREFIX: Final = re.compile(r"\^([a-z]+_)\[0-7\]")
_LONGEST_PART: Final = 200
_OBJECT: Final = "This must be an object"
_TIME: Final = "This must be a time such as 2026-11-20T19:32:02Z"
_WHOLE: Final = "This must be a whole number"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else ('entries' if noun == 'entry' else f'{noun}s')}"


def _least(number: int, noun: str) -> str:
    return "This must not be empty" if number == 1 else f"This needs at least {_counted(number, noun)}"


def _pattern(context: Mapping[str, Any]) -> str:
    prefixes = _ID_PREFIX.findall(context["pattern"])
    if prefixes:
        return f"This must be {' or '.join(prefixes)} and 26 lower-case letters and digits"
    return f"This must match the pattern {context['pattern']}"


def _choice(context: Mapping[str, Any]) -> str:
    expected = {"True": "true", "False": "false"}.get(context["expected"], context["expected"])
    return f"This must be {'one of ' if ' or ' in expected else ''}{expected}"


_SENTENCES: Final[Mapping[str, str | Callable[[Mapping[str, Any]], str]]] = {
    "missing": "This field is required",
    "extra_forbidden": "Unknown field",
    "string_type": "This must be text",
    "string_too_short": lambda context: _least(context["min_length"], "character"),
    "string_too_long": lambda context: f"This may have at most {_counted(context['max_length'], 'character')}",
    "string_pattern_mismatch": _pattern,
    "int_type": _WHOLE,
    "bool_type": "This must be true or false",
    "greater_than_equal": lambda context: f"This must be at least {context['ge']:,}",
    "less_than_equal": lambda context: f"This must be at most {context['le']:,}",
    "too_short": lambda context: _least(context["min_length"], "entry"),
    "too_long": lambda context: f"This may have at most {_counted(context['max_length'], 'entry')}",
    "list_type": "This must be a list",
    "dict_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "literal_error": _choice,
    "datetime_type": _TIME,
}
"""By error type; tests/api/test_refusals.py drives each of them."""


def _cut(part: str | int) -> str | int:
    """A key of a caller's object may have a megabyte."""
    return f"{part[:_LONGEST_PART]}…" if isinstance(part, str) and len(part) > _LONGEST_PART else part


def plain(entry: Mapping[str, Any]) -> FieldError:
    """An entry of pydantic's `ValidationError.errors()` in plain words."""
    shown = [_cut(part) for part in entry["loc"] if not str(part).startswith(HIDDEN)]
    loc = tuple(shown) or ("body",)
    context = entry.get("ctx", {})
    match entry["type"]:
        case "missing" if loc == ("body",):
            return FieldError(loc, "A JSON body is required")
        case "model_attributes_type" if loc == ("body",):
            return FieldError(loc, "The body must be a JSON object, sent with `Content-Type: application/json`")
        case "json_invalid":
            return FieldError(("body",), f"This is not JSON: {context['error']}, at character {loc[-1]}")
        case kind if kind in _SENTENCES:
            sentence = _SENTENCES[kind]
            return FieldError(loc, sentence if isinstance(sentence, str) else sentence(context))
        case _:
            # Ours: a validator's ValueError, or a PydanticCustomError.
            return FieldError(loc, entry["msg"].removeprefix("Value error, "))
