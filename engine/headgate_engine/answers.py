"""Reading what a collector's program answers as the classes that describe it."""

from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

_Answer = TypeVar("_Answer")


def read(kind: type[_Answer], answer: object) -> _Answer:
    """The answer as an object of that class. Raises ValidationError."""
    # Type checkers do not know that classes can be keys.
    hashable: Any = kind
    known: _Answer = _adapter(hashable).validate_python(answer)
    return known


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    """Made at its first use: that takes longer than most imports."""
    return TypeAdapter(kind)
