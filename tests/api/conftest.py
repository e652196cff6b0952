"""Tests of the API in this process: the built collector is there for those that are marked to need it."""

from collections.abc import Iterator

import pytest

from headgate import checker
from headgate.foundation.settings import settings
from tests.support import asked_once, built_collector


@pytest.fixture(autouse=True)
def _collector_for_marked_tests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if built_collector.needs(request.node):
        asked_once.install(monkeypatch)
        yield
        return
    monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", "/nonexistent")
    settings.cache_clear()
    # The test before may have asked, and that one after may have to ask, what is installed elsewhere.
    checker.close()
    yield
    checker.close()
