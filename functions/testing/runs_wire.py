"""Filters and answers of the list of test runs."""

from typing import Annotated, Self

from fastapi import Depends, Query
from pydantic import BaseModel, Field

from headgate.foundation.ids import id_pattern
from headgate.http.wire import Answer, PrincipalOut
from headgate.runs.model import ListedRun, RunFilter, Status
from headgate_engine.collector import Signal
from headgate_engine.wire.runs import RecordsOut
from headgate_engine.wire.times import Time
from testing.wire import records


async def wanted_runs(
    configuration_id: Annotated[
        str | None, Query(pattern=id_pattern("cfg"), description="That test any version of this configuration")
    ] = None,
    pipeline: Annotated[
        str | None,
        Query(min_length=1, max_length=1_024, description="Through this pipeline, such as `logs/a`"),
    ] = None,
    status: Annotated[Status | None, Query(description="With this status")] = None,
) -> RunFilter:
    """The query as what the service takes."""
    return RunFilter(configuration_id, pipeline, status)


WantedRuns = Annotated[RunFilter, Depends(wanted_runs)]


class RuleCountOut(BaseModel):
    """The number of a run's rules, and of those that passed; `passed` is null until the run is final."""

    total: int
    passed: int | None


class RunSummary(Answer):
    """A test run in a list: the single read without texts, rules and what was left out or replaced.

    `rules` and `reason` are null for runs of releases that did not store them, which are gone after 30 days.
    """

    id: str
    status: Status
    success: bool | None = Field(description="null until the status is final")
    reason: str | None = Field(description="In one line: the first rule that did not pass, or the cause of an `Error`")
    rules: RuleCountOut | None
    records: RecordsOut | None
    configuration_id: str | None
    version_number: int | None
    signal_type: Signal
    target_pipeline: str
    duration_seconds: int
    collector_version: str
    trace: bool
    created_by: PrincipalOut
    created_at: Time
    started_at: Time | None
    finished_at: Time | None

    @classmethod
    def of_run(cls, run: ListedRun) -> Self:
        rules = None if run.rules is None else RuleCountOut(total=run.rules, passed=run.rules_passed)
        return cls.of(run, records=records(run), rules=rules)
