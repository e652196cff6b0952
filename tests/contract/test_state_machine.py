"""The state machines: that they are ones, and that their names are those of the template and the code."""

import json
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, get_args

import pytest

from headgate.foundation import yaml_text
from headgate.rollouts import executions
from headgate.runs.steps import Stage
from headgate_engine.testing.model import LONGEST
from headgate_local import template
from rollout_steps.app import TickInput
from run_steps.app import PassingFault, StateStep
from tests.support.transformed_template import resources, states, transformed

__all__ = ["resources", "states"]
pytestmark = pytest.mark.contract

MACHINES = {"test_run": "TestRunStateMachine", "rollout": "RolloutStateMachine"}
ROLE = "arn:aws:iam::123456789012:role/states"


BROKEN: Final = {
    "an unknown type": {"Collect": {"Type": "Tusk", "End": True}},
    "a task that does nothing": {"Collect": {"Type": "Task", "End": True}},
}


@pytest.fixture(scope="module")
def linted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What cfn-lint says of each state machine, ours and broken ones, in one run: a start takes 1.5 s."""
    ours = transformed()["machines"]
    broken = {name: {**ours["test_run"], "States": {**ours["test_run"]["States"], **BROKEN[name]}} for name in BROKEN}
    folder = tmp_path_factory.mktemp("machines")
    files: dict[str, Path] = {}
    for name, definition in {**ours, **broken}.items():
        files[name] = folder / f"{name}.json"
        properties = {"RoleArn": ROLE, "Definition": definition}
        machine = {"Type": "AWS::StepFunctions::StateMachine", "Properties": properties}
        files[name].write_text(json.dumps({"Resources": {"Machine": machine}}))
    command = [Path(sys.executable).with_name("cfn-lint"), "--format", "parseable", *files.values()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode != 0, done.stderr) == (True, ""), "the broken ones were not told"
    lines = done.stdout.splitlines()
    return {name: [line for line in lines if line.startswith(f"{file}:")] for name, file in files.items()}


@pytest.mark.parametrize("name", MACHINES)
def test_the_state_machine_is_in_amazons_states_language(name: str, linted: dict[str, list[str]]) -> None:
    assert linted[name] == []


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_state_machine_is_told(name: str, linted: dict[str, list[str]]) -> None:
    assert [line for line in linted[name] if "E3601" in line], linted[name]


@pytest.mark.parametrize("name", MACHINES)
def test_every_substitution_of_the_state_machine_is_given_and_used(name: str, resources: dict[str, Any]) -> None:
    given = resources[MACHINES[name]]["Properties"]["DefinitionSubstitutions"]

    assert set(re.findall(r"\$\{(\w+)\}", json.dumps(transformed()["machines"][name]))) == set(given)


def test_an_execution_of_a_rollout_ends_before_aws_ends_it() -> None:
    """Whatever is retried: AWS ends an execution after 25,000 events (Service quotas of Step Functions)."""
    states = transformed()["machines"]["rollout"]["States"]
    (retry,) = states["Tick"]["Retry"]
    # Entered and exited, of each of the three; and of the task scheduled, started and succeeded.
    events = 3 * 2 + 3
    # Failed, scheduled and started again.
    events += retry["MaxAttempts"] * 3

    assert executions.MOST_TICKS * events < 20_000


def test_a_tick_of_a_rollout_outlasts_no_execution_that_the_sweep_takes_for_lost() -> None:
    """One that is only slow keeps its rollout."""
    states = transformed()["machines"]["rollout"]["States"]
    (retry,) = states["Tick"]["Retry"]
    pauses = [
        min(retry["IntervalSeconds"] * retry["BackoffRate"] ** attempt, retry["MaxDelaySeconds"])
        for attempt in range(retry["MaxAttempts"])
    ]
    longest = executions.LONGEST_WAIT + timedelta(seconds=sum(pauses) + states["Tick"]["TimeoutSeconds"])

    assert longest <= executions.TICKS_WITHIN


def test_the_state_machine_of_rollouts_asks_what_its_function_takes() -> None:
    payload = transformed()["machines"]["rollout"]["States"]["Tick"]["Parameters"]["Payload"]

    assert {name.removesuffix(".$") for name in payload} == set(TickInput.model_fields)


def test_the_state_machines_steps_are_those_of_the_function(states: dict[str, Any]) -> None:
    called = {one["Parameters"]["Payload"]["step"] for one in states.values() if "Payload" in one["Parameters"]}

    # The event of a lost execution brings the last one.
    assert called | {"finish"} == set(get_args(StateStep.model_fields["step"].annotation))


def test_the_state_machines_stages_are_those_of_the_domain(states: dict[str, Any]) -> None:
    payloads = [one["Parameters"].get("Payload", {}) for one in states.values()]

    assert {one["stage"] for one in payloads if "stage" in one} == set(get_args(Stage))


def test_what_passes_is_tried_again_by_the_name_that_the_function_raises(states: dict[str, Any]) -> None:
    for name, state in states.items():
        if state["Parameters"].get("Payload", {}).get("step") in ("prepare", "evaluate", "record"):
            assert PassingFault.__name__ in state["Retry"][0]["ErrorEquals"], name


def test_any_revision_of_the_runner_may_be_started(resources: dict[str, Any]) -> None:
    """A new one comes with a new collector; what was started before it names the one before."""
    (policy,) = resources["TestRunStateMachineRole"]["Properties"]["Policies"]
    (start,) = [one for one in policy["PolicyDocument"]["Statement"] if one["Action"] == "ecs:RunTask"]
    family = resources["RunnerTaskDefinition"]["Properties"]["Family"]["Fn::Sub"]

    assert start["Resource"]["Fn::Sub"].endswith(f":task-definition/{family}:*")
    assert start["Condition"] == {"ArnEquals": {"ecs:cluster": {"Fn::GetAtt": ["RunnerCluster", "Arn"]}}}


def test_the_machine_may_hand_on_the_tags_of_the_runner(resources: dict[str, Any], states: dict[str, Any]) -> None:
    """ECS wants a permission of its own for them, even where they are only handed on."""
    (policy,) = resources["TestRunStateMachineRole"]["Properties"]["Policies"]
    (tag,) = [one for one in policy["PolicyDocument"]["Statement"] if one["Action"] == "ecs:TagResource"]

    assert states["Collect"]["Parameters"]["PropagateTags"] == "TASK_DEFINITION"
    assert "EnableECSManagedTags" not in states["Collect"]["Parameters"]
    assert tag["Condition"] == {"StringEquals": {"ecs:CreateAction": "RunTask"}}
    assert tag["Resource"]["Fn::Sub"].endswith(":task/${RunnerCluster}/*")


def test_who_waits_for_capacity_waits_longer_than_a_run_lasts_and_not_beside_others(states: dict[str, Any]) -> None:
    (retry,) = states["Collect"]["Retry"]
    delays = [
        min(retry["IntervalSeconds"] * retry["BackoffRate"] ** n, retry["MaxDelaySeconds"])
        for n in range(retry["MaxAttempts"])
    ]

    # Each is drawn between nothing and the delay. A run lasts 5 s by default, and its task a minute.
    assert sum(delays) / 2 > 100
    assert retry["JitterStrategy"] == "FULL"
    # The links of a task are valid until it has waited and ended.
    assert sum(delays) + states["Collect"]["TimeoutSeconds"] < 600
    assert {"ECS.ClientException", "AmazonECS.Unknown"} <= set(retry["ErrorEquals"])


def test_nothing_is_under_way_when_a_run_counts_as_lost(states: dict[str, Any]) -> None:
    machine = yaml_text.safe_load((template.PATH.parent / "statemachines" / "test_run.asl.yaml").read_text())

    assert machine["TimeoutSeconds"] < LONGEST.total_seconds()


def test_the_container_is_given_the_variables_that_it_reads(resources: dict[str, Any], states: dict[str, Any]) -> None:
    (override,) = states["Collect"]["Parameters"]["Overrides"]["ContainerOverrides"]
    (container,) = resources["RunnerTaskDefinition"]["Properties"]["ContainerDefinitions"]
    source = Path(template.PATH.parent, "layers", "collector", "internal", "sandbox")
    read = {name for file in source.glob("*.go") for name in re.findall(r'"(HEADGATE_\w+)"', file.read_text())}

    assert override["Name"] == container["Name"]
    # One is not for containers: with it the local stand-in can end its process.
    given = {one["Name"] for one in override["Environment"] + container["Environment"]}
    assert given == read - {"HEADGATE_STOP_WITH_STDIN"}


def test_the_runner_has_no_role_and_the_machine_gives_it_none(resources: dict[str, Any]) -> None:
    """What runs there is told of its own run's files by signed links, and could do nothing else with a credential."""
    (policy,) = resources["TestRunStateMachineRole"]["Properties"]["Policies"]
    (give,) = [one for one in policy["PolicyDocument"]["Statement"] if one["Action"] == "iam:PassRole"]

    assert "TaskRoleArn" not in resources["RunnerTaskDefinition"]["Properties"]
    assert give["Resource"] == {"Fn::GetAtt": ["RunnerExecutionRole", "Arn"]}


def test_what_ecs_calls_a_task_without_a_place_is_tried_again(states: dict[str, Any]) -> None:
    assert {"AmazonECS.Unknown", "ECS.InvalidParameterException"} <= set(states["Collect"]["Retry"][0]["ErrorEquals"])
