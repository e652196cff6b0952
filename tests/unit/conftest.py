"""Stand-ins: the fault injector for the collector, a bucket, and the command line's server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headgate import checker
from headgate.checker import Checker
from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from tests.support import bucket_stand_in, cli_in_process, comparisons_served, faulty, suites_served, upgrade_reports
from tests.support.answering import Server, serving
from tests.support.bucket_stand_in import Bucket
from tests.support.cli_in_process import Run
from tests.support.upgrade_reports import Upgrade


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


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """What stands in for S3, where links lead."""
    with bucket_stand_in.running() as found:
        monkeypatch.setenv("AWS_ENDPOINT_URL", found.url)
        monkeypatch.delenv("AWS_ENDPOINT_URL_S3", raising=False)
        yield found


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that answers what a test wants."""
    with serving() as started:
        yield started


@pytest.fixture
def run(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs lines of the command line in `tmp_path`, signed in to the server."""
    return cli_in_process.runner(server, tmp_path, monkeypatch, capsys)


@pytest.fixture
def upgrade(run: Run, server: Server, tmp_path: Path) -> Upgrade:
    """Runs lines of `headgate upgrade` in `tmp_path`, which has the file a.yaml."""
    (tmp_path / "a.yaml").write_bytes(upgrade_reports.TEXT.encode())

    def with_report(line: str, report: object = None, **others: object) -> tuple[int, str, str]:
        if report is not None:
            server.answering = upgrade_reports.answering(report, **others)
        return run(f"upgrade {line}")

    return with_report


@pytest.fixture
def suites_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line waits for no suite."""
    monkeypatch.setattr("headgate_cli.jobs.time.sleep", lambda _: None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two configurations, which have a test each."""
    for name in ("edge", "shop"):
        (tmp_path / f"{name}.yaml").write_text(suites_served.YAML)
        (tmp_path / f"{name}.tests").mkdir()
        (tmp_path / f"{name}.tests" / "one.yaml").write_text(suites_served.TEST)
    return tmp_path


@pytest.fixture
def comparisons_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line waits for no comparison."""
    monkeypatch.setattr("headgate_cli.jobs.time.sleep", lambda _: None)


@pytest.fixture
def two_configurations(tmp_path: Path) -> None:
    """A folder with two configurations; the first one has a test."""
    (tmp_path / "a.yaml").write_text(comparisons_served.YAML)
    (tmp_path / "b.yaml").write_text(comparisons_served.YAML + "# other\n")
    (tmp_path / "a.tests").mkdir()
    (tmp_path / "a.tests" / "one.yaml").write_text(comparisons_served.TEST)
