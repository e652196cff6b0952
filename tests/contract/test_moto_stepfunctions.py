"""Every patch that the local service makes to moto's Step Functions, by what it is for; an upgrade that moves what they
take hold of fails here."""

import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml
from moto import mock_aws

from headgate_local import handlers, stepfunctions, template
from headgate_local.fargate import Fargate, task_definition_name
from tests.support.processes import wait_until_ended

pytestmark = pytest.mark.contract

FUNCTION = "arn:aws:lambda:us-east-1:123456789012:function:step"
DEFINITION = """
Resources:
  Runner:
    Type: AWS::ECS::TaskDefinition
    Properties:
      ContainerDefinitions:
        - Name: runner
          EntryPoint: [%s]
          Command: ["-c", "import os; %s"]
          Environment: [{Name: FIXED, Value: fixed}]
"""
Json = dict[str, Any]


@pytest.fixture(autouse=True)
def _aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        yield


def fargate(tmp_path: Path, program: str) -> Fargate:
    """A stand-in whose one container executes a line of Python."""
    path = tmp_path / "template.yaml"
    path.write_text(DEFINITION % (sys.executable, program))
    return Fargate(template.read(path), tmp_path, "0.0.0")


def task(resource: str, parameters: Json, **more: Any) -> Json:
    return {"Type": "Task", "Resource": f"arn:aws:states:::{resource}", "Parameters": parameters, "End": True, **more}


def invoke(**more: Any) -> Json:
    return task("lambda:invoke", {"FunctionName": FUNCTION, "Payload": {"n.$": "$.n"}}, **more)


def run_task(**more: Any) -> Json:
    parameters = {
        "LaunchType": "FARGATE",
        "Cluster": "local",
        "TaskDefinition": task_definition_name("Runner"),
        "NetworkConfiguration": {"AwsvpcConfiguration": {"Subnets": ["local"], "AssignPublicIp": "DISABLED"}},
        "Overrides": {
            "ContainerOverrides": [{"Name": "runner", "Environment": [{"Name": "GIVEN", "Value.$": "$.given"}]}]
        },
    }
    return task("ecs:runTask.sync", parameters, **more)


def execute(state: Json, given: Json, others: Json | None = None, start: str = "Only") -> Json:
    """The execution, when it has ended; its output as a value."""
    return until_it_ends(begin({"StartAt": start, "States": {start: state, **(others or {})}}, given))


def begin(definition: Json, given: Json) -> str:
    """The ARN of an execution that has started."""
    client = boto3.client("stepfunctions")
    machine = client.create_state_machine(
        name="machine", definition=json.dumps(definition), roleArn="arn:aws:iam::123456789012:role/local"
    )
    started = client.start_execution(stateMachineArn=machine["stateMachineArn"], name="run", input=json.dumps(given))
    return started["executionArn"]


def until_it_ends(arn: str) -> Json:
    client = boto3.client("stepfunctions")
    deadline = time.monotonic() + 300
    while (found := client.describe_execution(executionArn=arn))["status"] == "RUNNING":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return {**found, "output": json.loads(found.get("output") or "null")}


def installed(tmp_path: Path, handler: Callable[..., Any] = lambda *_: None, program: str = "pass") -> Any:
    return stepfunctions.installed({FUNCTION: handler}, fargate(tmp_path, program))


def test_a_lambda_task_calls_the_handler_with_its_payload(tmp_path: Path) -> None:
    with installed(tmp_path, lambda event, _context: {"doubled": 2 * event["n"]}):
        ended = execute(invoke(), {"n": 21})

    assert (ended["status"], ended["output"]["Payload"]) == ("SUCCEEDED", {"doubled": 42})


def test_an_exception_of_a_handler_is_caught_by_its_name_with_its_words(tmp_path: Path) -> None:
    def fails(_event: Json, _context: object) -> None:
        raise LookupError("nothing there")

    caught = {"Catch": [{"ErrorEquals": ["LookupError"], "ResultPath": "$.error", "Next": "Caught"}]}
    with installed(tmp_path, fails):
        ended = execute(invoke(**caught), {"n": 1}, {"Caught": {"Type": "Pass", "End": True}})

    assert ended["output"]["error"]["Error"] == "LookupError"
    assert json.loads(ended["output"]["error"]["Cause"])["errorMessage"] == "nothing there"


