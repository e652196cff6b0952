"""No circle of files: each can be read, tested and moved without those that import it."""

import tomllib
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]


def test_no_file_imports_itself_by_way_of_others() -> None:
    imported = imports(*PACKAGES)

    assert {"headgate.instances.model", "headgate_cli.main", "headgate_engine.threads", "fleets.app"} <= set(imported)
    assert circle(imported) == []


def test_a_circle_by_a_type_or_in_a_function_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "circling"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "first.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from circling.second import X\n"
    )
    (package / "second.py").write_text("def act():\n    from circling import third\n")
    (package / "third.py").write_text("import circling.first\n")
    monkeypatch.syspath_prepend(tmp_path)

    assert set(circle(imports("circling"))) == {"circling.first", "circling.second", "circling.third"}


def imports(*packages: str) -> Mapping[str, set[str]]:
    """What each module of the packages imports from them, also for types alone and within functions."""
    graph = grimp.build_graph(*packages, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def circle(imported: Mapping[str, set[str]]) -> list[str]:
    """The modules of a circle in the order of its imports, the first one again at its end; empty if there is none."""
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
