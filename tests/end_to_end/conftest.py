"""A running local service."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.local_service import LocalService


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalService]:
    """One service for all tests; each makes what it needs, and leaves it running."""
    started = LocalService(tmp_path_factory.mktemp("service"))
    started.start()
    yield started
    started.stop()


@pytest.fixture
def own_service(tmp_path: Path) -> Iterator[LocalService]:
    """A service for one test alone, to be stopped and killed."""
    started = LocalService(tmp_path / "data")
    started.start()
    yield started
    started.stop()
