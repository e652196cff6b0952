"""Starting coverage jobs: what the chosen tests notice."""

from headgate.checker import Asker
from headgate.foundation.caller import Caller
from headgate.runs.jobs import service
from headgate.runs.jobs.model import Job
from headgate.runs.suites.service import Selection
from headgate_engine.collectors import service as collectors
from headgate_engine.testing import coverage


def start(caller: Caller, chosen: Selection, *, collector_version: str | None, max_mutants: int) -> Job:
    """Measure what the tests notice. Raises CollectorVersionNotInstalled, and what `service.start` does."""
    version = collector_version or chosen.collector_version
    of_version = chosen.configuration_id is not None and not collector_version
    collectors.require_installed(
        version, "version_number" if of_version else "collector_version", asker=Asker.of(caller)
    )
    request = coverage.request_of(chosen.yaml, chosen.tests, collector_version=version, max_mutants=max_mutants)
    return service.start_tests(caller, "coverage", request, chosen)
