"""docs/data.md against the code: every key that is built, every index of the template, every module it names."""

import importlib.util
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import headgate
from headgate.events import keys as event_keys
from headgate.fleets import keys as fleet_keys
from headgate.storage import table
from headgate.webhooks import keys as webhook_keys
from headgate.webhooks.notifications import keys as notification_keys
from headgate_local.database import DatabaseChange
from tests.support import documented_data
from tests.support.aws import read_template
from tests.support.documented_data import Stored

# By the key's attributes, in their order.
PLACES = {
    ("pk", "sk"): "IdentityTable",
    ("run_id",): "RunsTable",
    ("organization_id", "configuration_id"): "ConfigurationsTable",
    ("configuration_id", "item"): "VersionsTable",
}
# Tables whose key attributes are those of the identity table, by who builds their keys.
OTHERS = {
    fleet_keys: "FleetsTable",
    event_keys: "EventsTable",
    notification_keys: "EventsTable",
    webhook_keys: "EventsTable",
}


def _modules() -> Iterator[ModuleType]:
    for package in pkgutil.walk_packages(headgate.__path__, "headgate."):
        if importlib.util.find_spec(f"{package.name}.keys") if package.ispkg else None:
            yield importlib.import_module(f"{package.name}.keys")


def _built() -> Iterator[tuple[str, tuple[str, ...]]]:
    """An example of every key that a module of keys builds, and the table that it is of."""
    for module in _modules():
        for name, function in inspect.getmembers(module, inspect.isfunction):
            # Some are built by functions of the table.
            here = function.__module__ in (module.__name__, table.__name__)
            if here and inspect.signature(function).return_annotation in (
                table.Key,
                "Key",
            ):
                parameters = inspect.signature(function).parameters.values()
                key = function(*(1 if parameter.annotation in (int, "int") else "x" for parameter in parameters))
                place = OTHERS.get(module) or PLACES[tuple(key)]
                yield place, tuple(str(value) for value in key.values())
                if name == "member":
                    yield place, (str(key["pk"]), "member#inv_x")


@pytest.mark.parametrize("built", [*_built()], ids=str)
def test_every_key_is_documented(built: tuple[str, tuple[str, ...]]) -> None:
    place, key = built
    assert any(kind.holds(place, key, frozenset()) for kind in documented_data.kinds())


def test_every_documented_item_has_a_key() -> None:
    keys = [*_built()]
    for kind in documented_data.kinds():
        assert kind.place == "Bucket" or any(kind.holds(*built, frozenset()) for built in keys), kind.name


def test_keys_and_indexes_are_those_of_the_template() -> None:
    page = documented_data.PAGE.read_text(encoding="utf-8")
    for described in read_template().tables():
        section = page.partition(f"\n## `{described.logical_id}`")[2].partition("\n## ")[0]
        indexes = described.definition.get("GlobalSecondaryIndexes", [])
        for schema in (described.definition["KeySchema"], *(index["KeySchema"] for index in indexes)):
            assert {f"`{key['AttributeName']}`" in section for key in schema} == {True}, described.logical_id
        assert all(f"`{index['IndexName']}`" in section for index in indexes)


def test_every_module_is_there_and_every_store_is_named() -> None:
    package = Path(headgate.__file__).parent
    there = {".".join(path.relative_to(package).with_suffix("").parts) for path in package.rglob("*.py")}

    assert documented_data.modules() - there == set()
    assert {module for module in there if module.endswith("store")} - documented_data.modules() == set()


def test_what_is_not_documented_is_found() -> None:
    stored = Stored(read_template())
    (identity,) = [one.name for one in read_template().tables() if one.logical_id == "IdentityTable"]
    key = '{"pk": {"S": "email#ann@example.com"}, "sk": {"S": "email"}}'
    stored.note([DatabaseChange(f"table/{identity}", key, {"pk": {}, "sk": {}, "user_id": {}})])
    assert not stored.undocumented
    stored.note([DatabaseChange(f"table/{identity}", key, {"pk": {}, "sk": {}, "password": {}})])
    stored.note(
        [DatabaseChange(f"table/{identity}", key.replace("email", "mail"), {"pk": {}, "sk": {}, "user_id": {}})]
    )
    stored.note([DatabaseChange("bucket/b", "elsewhere/x", {})])
    assert len(stored.undocumented) == 3
