"""A running local service, and what its functions call of AWS."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from httpx._transports import default

from tests.support import calls
from tests.support.cli_support import Cli, Founder
from tests.support.local_service import LocalService

HERE = Path(__file__).parent
# Looks at what all the others made the functions do.
LAST = "test_policies.py"
# Names the folder of several sessions together: `make test` sets it for the workers, and then for LAST alone.
RECORDED = "RECORDED_CALLS"
_WHOLE_SUITE = pytest.StashKey[bool]()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name == LAST)
    config.stash[_WHOLE_SUITE] = RECORDED in os.environ or (
        {item.path for item in items} >= set(HERE.glob("test_*.py"))
        and not config.option.keyword
        and not any("::" in argument for argument in config.args)
    )


@pytest.fixture(scope="session")
def whole_suite(request: pytest.FixtureRequest) -> bool:
    """Whether the recorded calls are those of every end-to-end test."""
    return request.config.stash[_WHOLE_SUITE]


@pytest.fixture(scope="session")
def recorded_calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which every service of the suite, on any worker, writes down what its functions call."""
    named = os.environ.get(RECORDED)
    folder = Path(named) if named else tmp_path_factory.mktemp("calls")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module", autouse=True)
def _recording(recorded_calls: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv(calls.VARIABLE, str(recorded_calls))
        yield


@pytest.fixture(scope="session", autouse=True)
def _authorities_read_once() -> Iterator[None]:
    """Each client of a test would read the certificate authorities again, which takes 40 ms."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(default, "create_ssl_context", cache(default.create_ssl_context))
        yield


@pytest.fixture(scope="session", autouse=True)
def _patient_clients() -> Iterator[None]:
    """A client that a test makes waits for five seconds by default, and a service on a busy machine may take longer."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        for part in ("connect", "read", "write", "pool"):
            monkeypatch.setattr(DEFAULT_TIMEOUT_CONFIG, part, 120.0)
        yield


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory, recorded_calls: Path) -> Iterator[LocalService]:
    """One service for all tests; each makes what it needs, and leaves it running."""
    # Together they make more fleets than one organization may have. Agents that a test plays send no heartbeats:
    # by the usual interval they would be silent after 40 seconds, and by this one after two minutes.
    environment = {"HEADGATE_FLEET_LIMIT": "1000", "HEADGATE_FLEET_HEARTBEAT_SECONDS": "15"}
    started = LocalService(tmp_path_factory.mktemp("service"), **environment, **{calls.VARIABLE: str(recorded_calls)})
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


@pytest.fixture(scope="session")
def founder(service: LocalService) -> Founder:
    """Makes new organizations."""
    return Founder(service)


@pytest.fixture
def cli(service: LocalService, founder: Founder, tmp_path: Path) -> Cli:
    """The command line in an empty folder, with a token of an organization that holds nothing."""
    folder = tmp_path / "work"
    folder.mkdir()
    return Cli(folder, service.base_url, founder.token(tmp_path.name[:100]))
