"""Step Functions on moto's interpreter: carries out the Lambda and Fargate tasks of the template's state machines.

moto interprets the state machine's file. What moto cannot do is patched; tests/contract/test_moto_stepfunctions.py
tests each patch:

- `lambda:invoke` would start a container; the handler is called instead.
- `ecs:runTask.sync` would not run anything; the stand-in for Fargate runs the task, polls it twenty times a second, and
  kills it if its state ends first. As on AWS, an exit status other than 0 is `States.TaskFailed`, and a task that
  cannot be started is an error of ECS.
- `Wait` would begin anew, for longer, if the clock is set back; it takes a clock that cannot be.
"""

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, cast
from uuid import uuid4

import boto3
from moto.core.config import default_user_config
from moto.stepfunctions.parser.api import HistoryEventType, TaskFailedEventDetails
from moto.stepfunctions.parser.asl.component.common.error_name.custom_error_name import CustomErrorName
from moto.stepfunctions.parser.asl.component.common.error_name.error_name import ErrorName
from moto.stepfunctions.parser.asl.component.common.error_name.failure_event import FailureEvent, FailureEventException
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name import StatesErrorName
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name_type import StatesErrorNameType
from moto.stepfunctions.parser.asl.component.state.exec.state_task.lambda_eval_utils import LambdaFunctionErrorException
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_ecs import (
    StateTaskServiceEcs,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_lambda import (
    StateTaskServiceLambda,
)
from moto.stepfunctions.parser.asl.component.state.wait.wait_function import wait_function
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.eval.event.event_detail import EventDetails
from moto.stepfunctions.parser.asl.utils import boto_client

from headgate.foundation.settings import settings
from headgate.rollouts import executions
from headgate.runs.jobs import service as jobs
from headgate.storage import aws
from headgate_local.fargate import Fargate, Task, task_definition_name
from headgate_local.handlers import FunctionError, Handler, by_arn, invoke
from headgate_local.patching import Patch, patched
from headgate_local.running import Local
from headgate_local.template import PATH, Node, Template

_LOG: Final = logging.getLogger("headgate_local")
_LOOK_SECONDS: Final = 0.05
_TASK_ARN: Final = "arn:aws:ecs:us-east-1:123456789012:task/local/"


@contextmanager
def part(local: Local) -> Iterator[None]:
    """The template's state machines can be executed. Runs and jobs that the last service left unfinished end, and open
    rollouts go on.
    """
    version = settings().collector_version
    with installed(by_arn(local.template, local.handler), Fargate(local.template, local.collectors, version)):
        for logical_id, properties in local.template.of_type("AWS::Serverless::StateMachine"):
            aws.stepfunctions().create_state_machine(
                name=local.template.name_of(logical_id),
                definition=definition(local.template, properties),
                roleArn="arn:aws:iam::123456789012:role/local",
            )
        jobs.finish_unfinished()
        executions.resume()
        try:
            yield
        finally:
            stop_executions()


def stop_executions() -> None:
    """A rollout's execution would otherwise wake up when nothing answers it any more."""
    client = aws.stepfunctions()
    for machine in client.list_state_machines()["stateMachines"]:
        running = client.list_executions(stateMachineArn=machine["stateMachineArn"], statusFilter="RUNNING")
        for execution in running["executions"]:
            client.stop_execution(executionArn=execution["executionArn"])


def definition(template: Template, properties: Mapping[str, Node]) -> str:
    """A state machine's definition as JSON, with the template's substitutions made as SAM makes them."""
    import yaml

    text = (PATH.parent / str(properties["DefinitionUri"])).read_text(encoding="utf-8")
    provided = properties.get("DefinitionSubstitutions", {})
    for name, node in (provided if isinstance(provided, dict) else {}).items():
        text = text.replace(f"${{{name}}}", _substitute(template, node))
    return json.dumps(yaml.safe_load(text))


@contextmanager
def installed(functions: Mapping[str, Handler], fargate: Fargate) -> Iterator[None]:
    """moto's interpreter carries out tasks until the end of the `with` block."""
    tasks: dict[str, Task] = {}
    patches: list[Patch] = [
        (StateTaskServiceLambda, "_eval_service_task", _invoke(functions)),
        (StateTaskServiceEcs, "_eval_service_task", _run_task(fargate, tasks)),
        (StateTaskServiceEcs, "_build_sync_resolver", _until_it_ends(tasks)),
        (boto_client, "boto3", _OfThisProcess),
        (wait_function, "time", _Steady),
    ]
    executes = default_user_config["stepfunctions"]["execute_state_machine"]
    default_user_config["stepfunctions"]["execute_state_machine"] = True
    try:
        with patched(patches):
            yield
    finally:
        default_user_config["stepfunctions"]["execute_state_machine"] = executes


class _Steady:
    """The clock of moto's waits."""

    time = staticmethod(time.monotonic)


class _OfThisProcess:
    """Creates the clients of moto's interpreter, with this process's key instead of an invented one."""

    @staticmethod
    def client(aws_access_key_id: str, aws_secret_access_key: str, **named: object) -> object:  # noqa: ARG004  moto passes a key, and the client takes ours
        return boto3.client(**named)  # type: ignore[call-overload]  # moto names the service at run time


def _substitute(template: Template, node: Node) -> str:
    value = template.resolve(node)
    if isinstance(value, str):
        return value
    # Only AWS has these values: a task definition is found by its logical id, others are not used here.
    return task_definition_name(str(node["Ref"])) if isinstance(node, dict) and "Ref" in node else "local"


def _invoke(functions: Mapping[str, Handler]) -> Callable[..., None]:
    def eval_service_task(
        _service: StateTaskServiceLambda, env: Environment, normalised_parameters: dict[str, object], **_: object
    ) -> None:
        handler = functions[str(normalised_parameters["FunctionName"])]
        payload = normalised_parameters["Payload"]
        event = json.loads(payload if isinstance(payload, bytes | str) else json.dumps(payload))
        try:
            answer = invoke(handler, event)
        except FunctionError as error:
            message = {"errorMessage": error.message, "errorType": error.type}
            raise LambdaFunctionErrorException("Unhandled", json.dumps(message)) from error
        env.stack.append({"StatusCode": 200, "ExecutedVersion": "$LATEST", "Payload": answer})

    return eval_service_task


def _run_task(fargate: Fargate, tasks: dict[str, Task]) -> Callable[..., None]:
    def eval_service_task(
        service: StateTaskServiceEcs, env: Environment, normalised_parameters: dict[str, object], **_: object
    ) -> None:
        match normalised_parameters:
            case {"TaskDefinition": str(name), "Overrides": {"ContainerOverrides": list(overrides)}}:
                arn = _TASK_ARN + uuid4().hex
                try:
                    tasks[arn] = fargate.run_task(name, overrides)
                except OSError as error:
                    # The error of ECS for a task that it cannot start.
                    failure = _failed(service, env, CustomErrorName("ECS.AmazonECSException"), str(error))
                    raise FailureEventException(failure) from error
            case _:
                raise ValueError("runTask is given a TaskDefinition and ContainerOverrides")
        env.stack.append({"Tasks": [{"TaskArn": arn, "LastStatus": "RUNNING"}], "Failures": []})

    return eval_service_task


def _until_it_ends(tasks: dict[str, Task]) -> Callable[..., object]:
    def build_sync_resolver(
        service: StateTaskServiceEcs, env: Environment, **_: object
    ) -> Callable[[], dict[str, object] | None]:
        arn = env.stack.pop()["Tasks"][0]["TaskArn"]
        task = tasks.pop(arn)

        def resolve() -> dict[str, object] | None:
            while env.is_running():
                code = task.exit_code()
                if code is not None:
                    words = task.last_words()
                    if code != 0:
                        name = StatesErrorName(typ=StatesErrorNameType.StatesTaskFailed)
                        cause = f"the container ended with status {code}: {words}"
                        # As on AWS, the container's output goes to a log and not into the run.
                        _LOG.warning("test runner: %s", cause)
                        raise FailureEventException(_failed(service, env, name, cause))
                    return {"TaskArn": arn, "LastStatus": "STOPPED", "Containers": [{"ExitCode": code}]}
                time.sleep(_LOOK_SECONDS)
            task.stop()
            return None

        return resolve

    return build_sync_resolver


def _failed(service: StateTaskServiceEcs, env: Environment, name: ErrorName, cause: str) -> FailureEvent:
    details = TaskFailedEventDetails(
        error=str(name.error_name),
        cause=cause,
        resource=service._get_sfn_resource(),
        resourceType=service._get_sfn_resource_type(),
    )
    return FailureEvent(
        env=env,
        error_name=name,
        event_type=HistoryEventType.TaskFailed,
        # An event has only the details of its own type; moto's type requires those of all types.
        event_details=cast("EventDetails", {"taskFailedEventDetails": details}),
    )
