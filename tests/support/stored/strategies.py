"""Any value of a stored class, by its type hints."""

import dataclasses
import types
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from pydantic import BaseModel

from headgate.instances.counting.census import CensusEntry
from headgate.storage.stored import HEX, declared

_BEGIN: Final = datetime(2020, 1, 1, tzinfo=UTC)
_PLAIN: Final[Mapping[type, st.SearchStrategy[Any]]] = {
    str: st.text(max_size=8),
    bool: st.booleans(),
    int: st.integers(0, 10**12),
    float: st.floats(0, 1),
    bytes: st.binary(max_size=8),
    datetime: st.integers(0, 10**12).map(lambda n: _BEGIN + timedelta(milliseconds=n)),
}


# Instances whose hosts sign are counted apart from entries, by day.
_FIXED: Final[Mapping[tuple[type, str], st.SearchStrategy[Any]]] = {(CensusEntry, "keyed"): st.just(False)}


def of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of the type. Those of a class may have something in every field."""
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
        return st.builds(hint, **{field.name: _of_field(hint, field.name, hints) for field in dataclasses.fields(hint)})
    if issubclass(hint, BaseModel):
        return st.builds(hint, **{name: of(field.annotation) for name, field in hint.model_fields.items()})
    if issubclass(hint, tuple):
        return st.builds(hint, **{name: of(each) for name, each in get_type_hints(hint).items()})
    return _PLAIN[hint]


def _of_field(cls: type, name: str, hints: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    if (cls, name) in _FIXED:
        return _FIXED[cls, name]
    in_hex = any(stored.cls is cls and stored.forms.get(name) is HEX for stored in declared())
    if not in_hex:
        return of(hints[name])
    texts = st.binary(max_size=4).map(bytes.hex)
    return texts | st.none() if type(None) in get_args(hints[name]) else texts
