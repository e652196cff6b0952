"""Starting suites: the tests of a stored version, or of a text."""

from collections.abc import Sequence

from headgate import checker
from headgate.foundation.caller import Caller
from headgate.foundation.settings import settings
from headgate.runs.jobs import service
from headgate.runs.jobs.model import Job
from headgate.runs.suites import service as suites
from headgate_engine.testing import suite
from headgate_engine.testing.named_test import NamedTest


def start_of_version(
    caller: Caller,
    configuration_id: str,
    n: int,
    names: Sequence[str] | None,
    *,
    collector_version: str | None,
    with_output: bool,
) -> Job:
    """Run the tests of these names, or all, which leaves evidence. Later changes of text and tests do not matter to it.

    Raises ConfigurationNotFound, VersionNotFound, NoTests, TestsNotFound, and what `service.start` does.
    """
    service.require_room(caller)
    chosen = suites.select(caller, configuration_id, n, names)
    version = collector_version or chosen.collector_version
    request = suite.request_of(
        chosen.yaml,
        chosen.tests,
        collector_version=version,
        feature_gates=chosen.feature_gates,
        all_tests_sha256=chosen.tests_sha256,
        with_output=with_output,
        first_build=not checker.is_whole(version),
    )
    return service.start(
        caller,
        "suite",
        request,
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
    with_output: bool,
) -> Job:
    """Run tests of a text that is not stored; they leave no evidence. Raises what `service.start` does."""
    version = collector_version or settings().collector_version
    request = suite.request_of(yaml, tests, collector_version=version, with_output=with_output)
    return service.start(caller, "suite", request, published=False, secret=_secret(tests))


def _secret(tests: Sequence[tuple[str, NamedTest]]) -> bool:
    """Whether the request holds values of variables."""
    return any(test.stand_ins.env for _, test in tests)
