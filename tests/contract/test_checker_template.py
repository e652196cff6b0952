"""Where strangers' text is read there is nothing to steal: the collector's function in the template, and its askers."""

import json
import re
from typing import Any

import pytest

from tests.support.aws import read_template
from tests.support.transformed_template import document, of_type, referred, resources

__all__ = ["document", "resources"]
pytestmark = [pytest.mark.contract, pytest.mark.collector]

FUNCTIONS = [function.logical_id for function in read_template().functions()]
ASKING = {f"{name}Function" for name in ("Configurations", "Validation", "Components", "Fleets", "Testing", "RunSteps")}
ARN = {
    "Fn::Sub": "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:${AWS::StackName}-checker:live"
}

VERSIONS = "HEADGATE_COLLECTOR_VERSIONS"
PUBLISHED = {
    "Sid": "PublishedCollectors",
    "Effect": "Allow",
    "Action": "s3:GetObject",
    "Resource": {"Fn::Sub": "${Bucket.Arn}/collectors/*"},
}


def statements(resources: dict[str, Any], function: str) -> list[dict[str, Any]]:
    """The statements of the role that the function runs with."""
    role = resources[resources[function]["Properties"]["Role"]["Fn::GetAtt"][0]]["Properties"]
    return [one for policy in role.get("Policies", []) for one in policy["PolicyDocument"]["Statement"]]


