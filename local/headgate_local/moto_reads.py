"""Forms of an item that moto computes with each read, computed once until the item is written.

The token and the group of a fleet are read with every message of its hosts. Call it with moto's lock held.
"""

from __future__ import annotations

import marshal
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from moto.dynamodb.models.dynamo_type import Item, LimitedSizeDict
from moto.dynamodb.models.utilities import bytesize, dynamo_to_dict

_Form = TypeVar("_Form")

_MOST: Final = 1_000
"""The forms that are held; those of all items would take more memory than the items."""

# By the identity of the item's attributes, which are in the entry, so that nothing else gets that identity meanwhile.
_known: Final[OrderedDict[tuple[int, str], tuple[LimitedSizeDict, Any]]] = OrderedDict()
_FORMS: Final = ("plain", "size", "value")


def plain(answer: Any) -> Any:
    """The answer as moto's `dynamo_to_dict` converts it."""
    kind = type(answer)
    if kind is LimitedSizeDict:
        # As bytes, so that each reader has its own.
        return marshal.loads(_once(answer, "plain", _dumped))  # noqa: S302  bytes that this process dumped above
    if kind is dict:
        return {name: plain(part) for name, part in answer.items()}
    if kind is list:
        return [plain(part) for part in answer]
    return dynamo_to_dict(answer)


def size(item: Item) -> int:
    """The bytes of the item, as moto's `Item.size` counts them."""
    return _once(item.attrs, "size", _size)


def value(item: Item, make: Callable[[Item], _Form]) -> _Form:
    """The item as `make` converts it."""
    return _once(item.attrs, "value", lambda _: make(item))


def forget(items: Iterable[Item | None]) -> None:
    """Compute it again: these items may be changed where they are."""
    for item in items:
        if item is not None:
            for form in _FORMS:
                _known.pop((id(item.attrs), form), None)


def _once(attributes: LimitedSizeDict, form: str, make: Callable[[LimitedSizeDict], _Form]) -> _Form:
    place = (id(attributes), form)
    known = _known.get(place)
    if known is None:
        known = _known[place] = (attributes, make(attributes))
        if len(_known) > _MOST:
            _known.popitem(last=False)
    else:
        _known.move_to_end(place)
    form_of_item: _Form = known[1]
    return form_of_item


def _dumped(attributes: LimitedSizeDict) -> bytes:
    return marshal.dumps(dynamo_to_dict(attributes))


def _size(attributes: LimitedSizeDict) -> int:
    return sum(bytesize(name) + attribute.size() for name, attribute in attributes.items())
