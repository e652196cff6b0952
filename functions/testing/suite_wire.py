"""Requests and answers of the endpoints of suites."""

from typing import Annotated, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from headgate.foundation.caller import Caller
from headgate.http.wire import Answer
from headgate.runs.jobs import service as jobs
from headgate.runs.jobs import suites
from headgate.runs.jobs.model import Job, Status
from headgate.runs.suites import service as chosen_tests
from headgate.runs.suites.service import Selection
from headgate_engine.testing.named_test import MAX_TESTS
from headgate_engine.testing.suite_result import SuiteResult
from headgate_engine.wire.inputs import CollectorVersion
from headgate_engine.wire.refusals import HIDDEN
from headgate_engine.wire.tests import SuiteTestIn, TestName, require_distinct
from headgate_engine.wire.times import Time
from testing.wire import VersionOrText

# A name, or a test; the tags are not shown as parts of a place.
_NameOrTest = Annotated[
    Annotated[TestName, Tag(f"{HIDDEN}name")] | Annotated[SuiteTestIn, Tag(f"{HIDDEN}test")],
    Discriminator(lambda value: f"{HIDDEN}name" if isinstance(value, str) else f"{HIDDEN}test"),
]


class TakesTests(VersionOrText):
    """Tests of a stored version, or of a text: what runs them takes."""

    tests: Annotated[list[_NameOrTest], Field(min_length=1, max_length=MAX_TESTS)] | None = None
    collector_version: Annotated[
        CollectorVersion | None, Field(description="By default, the version's own; for `yaml`, the default one")
    ] = None

    @model_validator(mode="after")
    def _fitting_tests(self) -> Self:
        if self.is_stored and self._named_tests:
            raise ValueError("`tests` of a stored version are names; save the tests with the version first")
        if not self.is_stored and (self.tests is None or self.names):
            raise ValueError("`tests` of a `yaml` are the tests themselves, at least one")
        require_distinct([*(self.names or ()), *(test.name.lower() for test in self._named_tests)])
        return self

    @property
    def names(self) -> list[str] | None:
        """The names of tests of a stored version; None for all."""
        return None if self.tests is None else [test for test in self.tests if isinstance(test, str)]

    def chosen(self, caller: Caller) -> Selection:
        """The tests with what they run. Raises TooManyRuns, SignalNotKnown, and what `suites.select` does."""
        jobs.require_room(caller)
        if self.configuration_id is not None and self.version_number is not None:
            return chosen_tests.select(caller, self.configuration_id, self.version_number, self.names)
        return chosen_tests.of_given_text(self.yaml or "", [(test.name, test.as_test()) for test in self._named_tests])

    @property
    def _named_tests(self) -> list[SuiteTestIn]:
        return [test for test in self.tests or () if not isinstance(test, str)]


class StartSuite(TakesTests):
    """Either `configuration_id` with `version_number`, and `tests` by name (by default, all); or `yaml` with `tests`.

    `output`: the result has each test's output, as far as it has room.
    """

    output: bool = False

    def start(self, caller: Caller) -> Job:
        """Raises what `chosen` and `suites.start` do."""
        version = self.collector_version
        return suites.start(caller, self.chosen(caller), collector_version=version, with_output=self.output)


class JobFields(Answer):
    """The fields of every kind of job beside its status."""

    id: str
    reason: str
    configuration_id: str | None
    version_number: int | None
    created_at: Time
    started_at: Time | None
    finished_at: Time | None


class JobOut(JobFields):
    """A job. `reason` says why it is in `Error`; `result` is there when it is `Done`."""

    status: Status


SuiteStatus = Literal["Queued", "Running", "Success", "Fail", "Error"]


class SuiteOut(JobFields):
    """A suite: `Success` if every test is one, `Fail` if one is not, `Error` if it did not come to an end.

    `reason` says why it is in `Error`. `result` is there from `Success` and `Fail` on.
    """

    status: SuiteStatus
    result: SuiteResult | None

    @classmethod
    def of_job(cls, job: Job, result: object) -> Self:
        concluded = None if result is None else SuiteResult.model_validate(result)
        return cls.of(job, status=_status(job, concluded), result=concluded)


def _status(job: Job, result: SuiteResult | None) -> SuiteStatus:
    if job.status != "Done":
        return job.status
    return "Success" if result is not None and result.passed else "Fail"
