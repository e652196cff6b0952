"""The tasks of the state machine: prepare, evaluate, record, and what happens if one of them fails.

Between prepare and evaluate the test runner fetches `task.json` and `cases` of the run or job and leaves `results`.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Generic, Literal

from pydantic import BaseModel, JsonValue

from headgate.checker import Asker
from headgate.foundation import clock, metrics
from headgate.runs import files, runner, turns
from headgate.runs.execution import AlreadyFinal, RunGone
from headgate.runs.lifecycle import E, Lifecycle
from headgate.runs.runner import Untrusted
from headgate_engine.testing.cases import Judge, Ready
from headgate_engine.testing.model import Case, Unworkable
from headgate_engine.testing.outcome import Left

Stage = Literal["prepare", "collect", "evaluate", "record"]

_STAGES: Final[dict[Stage, str]] = {
    "prepare": "preparing the {} failed",
    "collect": "the test runner failed",
    "evaluate": "evaluating the rules failed",
    "record": "recording the results failed",
}
_AGAIN: Final = "; run the test again"


class RunnerTask(BaseModel):
    """The input of the test runner: a signed link to its task."""

    run_id: str
    task_url: str


class Evaluation(BaseModel):
    """The fault in the test runner's files, empty if there is none. The reason that users see is stored."""

    fault: str = ""


class Steps(ABC, Generic[E]):
    """The tasks for runs, or for jobs. Each raises RunGone for one that is not there or has ended, and Unavailable."""

    life: Lifecycle[E]

    @abstractmethod
    def make_ready(self, execution: E) -> tuple[E, Collection[str]]:
        """Make sure that its cases are stored. Returns what is to be started, and the collectors' versions."""

    @abstractmethod
    def request(self, execution: E) -> JsonValue:
        """The stored request that its cases are made from."""

    @abstractmethod
    def cases(self, execution: E, request: JsonValue) -> Sequence[Case]:
        """Its cases, the same each time. Raises Unworkable."""

    @abstractmethod
    def conclude(
        self,
        execution: E,
        request: JsonValue,
        cases: Sequence[Case],
        ready: Mapping[str, Ready],
        left: Mapping[str, Left],
        /,
    ) -> None:
        """Judge what the test runner left of each case, and store the result. Raises Unworkable."""

    @abstractmethod
    def complete(self, execution: E, evaluation: Evaluation) -> None:
        """End it with the result that is stored, or with what is wrong."""

    @abstractmethod
    def failed(self, execution: E, stage: Stage, reason: str, /) -> E:
        """Set the execution to Error, since a step failed."""

    def prepare(self, execution_id: str) -> RunnerTask:
        """Write the task of the test runner, and set it to Running. Raises Unworkable."""
        execution = self._unfinished(execution_id)
        waiting, versions = self.make_ready(execution)
        task_url = runner.give(waiting, versions)
        try:
            self.life.store.update(waiting.start(clock.now()))
        except AlreadyFinal:
            # It was ended while this went on, and what has been written since is left.
            files.delete_secrets(execution)
            raise RunGone from None
        return RunnerTask(run_id=execution_id, task_url=task_url)

    def evaluate(self, execution_id: str) -> Evaluation:
        """Evaluate the rules on the outputs, and store the result. Raises Unworkable."""
        execution = self._unfinished(execution_id)
        request = self.request(execution)
        cases = self.cases(execution, request)
        ready = runner.ready(execution)
        if set(ready) != {case.id for case in cases}:
            raise Unworkable("its cases were not the same when they were looked at again; start it again")
        try:
            left = runner.results(execution, cases, ready)
        except Untrusted as lie:
            return Evaluation(fault=str(lie))
        self.conclude(execution, request, cases, ready, left)
        return Evaluation()

    def record(self, execution_id: str, evaluation: Evaluation) -> None:
        """End it with what came of it."""
        self.complete(self._unfinished(execution_id), evaluation)

    def fail(self, execution_id: str, stage: Stage, error: str, at_fault: str | None) -> None:
        """End it as Error, since a step failed. One that has ended stays as it is.

        `error` is the state machine's name of the error. `at_fault` is a sentence about it, if it is one of ours.
        """
        try:
            execution = self._unfinished(execution_id)
        except RunGone:
            self._make_room_after(execution_id)
            return
        if error == Unworkable.__name__ and at_fault:
            self.life.end(execution.fail(at_fault, clock.now()))
            return
        metrics.count("RunStepsFailed")
        words = _STAGES[stage].format(self.life.noun.split()[-1])
        self.life.end(self.failed(execution, stage, f"{words}: {at_fault or _reason(error)}"))

    def finish(self, execution_id: str) -> None:
        """End it as Error, since its execution ended without a result. One that has ended stays as it is."""
        try:
            self.life.finish_lost(self._unfinished(execution_id))
        except RunGone:
            self._make_room_after(execution_id)

    def asker(self, execution: E) -> Asker:
        """The execution as the asker: the credential that started it may be deleted by now."""
        return Asker(execution.organization_id, execution.id)

    def judge(self, execution: E) -> Judge:
        return Judge(self.asker(execution))

    def _make_room_after(self, execution_id: str) -> None:
        """For one that has ended: the step that ended it may have failed before it made room."""
        ended = self.life.store.find(execution_id)
        if ended is not None:
            turns.make_room(ended.organization_id, execution_id)

    def _unfinished(self, execution_id: str) -> E:
        execution = self.life.store.find(execution_id)
        if execution is None or execution.is_final:
            raise RunGone
        return execution


def _reason(error: str) -> str:
    """A sentence about an error that is not ours. Its own message may have details of AWS, so its name decides."""
    if error == "States.Timeout":
        return "it took too long" + _AGAIN
    if error.startswith(("ECS.", "AmazonECS.")):
        return "it could not be started" + _AGAIN
    return "it ended with an error" + _AGAIN
