"""A queued test run, whose state machine can be executed again and again with AWS failing in its steps."""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import boto3
import pytest
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl

from headgate.foundation.settings import settings
from headgate.runs.model import CASE
from headgate_local import handlers, stepfunctions
from headgate_local.fargate import Fargate, Task
from headgate_local.template import Node, Template
from tests.support.faults.aws_faults import PLANTED, Fault, NoSleep
from tests.support.faults.bench import Bench, made_ready
from tests.support.faults.state import Held
from tests.support.run_outcomes import outcome
from tests.support.world import OUTPUT, PUBLIC, RULES, YAML, create_state_machines

# How long a fault lasts: for one attempt of boto3's, for the step, for the call in all steps, for its service.
Until = Literal["attempt", "step", "call", "end"]
Collected = Literal["well", "refused once", "refused", "with status 3", "to nothing"]
Json = dict[str, Any]

_ASKED: Final = {
    "yaml": YAML,
    "sample": "a line",
    "signal_type": "logs",
    "target_pipeline": "logs",
    "duration_seconds": 1,
    "rules": RULES,
}
_LEFT: Final = {
    "output": OUTPUT,
    "stderr": "Everything is ready.\n",
}
# Everything else that is read of a run is the same for any two executions.
_TIMES: Final = ("started_at", "finished_at")
_PATIENCE_SECONDS: Final = 120


@dataclass(frozen=True)
class Ended:
    """How an execution ended, the calls that its steps made, and what the run's creator reads then."""

    execution: str
    calls: list[str]
    run: Json


class RunBench:
    """One run, which each `execute` begins anew as it was queued."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.runner = Runner()
        self.run_id: str = bench.world.call(bench.world.admin, "POST", f"{PUBLIC}/testing/runs", 202, _ASKED)["id"]
        self._held: Held = bench.state.take()
        self._count = 0
        self._until: Until = "end"

    def execute(self, fault: Fault | None = None, until: Until = "end", collected: Collected = "well") -> Ended:
        """Execute the state machine for the run, with the fault in its steps' calls; afterwards AWS is well again."""
        self.bench.state.put_back(self._held)
        self.bench.log.seek(0)
        self.bench.log.truncate()
        self._count, self._until, self.runner.collected = self._count + 1, until, collected
        # A client that is not watched, as this call is not one of a step.
        client = boto3.client("stepfunctions")
        self.bench.aws.begin(fault)
        execution = client.start_execution(
            stateMachineArn=settings().state_machine_arn,
            name=f"{self.run_id}-{self._count}",
            input=f'{{"run_id": "{self.run_id}"}}',
        )["executionArn"]
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while (status := client.describe_execution(executionArn=execution)["status"]) == "RUNNING":
            assert time.monotonic() < deadline, "the execution does not end"
            time.sleep(0.01)
        self.bench.aws.heal()
        return Ended(status, [str(call) for call in self.bench.aws.calls], self.read())

    def read(self) -> Json:
        world = self.bench.world
        run = world.call(world.admin, "GET", f"{PUBLIC}/testing/runs/{self.run_id}", 200)
        return {name: bool(value) if name in _TIMES else value for name, value in run.items()}

    def step_of(self, handle: stepfunctions.Handler) -> stepfunctions.Handler:
        """The step, with whose end a fault ends that lasts as long."""

        def step(event: Node, context: object) -> Node:
            try:
                return handle(event, context)
            finally:
                if self._until == "step" and self.bench.aws.hit:
                    self.bench.aws.heal()

        return step


class Runner(Fargate):
    """Fargate with a container that leaves what a collector has left before, or ends as `collected` says."""

    def __init__(self) -> None:
        self.collected: Collected = "well"

    def run_task(self, definition: str, overrides: Sequence[Mapping[str, Node]]) -> Task:
        match self.collected:
            case "refused" | "refused once":
                self.collected = "well" if self.collected == "refused once" else "refused"
                raise OSError(PLANTED)
            case "with status 3":
                return _Ended(3)
            case "well":
                _leave(overrides)
        return _Ended(0)


class _Ended(Task):
    """A container that has ended."""

    def __init__(self, status: int) -> None:
        self._status = status

    def exit_code(self) -> int:
        return self._status

    def last_words(self) -> str:
        return PLANTED


def _leave(overrides: Sequence[Mapping[str, Node]]) -> None:
    (container,) = overrides
    entries = container["Environment"]
    assert isinstance(entries, list)
    given = {str(one["Name"]): str(one["Value"]) for one in entries if isinstance(one, dict)}
    (prefix,) = re.findall(r"runs/run_\w+", given["HEADGATE_RUN_TASK_URL"])
    client = boto3.client("s3")
    result = {"id": CASE, "outcome": outcome(1).model_dump(mode="json"), **_LEFT}
    client.put_object(Bucket=settings().bucket, Key=f"{prefix}/results", Body=json.dumps(result).encode())


@contextmanager
def ready_to_run(described: Template, folder: Path) -> Iterator[RunBench]:
    """A queued run, its state machine executed by moto as by the local service, with no waiting between attempts."""
    with made_ready(described, folder) as bench, pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrier_decl, "time", NoSleep())
        run = RunBench(bench)
        functions = {arn: run.step_of(handle) for arn, handle in handlers.by_arn(described).items()}
        with stepfunctions.installed(functions, run.runner):
            # moto keeps those that are executed apart from those that are not.
            create_state_machines(described)
            yield run
