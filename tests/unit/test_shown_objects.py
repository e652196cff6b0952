"""Answers show objects by the names of their attributes, and nothing that is sealed."""

from dataclasses import dataclass
from typing import Annotated

import pytest
from pydantic import ValidationError

from headgate.http.wire import Answer, at


@dataclass
class Named:
    name: str


@dataclass
class Kept:
    id: str
    owner: Named
    secret: bytes = b"\x01sealed"


class Shown(Answer):
    id: str
    owner_name: Annotated[str, at("owner", "name")]


class ShownSecret(Answer):
    id: str
    secret: str | None


def test_fields_are_attributes_or_at_their_path() -> None:
    shown = Shown.of(Kept("k1", Named("Ada")))

    assert shown.model_dump() == {"id": "k1", "owner_name": "Ada"}


def test_a_field_is_of_the_first_object_that_has_it_unless_it_is_given() -> None:
    class Both(Answer):
        id: str
        name: str

    assert Both.of(Named("Ada"), Kept("k1", Named("Eve"))).model_dump() == {"id": "k1", "name": "Ada"}
    assert Both.of(Named("Ada"), id="given").model_dump() == {"id": "given", "name": "Ada"}


def test_what_is_sealed_is_not_shown_for_having_the_name_of_a_field() -> None:
    kept = Kept("k1", Named("Ada"))

    with pytest.raises(ValidationError, match="an answer shows no bytes"):
        ShownSecret.of(kept)
    assert ShownSecret.of(kept, secret="new").secret == "new"


def test_an_answer_is_made_again_from_its_json() -> None:
    shown = Shown.of(Kept("k1", Named("Ada")))

    assert Shown.model_validate_json(shown.model_dump_json()) == shown
