"""What is wrong with a request is said in plain words, whatever pydantic calls it."""

import math
import re
from collections.abc import Iterator

import pytest
from pydantic import BaseModel, ValidationError

from headgate_engine.wire import refusals
from headgate_engine.wire.inputs import Input
from tests.support.routes import applications

BAD: tuple[object, ...] = (
    *(None, True, -1, 0, 1.5, 10**12, math.nan, "", " ", "x", "x" * 70_000, "2026-99-99T00:00:00Z", "2026-11-20"),
    *([], [None], ["x"], [{}], [{"name": 1}], ["x"] * 1_100, {}, {"x": None}, {"x": 1}, {"": "x"}),
    {f"x{n}": "y" for n in range(200)},
    {"colour": 1},
)


def models() -> Iterator[type[BaseModel]]:
    """Every model that a body of the API or a part of one has."""
    assert [*applications()]
    waiting = [Input]
    while waiting:
        model = waiting.pop()
        waiting += model.__subclasses__()
        if model.__module__.partition(".")[0] != "tests":
            yield model


def entries() -> Iterator[tuple[str, dict[str, object]]]:
    """What pydantic says of each model with each bad value in all of its fields, and of bodies that are not objects."""
    for model in models():
        names = [field.alias or name for name, field in model.model_fields.items()]
        for bad in [{"colour": 1}, {}, None, [], "x", *(dict.fromkeys(names, bad) for bad in BAD)]:
            try:
                # As FastAPI does.
                model.model_validate(bad, from_attributes=True)
            except ValidationError as error:
                for entry in error.errors():
                    yield model.__name__, {**entry, "loc": ("body", *entry["loc"])}


def test_every_error_of_every_model_is_a_plain_sentence() -> None:
    pydantics = re.compile(r"\b(Input|valid (string|integer|list|dictionary|boolean)|should|after validation)\b")
    told, kinds = set(), set()
    for model, entry in entries():
        kinds.add(entry["type"])
        told.add((model, str(entry["type"]), refusals.plain(entry).message))

    # `fixed` is ours, as every value_error is: their sentences are written where they are raised.
    assert kinds - {"value_error", "fixed"} == set(refusals._SENTENCES)
    assert [one for one in told if pydantics.search(one[2]) or not re.match("[A-Z`'$]", one[2])] == []


@pytest.mark.parametrize(
    ("kind", "context", "sentence"),
    [
        ("too_short", {"min_length": 1, "actual_length": 0}, "This must not be empty"),
        ("too_short", {"min_length": 2, "actual_length": 0}, "This needs at least 2 entries"),
        ("too_long", {"max_length": 20, "actual_length": None}, "This may have at most 20 entries"),
        ("string_too_short", {"min_length": 1}, "This must not be empty"),
        ("string_too_short", {"min_length": 3}, "This needs at least 3 characters"),
        ("string_too_long", {"max_length": 2_000}, "This may have at most 2,000 characters"),
        ("less_than_equal", {"le": 60}, "This must be at most 60"),
        ("literal_error", {"expected": "'a', 'b' or 'c'"}, "This must be one of 'a', 'b' or 'c'"),
        ("literal_error", {"expected": "True"}, "This must be true"),
    ],
)
def test_a_sentence_says_what_the_field_must_be(kind: str, context: dict[str, object], sentence: str) -> None:
    entry = {"type": kind, "loc": ("body", "it"), "msg": "Input should be right", "ctx": context}

    assert refusals.plain(entry).message == sentence