def test_a_passing_fault_of_a_handler_is_tried_again(tmp_path: Path) -> None:
    calls: list[int] = []

    def fails_once(event: Json, _context: object) -> int:
        calls.append(event["n"])
        if len(calls) == 1:
            raise TimeoutError
        return len(calls)

    retried = {"Retry": [{"ErrorEquals": ["TimeoutError"], "IntervalSeconds": 1, "MaxAttempts": 2}]}
    with installed(tmp_path, fails_once):
        ended = execute(invoke(**retried), {"n": 1})

    assert (ended["output"]["Payload"], calls) == (2, [1, 1])


@pytest.mark.parametrize("error", ["AmazonECS.Unknown", "ECS.InvalidParameterException"])
def test_what_ecs_calls_a_task_without_a_place_is_tried_again_by_the_rules_of_a_run(tmp_path: Path, error: str) -> None:
    text = (template.PATH.parent / "statemachines" / "test_run.asl.yaml").read_text()
    rules = [
        {**rule, "IntervalSeconds": 1, "BackoffRate": 1} for rule in yaml.safe_load(text)["States"]["Collect"]["Retry"]
    ]
    tries: list[int] = []

    def finds_a_place_at_last(event: Json, _context: object) -> int:
        tries.append(event["n"])
        if len(tries) < 3:
            # The interpreter goes by the name of the class.
            raise type(error, (Exception,), {})
        return len(tries)

    with installed(tmp_path, finds_a_place_at_last):
        ended = execute(invoke(Retry=rules), {"n": 1})

    assert (ended["status"], len(tries)) == ("SUCCEEDED", 3)


