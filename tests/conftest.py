"""The functions' routes on moto in this process, with the template's tables."""

import gc
import os
import re
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from functools import partial

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from headgate import checker
from headgate.foundation.settings import settings
from headgate.identity import invitations
from headgate.identity import service as identity
from headgate_local import template
from tests.support import built_collector, members, second_version, sizes
from tests.support.aws import aws_for
from tests.support.members import JoinWith
from tests.support.own_path import own_environment

_NEW_ID = re.compile(r"\b([a-z]{3})_[0-9a-hjkmnp-tv-z]{26}")
# Longer values stay out of the names of tests: nobody reads them there.
_LONGEST_NAMED = 1000

# A change is judged by the same examples as the change before it; `make trust` looks for others.
# No example fails for the time it takes.
hypothesis_settings.register_profile(
    "sized", derandomize=not sizes.FULL, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("sized")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Tests are called the same on every worker: new ids, and times in packed bytes are left out."""
    if isinstance(val, bytes) and val.startswith(b"\x1f\x8b"):
        return "gzip"
    if not isinstance(val, str) or len(val) > _LONGEST_NAMED:
        return None
    return _NEW_ID.sub(r"\1_…", val) if _NEW_ID.search(val) else None


def pytest_configure(config: pytest.Config) -> None:
    """What the process that starts the workers has in its environment, they have too."""
    if not hasattr(config, "workerinput"):
        second_version.put_off()
        environment = ExitStack()
        environment.enter_context(own_environment())
        config.add_cleanup(environment.close)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    second_version.last(items)
    built_collector.skip_without(items, os.environ)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    second_version.wait(item)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Leave what is imported and collected out of the collection of garbage: it took a twelfth of the tests' time.

    None is looked for meanwhile, since nearly all that is made stays.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Leave what a test that passes has printed out of its report, which a worker would send to be thrown away."""
    report = yield
    if report.passed:
        report.sections.clear()
    return report


def pytest_sessionfinish() -> None:
    """Look for garbage once: pytest and then Python do so several times, which took seconds on each worker."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the time of each suite: what its tests took one by one, fixtures included, on however many workers."""
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds["/".join(report.nodeid.split("/")[:2])] += report.duration
    if seconds:
        terminalreporter.section("seconds of each suite, summed over its tests")
        for suite, took in sorted(seconds.items()):
            terminalreporter.write_line(f"{took:7.1f} {suite}")


@pytest.fixture(autouse=True)
def _settings_of_one_test(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Only tests of a running service wait the two seconds.
    monkeypatch.setattr(invitations, "_ANSWERED_EVERY_SECONDS", 0.001)
    settings.cache_clear()
    yield
    settings.cache_clear()


@pytest.fixture(scope="module")
def own_checker() -> Iterator[None]:
    """No check process is shared with the tests of other modules."""
    settings.cache_clear()
    checker.close()
    yield
    checker.close()


@pytest.fixture(scope="module")
def aws_here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[template.Template]:
    """Tables and bucket of the template, for all tests of a module: each makes organizations of its own."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield from aws_for(monkeypatch, tmp_path_factory.mktemp("objects"))


@pytest.fixture
def organization_id(aws_here: template.Template) -> str:
    """A new organization."""
    return identity.create_organization("Acme").id


@pytest.fixture
def join(organization_id: str) -> JoinWith:
    """Makes a member: `join(routers, name, access=…, organization_id=…)`."""
    return partial(members.join, default_organization_id=organization_id)


@pytest.fixture
def fleets_without_collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fleets have an address to report to, and no collector is installed here: what is assigned is "not checked"."""
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
    monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", "/nonexistent")
    settings.cache_clear()
    checker.close()
    yield
    checker.close()