def actions(statement: dict[str, Any]) -> list[str]:
    return [statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"]


def invocations(resources: dict[str, Any], function: str) -> list[Any]:
    """What a function may invoke."""
    return [
        one["Resource"]
        for one in statements(resources, function)
        if any(action.startswith(("lambda:", "*")) for action in actions(one))
    ]


def test_only_the_checkers_function_has_the_collector(resources: dict[str, Any]) -> None:
    having = {name for name in FUNCTIONS if "CollectorLayer" in json.dumps(resources[name]["Properties"]["Layers"])}

    assert having == {"CheckerFunction"}


def test_the_checkers_role_writes_its_log_and_may_do_nothing_else(resources: dict[str, Any]) -> None:
    role = resources["CheckerRole"]["Properties"]

    assert "ManagedPolicyArns" not in role
    assert statements(resources, "CheckerFunction") == [
        {
            "Sid": "ItsLog",
            "Effect": "Allow",
            "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
            "Resource": {"Fn::GetAtt": ["CheckerLog", "Arn"]},
        }
    ]
    assert {name for name in FUNCTIONS if "CheckerRole" in json.dumps(resources[name])} == {"CheckerFunction"}


def test_the_checkers_environment_names_nothing_that_holds_anything(resources: dict[str, Any]) -> None:
    variables = resources["CheckerFunction"]["Properties"]["Environment"]["Variables"]

    assert set(variables) == {
        "HEADGATE_COLLECTOR_VERSION",
        "HEADGATE_CONFINED_BY",
        "HEADGATE_FLEET_HEARTBEAT_SECONDS",
        "HEADGATE_PERSON_RATE_LIMIT_PER_MINUTE",
        "HEADGATE_PUBLIC_URL",
        "HEADGATE_RATE_LIMIT_PER_MINUTE",
        "POWERTOOLS_LOG_LEVEL",
        "POWERTOOLS_METRICS_NAMESPACE",
    }
    named = {one for value in variables.values() for one in referred(value)}
    assert named & set(resources) == set()


def test_each_organization_has_execution_environments_of_its_own(resources: dict[str, Any]) -> None:
    assert resources["CheckerFunction"]["Properties"]["TenancyConfig"] == {"TenantIsolationMode": "PER_TENANT"}


def test_what_asks_a_new_version_of_the_checker_may_do_nothing_else(resources: dict[str, Any]) -> None:
    any_version = {"Fn::Sub": ARN["Fn::Sub"].removesuffix(":live") + ":*"}

    assert [one["Resource"] for one in statements(resources, "CheckerAnswersFunction")] == [any_version]
    assert "HEADGATE_IDENTITY_TABLE" not in json.dumps(resources["CheckerAnswersFunction"])


@pytest.mark.parametrize("function", sorted(set(FUNCTIONS) - {"CheckerAnswersFunction"}))
def test_the_named_functions_may_invoke_the_checker_and_no_function_another_one(
    resources: dict[str, Any], function: str
) -> None:
    variables = resources[function]["Properties"].get("Environment", {}).get("Variables", {})

    assert invocations(resources, function) == ([ARN] if function in ASKING else [])
    assert variables.get("HEADGATE_CHECKER_FUNCTION") == (ARN if function in ASKING else None)


def test_nobody_else_may_invoke_the_checker(resources: dict[str, Any]) -> None:
    permissions = of_type(resources, "AWS::Lambda::Permission")
    roles = {
        name: json.dumps(one["Properties"])
        for name, one in of_type(resources, "AWS::IAM::Role").items()
        if re.search(r"-checker|CheckerFunction", json.dumps(one["Properties"]))
    }

    assert [name for name, one in permissions.items() if "hecker" in json.dumps(one)] == []
    assert set(roles) == {f"{name}Role" for name in (*ASKING, "CheckerAnswersFunction")}


def test_the_name_by_which_it_is_asked_is_its_aliass(resources: dict[str, Any]) -> None:
    function = resources["CheckerFunction"]["Properties"]["FunctionName"]
    alias = resources["CheckerFunctionAliaslive"]["Properties"]

    assert function == {"Fn::Sub": "${AWS::StackName}-checker"}
    assert (alias["FunctionName"], alias["Name"]) == ({"Ref": "CheckerFunction"}, "live")


def test_its_failures_are_told_and_undo_no_deployment(resources: dict[str, Any]) -> None:
    alarm = resources["CheckerFunctionAlarm"]["Properties"]
    watched = {one["MetricStat"]["Metric"]["MetricName"] for one in alarm["Metrics"] if "MetricStat" in one}

    assert watched == {"Errors", "Throttles"}
    assert set(referred(alarm["Metrics"])) == {"CheckerFunction"}
    assert "CheckerFunctionAlarm" not in json.dumps(of_type(resources, "AWS::CodeDeploy::DeploymentGroup"))


def test_large_questions_are_removed_after_a_day_and_only_runs_have_any(resources: dict[str, Any]) -> None:
    rules = resources["Bucket"]["Properties"]["LifecycleConfiguration"]["Rules"]
    may = {name for name in FUNCTIONS if "/checks/" in json.dumps(statements(resources, name))}

    assert [one["ExpirationInDays"] for one in rules if one.get("Prefix") == "checks/"] == [1]
    assert may == {"RunStepsFunction"}


def test_who_asks_may_read_published_collectors_and_signs_links_to_them(resources: dict[str, Any]) -> None:
    about = {
        name: [one for one in statements(resources, name) if "/collectors/" in json.dumps(one)] for name in FUNCTIONS
    }
    variables = {
        name: resources[name]["Properties"].get("Environment", {}).get("Variables", {}).get(VERSIONS)
        for name in FUNCTIONS
    }

    assert about == {name: [PUBLISHED] if name in ASKING else [] for name in FUNCTIONS}
    assert variables == {name: {"Ref": "CollectorVersions"} if name in ASKING else None for name in FUNCTIONS}


def test_the_test_runner_has_no_role_and_reaches_the_collectors_for_reading_alone(resources: dict[str, Any]) -> None:
    definition = resources["RunnerTaskDefinition"]["Properties"]
    execution = resources["RunnerExecutionRole"]["Properties"]["Policies"]
    endpoint = resources["RunnerS3Endpoint"]["Properties"]["PolicyDocument"]["Statement"]

    assert "TaskRoleArn" not in definition
    assert "s3:" not in json.dumps(execution)
    assert [one["Action"] for one in endpoint if "/collectors/" in json.dumps(one)] == ["s3:GetObject"]


@pytest.mark.parametrize(
    ("value", "is_allowed"),
    [
        ("", True),
        ("0.158.0", True),
        ("0.158.0,0.152.0", True),
        ("0.158.0,", False),
        ("0.158.0, 0.152.0", False),
        ("v0.158.0", False),
        ("../0.158.0", False),
    ],
)
def test_further_versions_are_a_list_of_versions(value: str, is_allowed: bool) -> None:
    pattern = str(read_template().parameter("CollectorVersions")["AllowedPattern"])

    assert bool(re.fullmatch(pattern, value)) is is_allowed


def test_no_other_function_has_the_collectors_memory_and_one_more_makes_files(document: dict[str, Any]) -> None:
    properties = {name: document["Resources"][name]["Properties"] for name in FUNCTIONS}

    assert {name for name in FUNCTIONS if properties[name].get("MemorySize", 0) > 1024} == {"CheckerFunction"}
    storing = {name for name in FUNCTIONS if "EphemeralStorage" in properties[name]}
    assert storing == {"CheckerFunction", "ExportsFunction"}
