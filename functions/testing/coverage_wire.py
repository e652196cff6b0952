"""Requests and answers of the endpoints of coverage."""

from typing import Annotated

from pydantic import Field

from headgate.foundation.caller import Caller
from headgate.runs.jobs import coverages
from headgate.runs.jobs.model import Job
from headgate_engine.testing.coverage import MAX_MUTANTS, MUTANTS, CoverageResult
from testing.suite_wire import JobOut, TakesTests


class StartCoverage(TakesTests):
    """Either `configuration_id` with `version_number`, and `tests` by name (by default, all); or `yaml` with `tests`.

    `max_mutants`: as many changes of the text are tried at most.
    """

    max_mutants: Annotated[int, Field(ge=1, le=MAX_MUTANTS)] = MUTANTS

    def start(self, caller: Caller) -> Job:
        """Raises what `chosen` and `coverages.start` do."""
        version = self.collector_version
        return coverages.start(caller, self.chosen(caller), collector_version=version, max_mutants=self.max_mutants)


class CoverageOut(JobOut):
    """The share of a configuration that its tests notice. `result` exists once it is `Done`."""

    result: CoverageResult | None
