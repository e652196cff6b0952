"""Starting comparisons: two versions or texts, and the tests that both are given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headgate.checker import Asker
from headgate.configurations import service as configurations
from headgate.foundation.caller import Caller
from headgate.foundation.errors import Invalid, NotFound
from headgate.foundation.settings import settings
from headgate.runs.jobs import service
from headgate.runs.jobs.model import Job
from headgate.runs.suites import service as suites
from headgate_engine.collectors import service as collectors
from headgate_engine.testing import comparison
from headgate_engine.testing.comparison import ComparisonSide, SideName
from headgate_engine.testing.named_test import NamedTest


class NothingToCompare(Invalid):
    """The comparison has no tests, or asks for tests that do not exist."""

    code = "no_tests"
    at = ("body", "tests")


@dataclass(frozen=True, slots=True)
class SideSource:
    """A stored version, or a text; and the collector that runs it, without one the version's own or the default one."""

    yaml: str | None = None
    configuration_id: str | None = None
    n: int | None = None
    collector_version: str | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """A comparison. Without `tests`, those of the right side's version; if there are none, of the left side's.

    `names` chooses among these.
    """

    left: SideSource
    right: SideSource
    tests: Mapping[str, NamedTest] | None = None
    names: Sequence[str] | None = None
    ignore: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class _Resolved:
    side: ComparisonSide
    published: bool


def start(caller: Caller, asked: Ask) -> Job:
    """Start a comparison, which is Queued then. Its texts and tests are read now, with the caller's rights.

    Raises ConfigurationNotFound, VersionNotFound; CollectorVersionNotInstalled, NothingToCompare, BadIgnoredPath;
    SampleTooLarge, JobTooLarge; TooManyRuns; and Unavailable, when nothing was started and no job exists.
    """
    service.require_room(caller)
    asker = Asker.of(caller)
    sources: dict[SideName, SideSource] = {"left": asked.left, "right": asked.right}
    resolved = {name: _resolve(caller, name, source) for name, source in sources.items()}
    for name, source in sources.items():
        field = "collector_version" if source.collector_version else "version_number"
        collectors.require_installed(resolved[name].side.collector_version, field, asker=asker, within=(name,))
    if asked.ignore is not None:
        comparison.require_paths(asked.ignore, asker=asker)
    tests = _tests(asked)
    request = comparison.request_of(resolved["left"].side, resolved["right"].side, tests, asked.ignore)
    right = resolved["right"].side
    return service.start(
        caller,
        "comparison",
        request,
        published=all(each.published for each in resolved.values()),
        configuration_id=right.configuration_id,
        version_number=right.version_number,
        secret=any(test.stand_ins.env for test in tests.values()),
    )


def _resolve(caller: Caller, name: SideName, source: SideSource) -> _Resolved:
    if source.configuration_id is None or source.n is None:
        version = source.collector_version or settings().collector_version
        return _Resolved(ComparisonSide(yaml=source.yaml or "", collector_version=version), published=False)
    try:
        stored = configurations.get_version(caller, source.configuration_id, source.n)
    except NotFound as error:
        error.named_by(name)
        raise
    side = ComparisonSide(
        yaml=stored.yaml or "",
        collector_version=source.collector_version or stored.collector_version,
        configuration_id=source.configuration_id,
        version_number=source.n,
        feature_gates=stored.feature_gates,
    )
    return _Resolved(side, published=stored.status == "published")


def _tests(asked: Ask) -> Mapping[str, NamedTest]:
    """The caller may see the versions by now. Raises NothingToCompare."""
    if asked.tests is not None:
        return asked.tests
    for source in (asked.right, asked.left):
        if source.configuration_id is None or source.n is None:
            continue
        tests = suites.tests_of(source.configuration_id, source.n)
        if tests:
            return _named(tests, asked.names)
    raise NothingToCompare("Neither side is a version with tests: send `tests`, or save tests with a version")


def _named(tests: Mapping[str, NamedTest], names: Sequence[str] | None) -> Mapping[str, NamedTest]:
    if names is None:
        return tests
    absent = [name for name in names if name not in tests]
    if absent:
        raise NothingToCompare(f"There is no test {', '.join(absent)}; the tests are {', '.join(tests)}")
    return {name: tests[name] for name in names}
