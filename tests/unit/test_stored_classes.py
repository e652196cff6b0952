"""Every class that a store declares to be stored: whatever is in its fields comes out of its item again."""

import importlib
import pkgutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import headgate
from headgate.storage import items
from headgate.storage.stored import Stored, declared
from tests.support import sizes
from tests.support.stored import by_hand, strategies, values

HEADGATE = Path(headgate.__path__[0])


def _declared() -> list[Stored[Any]]:
    """What every module of the service declares, by name."""
    for module in pkgutil.walk_packages(headgate.__path__, "headgate."):
        importlib.import_module(module.name)
    return sorted(declared(), key=_name)


def _name(stored: Stored[Any]) -> str:
    return f"{stored.cls.__module__.removeprefix('headgate.')}.{stored.cls.__name__}"


@pytest.mark.sized
@pytest.mark.parametrize("stored", _declared(), ids=_name)
@settings(
    max_examples=sizes.either(6, 200),
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_every_field_comes_out_of_the_item_again(stored: Stored[Any], data: st.DataObject) -> None:
    value = data.draw(strategies.of(stored.cls))
    elsewhere = {name: getattr(value, name) for name in stored.elsewhere}

    item = items.unmarshal(items.marshal(stored.item(value)))

    # As JSON, which has also the fields that are not compared.
    assert values.as_json(stored.read(item, **elsewhere)) == values.as_json(value)


STORES = [path for path in sorted(HEADGATE.rglob("*.py")) if path.stem == "mapping" or path.stem.endswith("store")]


@pytest.mark.parametrize("path", STORES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_store_copies_no_fields_by_hand(path: Path) -> None:
    assert [*by_hand.copying(path), *by_hand.not_given(path)] == []


def test_copying_by_hand_is_found(tmp_path: Path) -> None:
    store = tmp_path / "store.py"
    store.write_text(
        'def _item(fleet): return {"id": fleet.id, "label": fleet.label, "at": clock.rfc3339(fleet.at)}\n'
        'def _fleet(item): return Fleet(items.text(item, "id"), items.text(item, "label"), at=item["at"])\n'
        'FLEETS = Stored(Fleet, elsewhere=["id", "label"])\n'
        'def _other(item): return FLEETS.read(item, label="")\n'
    )

    assert [*by_hand.copying(store), *by_hand.not_given(store)] == [
        "store.py:1 makes an item of fields",
        "store.py:2 makes a Fleet of attributes",
        "store.py:3 reads no id",
    ]
