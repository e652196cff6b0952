"""Conversion between classes and items, or parts of items: one converter for every store.

A store declares its class, `_FLEETS = Stored(Fleet, names={"id": "fleet_id"})`, and converts by `_FLEETS.item(fleet)`
and `_FLEETS.read(item)`. Every field is an attribute of its own name unless the declaration says otherwise, so a field
that is added to a class is stored. tests/unit/test_stored_classes.py fills every class that is declared.
docs/decisions/0233-one-converter-for-items.md has the reasons.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from types import UnionType
from typing import Any, Final, Generic, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from headgate.foundation import clock
from headgate.storage.items import Item, Value

Class = TypeVar("Class")


@dataclass(frozen=True, slots=True)
class Form:
    """The stored form of a field, if not that of its type: `read` takes the stored value and the field's type."""

    write: Callable[[Any], Value]
    read: Callable[[Any, Any], object]


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of the items of a declared class; `form` is that of its field, if it is not that of the `type`."""

    name: str
    type: Any
    form: Form | None
    is_optional: bool


class Stored(Generic[Class]):
    """The declaration of a dataclass as an item. As a part of other declared classes it is stored the same."""

    def __init__(
        self,
        cls: type[Class],
        *,
        names: Mapping[str, str] | None = None,
        flat: Collection[str] | Mapping[str, Mapping[str, str]] = (),
        elsewhere: Collection[str] = (),
        unless_default: Collection[str] = (),
        sparse: bool = False,
        absent: Mapping[str, Value] | None = None,
        forms: Mapping[str, Form] | None = None,
        parts: Collection[Stored[Any]] = (),
    ) -> None:
        """`names` has the attributes of fields that are called otherwise. A class in a field that is `flat` has its
        attributes among those of this one, by other names if some are given. What is `elsewhere`, such as in the key,
        is given to `read` by its reader.

        A field in `unless_default` is null where it is empty, 0, False or its default. With `sparse` no attribute is
        null, and none has its field's default. `absent` has the values of attributes that items of earlier releases
        lack, if the class has no default for them. `parts` are the declarations of classes in its fields that stand in
        other modules.
        """
        if cls in _stored:
            raise TypeError(f"{cls.__name__} is stored in another way already")
        _stored[cls] = self
        self.cls = cls
        self.elsewhere = elsewhere
        self._names = names or {}
        self._flat = flat if isinstance(flat, Mapping) else {name: {} for name in flat}
        self._unless_default = unless_default
        self._sparse = sparse
        self._absent = absent or {}
        self.forms = forms or {}
        self.parts = parts

    def item(self, value: Class) -> Item:
        """The attributes of the value."""
        return self._written(value)

    def read(self, item: Mapping[str, Value], **elsewhere: Any) -> Class:
        """The value in the item, with the fields that are `elsewhere`. Raises TypeError for an item of another kind."""
        try:
            return self._read({**item, **elsewhere}, self.cls)
        except (AttributeError, KeyError, TypeError, ValueError, zlib.error) as error:
            raise TypeError(f"this is not the item of a {self.cls.__name__}: {error!r}") from error

    @cached_property
    def _written(self) -> Callable[[Class], Item]:
        options = self._options({"omit": True})
        plain = make_dict_unstructure_fn(self.cls, _converter, _cattrs_omit_if_default=self._sparse, **options)
        flat, sparse = self._flat, self._sparse
        unless_default = [
            (self._attribute(each.name), _converter.unstructure(_default(each)))
            for each in self._fields
            if each.name in self._unless_default
        ]

        def written(value: Class) -> Item:
            item = plain(value)
            for name, names in flat.items():
                part = item.pop(name) or {}
                item |= {names.get(each, each): attribute for each, attribute in part.items()} if names else part
            for name, default in unless_default:
                if not item[name] or item[name] == default:
                    item[name] = None
            return {name: each for name, each in item.items() if each is not None} if sparse else item

        return written

    @cached_property
    def _read(self) -> Callable[[Mapping[str, Value], object], Class]:
        plain = make_dict_structure_fn(self.cls, _converter, **self._options({"struct_hook": _unchanged}))
        hints = get_type_hints(self.cls)
        optional = [self._attribute(name) for name, hint in hints.items() if _is_optional(hint)]
        absent = {**dict.fromkeys(optional), **self._absent}
        flat = [
            (name, names, _declaration(_class_in(hints[name]))._first if _is_optional(hints[name]) else None)
            for name, names in self._flat.items()
        ]

        def read(item: Mapping[str, Value], _: object) -> Class:
            values = {**absent, **{name: each for name, each in item.items() if each is not None}}
            for name, names, first in flat:
                if first is None or values.get(first) is not None:
                    renamed = {each: item.get(attribute) for each, attribute in names.items()}
                    values[name] = {**item, **renamed} if names else item
            return plain(values, self.cls)

        return read

    def attributes(self) -> Iterator[Attribute]:
        """Those of its items, with those of its `flat` fields, and without what is `elsewhere`."""
        hints = get_type_hints(self.cls)
        for each in self._fields:
            cls = _class_in(hints[each.name])
            # An item of before the field was added has none either: then its default is read.
            is_optional = cls is not hints[each.name] or not (each.default is each.default_factory is MISSING)
            if each.name in self._flat:
                for part in _declaration(cls).attributes():
                    name = self._flat[each.name].get(part.name, part.name)
                    yield replace(part, name=name, is_optional=is_optional or part.is_optional)
            elif each.name not in self.elsewhere:
                yield Attribute(self._attribute(each.name), cls, self.forms.get(each.name), is_optional)

    @property
    def _first(self) -> str:
        """The attribute that is there whenever the class is: that of its first field."""
        first = self._fields[0].name
        if first in self._flat:
            return _declaration(_class_in(get_type_hints(self.cls)[first]))._first
        return self._attribute(first)

    @property
    def _fields(self) -> tuple[Field[Any], ...]:
        return fields(cast("Any", self.cls))

    def _attribute(self, field: str) -> str:
        return self._names.get(field, field)

    def _options(self, elsewhere: Mapping[str, Any]) -> dict[str, Any]:
        """The options of cattrs for fields that have another name, form or place."""
        options: dict[str, dict[str, Any]] = {name: {"rename": attribute} for name, attribute in self._names.items()}
        for name in self.elsewhere:
            options.setdefault(name, {}).update(elsewhere)
        for name, form in self.forms.items():
            options.setdefault(name, {}).update(
                unstruct_hook=partial(_in_form, form), struct_hook=partial(_from_form, form)
            )
        return {name: override(**each) for name, each in options.items()}


def declared() -> list[Stored[Any]]:
    """The declarations of loaded modules, and those of parts that were converted."""
    return [*_stored.values()]


def structured(value: object, cls: type[Class]) -> Class:
    """The value in its type, such as a dict of numbers. Raises TypeError, AttributeError or ValueError else."""
    return _converter.structure(value, cls)


def _declaration(cls: type) -> Stored[Any]:
    """The declaration of a class: that of its fields, if a module declares nothing."""
    return _stored[cls] if cls in _stored else Stored(cls)


def _default(field: Field[Any]) -> object:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return None if field.default is MISSING else field.default


def _is_optional(hint: Any) -> bool:
    return get_origin(hint) in (Union, UnionType) and type(None) in get_args(hint)


def _class_in(hint: Any) -> Any:
    return next(each for each in get_args(hint) if each is not type(None)) if _is_optional(hint) else hint


def _is_word(hint: Any) -> bool:
    """True if the type is one of some texts. Values are not checked against them: an item may be of a later release."""
    if get_origin(hint) in (Union, UnionType):
        return all(map(_is_word, get_args(hint)))
    return get_origin(hint) is Literal


def _exactly(cls: type, value: object, _: object) -> object:
    if type(value) is not cls:
        raise TypeError(f"{value!r:.100} is not of type {cls.__name__}")
    return value


def _time(text: Any, _: object) -> datetime:
    """The time that `clock.rfc3339` wrote: a tenth of what `clock.parse` takes, which refuses any other text."""
    if not text.endswith("Z"):
        raise ValueError(f"{text!r:.100} is not a time in UTC")
    return datetime.fromisoformat(text)


def _unchanged(value: object, _: object) -> object:
    return value


def _in_form(form: Form, value: object) -> Value:
    return None if value is None else form.write(value)


def _from_form(form: Form, value: object, cls: object) -> object:
    return None if value is None else form.read(value, cls)


_stored: Final[dict[type, Stored[Any]]] = {}
_converter: Final = Converter(detailed_validation=False)
for _cls in (str, int, bool, bytes):
    _converter.register_structure_hook(_cls, partial(_exactly, _cls))
_converter.register_structure_hook_func(_is_word, partial(_exactly, str))
_converter.register_structure_hook(datetime, _time)
_converter.register_unstructure_hook(datetime, clock.rfc3339)
_converter.register_structure_hook_factory(is_dataclass, lambda cls: _declaration(cls)._read)
_converter.register_unstructure_hook_factory(is_dataclass, lambda cls: _declaration(cls)._written)

JSON: Final = Form(
    lambda value: json.dumps(_converter.unstructure(value), ensure_ascii=False),
    lambda text, cls: _converter.structure(json.loads(text), cls),
)
COMPRESSED: Final = Form(
    lambda text: zlib.compress(text.encode()),
    lambda compressed, _: zlib.decompress(compressed).decode(),
)
COMPRESSED_JSON: Final = Form(
    lambda value: COMPRESSED.write(JSON.write(value)),
    lambda compressed, cls: JSON.read(COMPRESSED.read(compressed, str), cls),
)
HEX: Final = Form(bytes.fromhex, lambda value, _: value.hex())
