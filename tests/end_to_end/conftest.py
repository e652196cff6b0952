"""A running local service."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate_local import template
from tests.conftest import aws_for
from tests.end_to_end.local_service import LocalService


@pytest.fixture(scope="module")
def aws_here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[template.Template]:
    """moto in this process, for one file alone: a service that another one starts must not inherit its environment."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield from aws_for(monkeypatch, tmp_path_factory.mktemp("objects"))


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
