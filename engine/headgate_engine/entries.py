"""The type of lists in answers."""

from __future__ import annotations

from collections.abc import Sequence
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

_Entry = TypeVar("_Entry")


class _AsList:
    """Has pydantic take a sequence for a list: other sequences are read and written by Python code, an entry each."""

    def __get_pydantic_core_schema__(self, sequence: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(GenericAlias(list, get_args(sequence)))


Entries = Annotated[Sequence[_Entry], _AsList()]
"""A sequence that is a list wherever an answer is read or written."""
