"""Attributes of items are read as what they have to be, or not at all."""

from collections.abc import Callable, Mapping

import pytest

from headgate.storage import items

Read = Callable[[Mapping[str, items.Value], str], object]


@pytest.mark.parametrize("value", [True, False, "1", b"1", None, [1], {"a": 1}])
@pytest.mark.parametrize("read", [items.number, items.optional_number])
def test_a_number_is_neither_a_bool_nor_anything_else(read: Read, value: items.Value) -> None:
    if value is None and read is items.optional_number:
        assert read({"n": value}, "n") is None
        return
    with pytest.raises(TypeError, match="the attribute n is not a number"):
        read({"n": value}, "n")


@pytest.mark.parametrize("value", [1, True, b"a", None, ["a"]])
def test_a_text_is_nothing_else(value: items.Value) -> None:
    with pytest.raises(TypeError, match="the attribute name is not text"):
        items.text({"name": value}, "name")


def test_a_number_and_a_text_are_read_as_they_are() -> None:
    item: items.Item = {"n": 3, "name": "a"}

    assert (items.number(item, "n"), items.text(item, "name"), items.optional_number({}, "n")) == (3, "a", None)
