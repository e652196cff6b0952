"""The fault injector in the collector's place, for this process and for checkers that a test makes."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headgate import checker
from headgate.checker import Checker
from headgate.checker.installed import Installed
from headgate.checker.limits import Limits
from headgate.settings import settings
from tests.support import faulty


@pytest.fixture
def faulty_collectors(tmp_path: Path) -> Path:
    """The folder of collectors, which has the fault injector as its one version."""
    faulty.install(tmp_path / faulty.VERSION)
    return tmp_path


@pytest.fixture
def faulty_checker(faulty_collectors: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process's checker asks the fault injector."""
    monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", str(faulty_collectors))
    monkeypatch.setenv("HEADGATE_COLLECTOR_VERSION", faulty.VERSION)
    settings.cache_clear()
    checker.close()
    yield
    checker.close()
    settings.cache_clear()


@pytest.fixture
def make_checker(faulty_collectors: Path) -> Iterator[Callable[[Limits], Checker]]:
    """Makes checkers of the fault injector, which are closed after the test."""
    made: list[Checker] = []

    def make(limits: Limits) -> Checker:
        made.append(Checker(Installed(faulty_collectors), faulty.VERSION, limits))
        return made[-1]

    yield make
    for each in made:
        each.close()
