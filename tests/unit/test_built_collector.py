"""Tests that need the collector are skipped where none was ever built, and never in CI."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support import built_collector


class _Test(pytest.Item):
    def runtest(self) -> None: ...


@pytest.fixture
def items(request: pytest.FixtureRequest) -> list[pytest.Item]:
    """A test with each mark that needs it, and one without."""
    made = [_Test.from_parent(request.session, name=mark) for mark in ("collector", "end_to_end", "contract")]
    for test in made:
        test.add_marker(test.name)
    return made


def skipped(items: list[pytest.Item], environment: Mapping[str, str]) -> list[str]:
    built_collector.skip_without(items, environment)
    return [item.name for item in items if item.get_closest_marker("skip")]


def test_where_none_was_built_those_that_need_it_are_skipped_with_the_way_out(
    items: list[pytest.Item], tmp_path: Path
) -> None:
    assert skipped(items, {"HEADGATE_COLLECTORS_DIR": str(tmp_path)}) == ["collector", "end_to_end"]
    reason = next(items[0].iter_markers("skip")).kwargs["reason"]
    assert "`make collector` builds it" in reason


@pytest.mark.parametrize("variable", [{"CI": "true"}, {"CI": "1"}, {"HEADGATE_REQUIRE_COLLECTOR": "yes"}])
def test_none_is_skipped_where_it_is_required(
    items: list[pytest.Item], tmp_path: Path, variable: Mapping[str, str]
) -> None:
    assert skipped(items, {"HEADGATE_COLLECTORS_DIR": str(tmp_path), **variable}) == []


def test_none_is_skipped_where_one_was_built(items: list[pytest.Item], tmp_path: Path) -> None:
    program = tmp_path / "0.139.0" / "otelcol-contrib"
    program.parent.mkdir()
    program.write_bytes(b"")

    assert skipped(items, {"HEADGATE_COLLECTORS_DIR": str(tmp_path), "CI": "false"}) == []