def test_a_fargate_task_is_a_process_with_the_overrides_environment(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    program = f"open('{seen}', 'w').write(os.environ['GIVEN'] + os.environ['FIXED'] + str('HOME' in os.environ))"
    with installed(tmp_path, program=program):
        ended = execute(run_task(ResultPath=None), {"given": "value"})

    assert (ended["status"], ended["output"]) == ("SUCCEEDED", {"given": "value"})
    assert seen.read_text() == "valuefixedFalse"


def test_another_exit_status_than_0_is_a_failed_task(tmp_path: Path) -> None:
    caught = {"Catch": [{"ErrorEquals": ["States.TaskFailed"], "ResultPath": "$.error", "Next": "Caught"}]}
    with installed(tmp_path, program="os.write(2, b'no room'); os._exit(3)"):
        ended = execute(run_task(**caught), {"given": "x"}, {"Caught": {"Type": "Pass", "End": True}})

    assert ended["output"]["error"]["Error"] == "States.TaskFailed"
    assert ended["output"]["error"]["Cause"] == "the container ended with status 3: no room"


def test_a_task_whose_state_times_out_is_killed(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    program = f"open('{pid}', 'w').write(str(os.getpid())); import time; time.sleep(60)"
    caught = {"Catch": [{"ErrorEquals": ["States.Timeout"], "ResultPath": "$.error", "Next": "Caught"}]}
    with installed(tmp_path, program=program):
        ended = execute(run_task(TimeoutSeconds=5, **caught), {"given": "x"}, {"Caught": {"Type": "Pass", "End": True}})
        wait_until_ended(int(pid.read_text()))

    assert ended["output"]["error"]["Error"] == "States.Timeout"


def test_moto_is_as_it_was_afterwards(tmp_path: Path) -> None:
    places = [
        (stepfunctions.StateTaskServiceLambda, "_eval_service_task"),
        (stepfunctions.StateTaskServiceEcs, "_eval_service_task"),
        (stepfunctions.StateTaskServiceEcs, "_build_sync_resolver"),
    ]
    before = [owner.__dict__[name] for owner, name in places]
    with installed(tmp_path):
        assert all(owner.__dict__[name] is not old for (owner, name), old in zip(places, before, strict=True))

    assert [owner.__dict__[name] for owner, name in places] == before


def rollouts(*answers: Json | Exception) -> tuple[list[Json], Callable[..., Json], Json]:
    """What a function is asked that gives these answers, the function, and the states of rollouts, that retry once."""
    states = yaml.safe_load((template.PATH.parent / "statemachines" / "rollout.asl.yaml").read_text())["States"]
    states["Tick"]["Parameters"]["FunctionName"] = FUNCTION
    states["Tick"]["Retry"] = [{**rule, "MaxAttempts": 1, "IntervalSeconds": 1} for rule in states["Tick"]["Retry"]]
    asked: list[Json] = []

    def handler(event: Json, _context: object) -> Json:
        asked.append(event)
        answer = answers[len(asked) - 1]
        if isinstance(answer, Exception):
            raise answer
        return {"ticks": event["ticks"] + 1, **answer}

    return asked, handler, states


ROLLOUT = {"fleet_id": "flt_1", "deployment_id": "dep_1", "rollout_id": "rol_1", "tick": {"ticks": 0}}
WAITS = {"done": False, "wait_seconds": 1}
IS_DONE = {"done": True, "wait_seconds": 0}


def test_a_rollout_is_ticked_until_it_is_done(tmp_path: Path) -> None:
    asked, handler, states = rollouts(WAITS, TimeoutError("once"), WAITS, IS_DONE)

    with installed(tmp_path, handler):
        ended = execute(states.pop("Tick"), ROLLOUT, states, start="Tick")

    assert ended["status"] == "SUCCEEDED"
    named = {"fleet_id": "flt_1", "deployment_id": "dep_1", "rollout_id": "rol_1", "execution": "run", "step": "tick"}
    assert asked == [{**named, "ticks": ticks} for ticks in (0, 1, 1, 2)]


def test_an_execution_of_a_rollout_fails_where_its_function_keeps_failing(tmp_path: Path) -> None:
    asked, handler, states = rollouts(LookupError("a defect"), LookupError("a defect"))

    with installed(tmp_path, handler):
        ended = execute(states.pop("Tick"), ROLLOUT, states, start="Tick")

    assert (ended["status"], len(asked)) == ("FAILED", 2)


def test_an_execution_that_waits_is_stopped_with_the_service(tmp_path: Path) -> None:
    asked, handler, states = rollouts({"done": False, "wait_seconds": 3600})
    with installed(tmp_path, handler):
        definition = {"StartAt": "Tick", "States": states}
        arn = begin(definition, ROLLOUT)
        while not asked:
            time.sleep(0.02)
        stepfunctions.stop_executions()
        ended = until_it_ends(arn)

    assert ended["status"] == "ABORTED"


def test_each_state_machine_of_the_template_is_accepted_with_nothing_left_to_substitute() -> None:
    described = template.read()
    machines = {
        name: stepfunctions.definition(described, properties)
        for name, properties in described.of_type("AWS::Serverless::StateMachine")
    }

    assert [name for name, definition in machines.items() if "${" in definition] == []
    states = json.loads(machines["TestRunStateMachine"])["States"]
    assert states["Collect"]["Parameters"]["TaskDefinition"] == task_definition_name("RunnerTaskDefinition")
    states = json.loads(machines["RolloutStateMachine"])["States"]
    assert states["Tick"]["Parameters"]["FunctionName"] in handlers.by_arn(described)
    for name, definition in machines.items():
        boto3.client("stepfunctions").create_state_machine(
            name=name, definition=definition, roleArn="arn:aws:iam::123456789012:role/local"
        )


def test_every_state_that_can_fail_leads_to_an_error_being_recorded() -> None:
    text = (template.PATH.parent / "statemachines" / "test_run.asl.yaml").read_text()
    states: Json = yaml.safe_load(text)["States"]
    for name in ("Prepare", "Collect", "Evaluate", "Record"):
        (catch,) = states[name]["Catch"]
        assert catch["ErrorEquals"] == ["States.ALL"]
        assert states[catch["Next"]]["Parameters"]["Payload"]["step"] == "fail"
        assert states[catch["Next"]]["Parameters"]["Payload"]["stage"] == name.lower()
        assert states[name]["TimeoutSeconds"] < 420


def test_a_wait_takes_no_longer_if_the_clock_is_set_back_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An hour with each look at it.
    clock = itertools.count(1_800_000_000, -3_600)
    monkeypatch.setattr(time, "time", lambda: float(next(clock)))
    with installed(tmp_path):
        ended = execute({"Type": "Wait", "Seconds": 1, "End": True}, {})

    assert ended["status"] == "SUCCEEDED"
