"""Any value of a stored class, by its type hints."""

import dataclasses
import types
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from pydantic import BaseModel

_BEGIN: Final = datetime(2020, 1, 1, tzinfo=UTC)
_PLAIN: Final[Mapping[type, st.SearchStrategy[Any]]] = {
    str: st.text(max_size=8),
    bool: st.booleans(),
    int: st.integers(0, 10**12),
    float: st.floats(0, 1),
    bytes: st.binary(max_size=8),
    datetime: st.integers(0, 10**12).map(lambda n: _BEGIN + timedelta(milliseconds=n)),
}


def of(hint: Any, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values of the type. Those of a class have something in every field, by `fields` where one is there."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is type(None):
        return st.none()
    if origin in (Union, types.UnionType):
        return st.one_of([of(each) for each in arguments])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Sequence, tuple):
        return st.lists(of(arguments[0]), max_size=2).map(tuple)
    if origin in (Mapping, dict):
        return st.dictionaries(of(arguments[0]), of(arguments[1]), max_size=2)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        hints = get_type_hints(hint)
        names = [field.name for field in dataclasses.fields(hint)]
        return st.builds(hint, **{name: fields[name] if name in fields else of(hints[name]) for name in names})
    if issubclass(hint, BaseModel):
        return st.builds(hint, **{name: of(field.annotation) for name, field in hint.model_fields.items()})
    if issubclass(hint, tuple):
        return st.builds(hint, **{name: of(each) for name, each in get_type_hints(hint).items()})
    return _PLAIN[hint]
