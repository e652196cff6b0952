"""Starting suites of the chosen tests."""

from headgate import checker
from headgate.foundation.caller import Caller
from headgate.runs.jobs import service
from headgate.runs.jobs.model import Job
from headgate.runs.suites.service import Selection
from headgate_engine.testing import suite


def start(caller: Caller, chosen: Selection, *, collector_version: str | None, with_output: bool) -> Job:
    """Run the tests. Those of a stored version leave evidence, whatever changes later of its text and tests.

    Raises what `service.start` does.
    """
    version = collector_version or chosen.collector_version
    request = suite.request_of(
        chosen.yaml,
        chosen.tests,
        collector_version=version,
        feature_gates=chosen.feature_gates,
        all_tests_sha256=chosen.tests_sha256,
        with_output=with_output,
        first_build=chosen.tests_sha256 is not None and not checker.is_whole(version),
    )
    return service.start_tests(caller, "suite", request, chosen)
