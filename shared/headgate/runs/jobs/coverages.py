"""Starting coverage jobs: the tests of a stored version, or of a text."""

from collections.abc import Sequence

from headgate.checker import Asker
from headgate.foundation.caller import Caller
from headgate.foundation.settings import settings
from headgate.runs.jobs import service
from headgate.runs.jobs.model import Job
from headgate.runs.suites import service as suites
from headgate_engine.collectors import service as collectors
from headgate_engine.testing import coverage
from headgate_engine.testing.named_test import NamedTest


def start_of_version(
    caller: Caller,
    configuration_id: str,
    n: int,
    names: Sequence[str] | None,
    *,
    collector_version: str | None,
    max_mutants: int,
) -> Job:
    """Measure what the tests of these names notice, or all.

    Raises ConfigurationNotFound, VersionNotFound, NoTests, TestsNotFound, CollectorVersionNotInstalled, and what
    `service.start` does.
    """
    service.require_room(caller)
    chosen = suites.select(caller, configuration_id, n, names)
    version = collector_version or chosen.collector_version
    collectors.require_installed(
        version, "collector_version" if collector_version else "version_number", asker=Asker.of(caller)
    )
    return service.start(
        caller,
        "coverage",
        coverage.request_of(chosen.yaml, chosen.tests, collector_version=version, max_mutants=max_mutants),
        published=chosen.published,
        configuration_id=configuration_id,
        version_number=n,
        secret=_secret(chosen.tests),
    )


def start_of_text(
    caller: Caller,
    yaml: str,
    tests: Sequence[tuple[str, NamedTest]],
    *,
    collector_version: str | None,
    max_mutants: int,
) -> Job:
    """Measure what tests of a text notice that is not stored.

    Raises CollectorVersionNotInstalled, and what `service.start` does.
    """
    service.require_room(caller)
    version = collector_version or settings().collector_version
    collectors.require_installed(version, "collector_version", asker=Asker.of(caller))
    request = coverage.request_of(yaml, tests, collector_version=version, max_mutants=max_mutants)
    return service.start(caller, "coverage", request, published=False, secret=_secret(tests))


def _secret(tests: Sequence[tuple[str, NamedTest]]) -> bool:
    """Whether the request holds values of variables."""
    return any(test.stand_ins.env for _, test in tests)
