"""A running local service, and what its functions call of AWS."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate_local import calls, template
from tests.support.aws import aws_for
from tests.support.cli_support import Cli, Founder
from tests.support.local_service import LocalService

HERE = Path(__file__).parent
# Looks at what all the others made the functions do.
LAST = "test_policies.py"
_WHOLE_SUITE = pytest.StashKey[bool]()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name == LAST)
    config.stash[_WHOLE_SUITE] = (
        {item.path for item in items} >= set(HERE.glob("test_*.py"))
        and not config.option.keyword
        and not any("::" in argument for argument in config.args)
    )


@pytest.fixture(scope="session")
def whole_suite(request: pytest.FixtureRequest) -> bool:
    """Whether every end-to-end test runs in this session."""
    return request.config.stash[_WHOLE_SUITE]


@pytest.fixture(scope="session", autouse=True)
def recorded_calls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder in which every service of the session writes down what its functions call."""
    folder = tmp_path_factory.mktemp("calls")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv(calls.VARIABLE, str(folder))
        yield folder


@pytest.fixture(scope="module")
def aws_here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[template.Template]:
    """moto in this process, for one file alone: a service that another one starts must not inherit its environment."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield from aws_for(monkeypatch, tmp_path_factory.mktemp("objects"))


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalService]:
    """One service for all tests; each makes what it needs, and leaves it running."""
    # Together they make more fleets than one organization may have.
    started = LocalService(tmp_path_factory.mktemp("service"), HEADGATE_FLEET_LIMIT="1000")
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
