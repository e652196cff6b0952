"""What CloudFormation gets of template.yaml, after SAM's own transformation."""

import json
import re
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

from headgate.foundation import yaml_text
from headgate_local import template
from scripts import versions
from tests.support import sizes
from tests.support.aws import read_template
from tests.support.transformed_template import document, of_type, referred, resources, transformed

__all__ = ["document", "resources"]
pytestmark = pytest.mark.contract

ROOT = template.PATH.parent
FUNCTIONS = [function.logical_id for function in read_template().functions()]
# Why nothing watches over their deployments stands with each in the template. Their faults come out otherwise: as an
# error of who called, or as one of the stack.
AT_ONCE = {"MailFunction", "FirstOrganizationFunction", "CheckerAnswersFunction"}
# Reads strangers' text, so that it has rights, an alarm and a name of its own; see test_checker_template.py.
CHECKER = "CheckerFunction"


def test_no_resource_waits_for_itself(resources: dict[str, Any]) -> None:
    """An alias waits for its deployments, which watch alarms, which look at functions: a circle is easily closed."""
    graph = {
        name: {
            other
            for part in ("Properties", "UpdatePolicy", "DependsOn")
            for other in [*referred(one.get(part)), *([one[part]] if isinstance(one.get(part), str) else [])]
            if other in resources
        }
        for name, one in resources.items()
    }

    TopologicalSorter(graph).prepare()
    assert graph["IdentityFunctionAliaslive"] >= {"IdentityFunctionDeploymentGroup"}
    assert graph["IdentityFunctionDeploymentGroup"] >= {
        "ServerErrorsAlarm",
        "FunctionErrorsAlarm",
        "RunStepsErrorsAlarm",
        "RolloutStepsErrorsAlarm",
    }


@pytest.mark.parametrize("layer", ["PythonLayer", "CollectorLayer"])
def test_a_new_layer_reaches_the_alias_of_each_function_that_has_it(
    resources: dict[str, Any], layer: str, document: dict[str, Any]
) -> None:
    """A version of a function is made when SAM sees a change; the domain's code is in a layer, not in the function."""
    having = {
        name
        for name in FUNCTIONS
        if layer == "PythonLayer" or {"Ref": layer} in document["Resources"][name]["Properties"].get("Layers", [])
    }
    before, after = (
        of_type(one, "AWS::Lambda::Alias") for one in (resources, transformed(f"{layer}=new")["resources"])
    )

    changed = {name for name, alias in before.items() if alias["Properties"] != after[name]["Properties"]}
    assert changed == {f"{name}Aliaslive" for name in having}


def aliases_of(document: dict[str, Any], built: Path, given: list[str], attempt: str) -> dict[str, Any]:
    """The properties of every alias, deployed with these parameters after that attempt."""
    if not built.exists():
        built.write_text(yaml_text.safe_dump(document))
        versions.stamp(built, dict(one.split("=") for one in given), attempt)
        # SAM reads JSON in a tenth of the time.
        built.write_text(json.dumps(yaml_text.safe_load(built.read_text())))
    aliases = of_type(transformed(f"template={built}", *given)["resources"], "AWS::Lambda::Alias")
    return {name: alias["Properties"] for name, alias in aliases.items()}


WITH_THE_COLLECTOR = ("Configurations", "Validation", "Components", "Fleets", "Testing", "RunSteps")
# On each change a parameter of every function, one of some, and one of none; in `make trust` all of these. What follows
# an undone deployment is tested with `make deploy` on each change as well, in test_deployment_commands.py.
CHANGED = [
    # By a condition and a substitution.
    ("DomainName=headgate.example.com", set(FUNCTIONS)),
    ("FleetEndpoint=https://headgate.example.com", {"FleetsFunction", "InstallFunction"}),
    ("LogRetentionDays=90", set()),
    ("a deployment that was undone", set(FUNCTIONS)),
    ("RateLimitPerMinute=61", set(FUNCTIONS)),
    ("FleetHeartbeatSeconds=90", set(FUNCTIONS)),
    ("CollectorVersions=0.158.0", {f"{name}Function" for name in WITH_THE_COLLECTOR}),
    ("DeploymentType=AllAtOnce", set()),
]


@pytest.mark.sized
@pytest.mark.parametrize(("changed", "functions"), sizes.either(CHANGED[:3], CHANGED))
def test_a_parameter_reaches_the_alias_of_each_function_that_it_changes(
    document: dict[str, Any],
    changed: str,
    functions: set[str],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """SAM by itself compares properties without the values of parameters."""
    given = [changed] if "=" in changed else []
    before = aliases_of(document, tmp_path_factory.getbasetemp() / "as_given.yaml", [], "")
    after = aliases_of(document, tmp_path / "changed.yaml", given, "" if given else changed)

    assert {name for name, alias in before.items() if alias != after[name]} == {
        f"{name}Aliaslive" for name in functions
    }


@pytest.mark.parametrize("function", sorted(set(FUNCTIONS) - {CHECKER}))
def test_a_function_is_called_by_its_alias_alone(resources: dict[str, Any], function: str) -> None:
    """But for the alarms, which count all versions together."""
    callers = ("AWS::ApiGatewayV2::Api", "AWS::Events::Rule", "AWS::StepFunctions::StateMachine")
    others = (
        "AWS::Lambda::Permission",
        "AWS::Cognito::UserPool",
        "Custom::FirstOrganization",
        "Custom::CheckerAnswers",
        "AWS::IAM::Role",
    )

    named = {
        name for name, one in resources.items() if one["Type"] in callers + others and function in set(referred(one))
    }
    assert named == set()
    assert any(f"{function}Aliaslive" in set(referred(one.get("Properties"))) for one in resources.values())


def test_the_api_may_call_every_path_of_its_routes(resources: dict[str, Any]) -> None:
    """SAM writes a permission for each route, and puts * for a variable part only if it knows its form."""
    permissions = of_type(resources, "AWS::Lambda::Permission").values()
    allowed = [
        one["Properties"]["SourceArn"]["Fn::Sub"][0]
        for one in permissions
        if "Fn::Sub" in one["Properties"]["SourceArn"]
    ]

    assert len(allowed) == len(read_template().routes())
    assert [arn for arn in allowed if "{" in arn.replace("${", "")] == []


# A table that refuses its deletion would outlive a failed creation of its stack.
PROTECTED = {"Fn::If": ["ProtectsData", True, False]}


def test_what_is_kept_is_protected_and_can_be_restored(resources: dict[str, Any]) -> None:
    for name, table in of_type(resources, "AWS::DynamoDB::Table").items():
        properties = table["Properties"]
        assert properties["BillingMode"] == "PAY_PER_REQUEST", name
        assert properties["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"], name
        assert properties["SSESpecification"]["SSEEnabled"], name
        # Runs end after a month anyway, and go with the stack.
        kept = (table["DeletionPolicy"], properties.get("DeletionProtectionEnabled", False))
        assert kept == (("Delete", False) if name == "RunsTable" else ("RetainExceptOnCreate", PROTECTED)), name
    bucket = resources["Bucket"]
    assert (bucket["DeletionPolicy"], bucket["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")
    assert set(bucket["Properties"]["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["Properties"]["VersioningConfiguration"] == {"Status": "Enabled"}
    protected = {"Fn::If": ["ProtectsData", "ACTIVE", "INACTIVE"]}
    assert resources["UserPool"]["Properties"]["DeletionProtection"] == protected


def test_what_is_denied_by_its_key_is_denied_for_that_key_alone(resources: dict[str, Any]) -> None:
    """AWS does not say whether IAM sees each entry of a transaction alone, or the keys of all: either has to work."""
    conditions = {
        (name, statement["Sid"]): statement["Condition"]
        for name, role in of_type(resources, "AWS::IAM::Role").items()
        for policy in role["Properties"].get("Policies", [])
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
    }

    assert {name for name, _ in conditions} == {
        f"{name}FunctionRole"
        for name in (
            *("Identity", "Configurations", "Validation", "Components", "Flows", "Fleets", "Testing", "Application"),
            "Webhooks",
        )
    }
    key = "dynamodb:LeadingKeys"
    assert [
        one
        for one in conditions.values()
        if one
        != {
            "ForAllValues:StringLike": {key: ["audit#*"]},
            # Without a value at all, ForAllValues would be true.
            "Null": {key: "false"},
        }
    ] == []


def test_logs_outlive_their_stack_but_may_go_with_their_function(resources: dict[str, Any]) -> None:
    groups = of_type(resources, "AWS::Logs::LogGroup")
    described = read_template()

    assert {(one["DeletionPolicy"], one["UpdateReplacePolicy"]) for one in groups.values()} == {
        ("RetainExceptOnCreate", "Retain")
    }
    assert set(groups) <= set(described.retained())
    assert set(groups) & set(described.holding_data()) == set()
    assert {"IdentityTable", "Bucket", "UserPool", "SecretsKey"} <= set(described.holding_data())


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_everything_has_tags_by_which_its_cost_is_told(resources: dict[str, Any], stage: str) -> None:
    """Those of the stack, which CloudFormation passes on; tasks do not get them by themselves."""
    stages = tomllib.loads((ROOT / "samconfig.toml").read_text())
    machine = yaml_text.safe_load((ROOT / "statemachines" / "test_run.asl.yaml").read_text())

    assert stages[stage]["deploy"]["parameters"]["tags"] == ["Service=headgate", f"Stage={stage}"]
    assert machine["States"]["Collect"]["Parameters"]["PropagateTags"] == "TASK_DEFINITION"


def test_reserved_concurrency_is_a_choice(resources: dict[str, Any]) -> None:
    reserving = {
        name: one["Properties"]["ReservedConcurrentExecutions"]
        for name, one in of_type(resources, "AWS::Lambda::Function").items()
        if "ReservedConcurrentExecutions" in one["Properties"]
    }

    assert reserving == {
        "CheckerFunction": {"Fn::If": ["ReservesForChecker", {"Ref": "CheckerConcurrency"}, {"Ref": "AWS::NoValue"}]},
        "OpampFunction": {"Fn::If": ["ReservesForFleets", {"Ref": "FleetConcurrency"}, {"Ref": "AWS::NoValue"}]},
    }


def test_every_log_is_kept_as_long_as_asked_and_no_longer(resources: dict[str, Any]) -> None:
    groups = of_type(resources, "AWS::Logs::LogGroup")

    assert {json.dumps(one["Properties"]["RetentionInDays"]) for one in groups.values()} == {
        '{"Ref": "LogRetentionDays"}'
    }
    for name in FUNCTIONS:
        logging = resources[name]["Properties"]["LoggingConfig"]
        assert logging["LogFormat"] == "JSON", name
        assert logging["LogGroup"]["Ref"] in groups, name
        # Lambda's own lines for each message of a collector would double the cost of its log.
        assert logging.get("SystemLogLevel", "INFO") == ("WARN" if name == "OpampFunction" else "INFO"), name


def test_logs_that_aws_delivers_are_named_for_it(resources: dict[str, Any]) -> None:
    """Others are named one by one in a policy of the account, of 5,120 characters for all."""
    for name in ("ApiLog", "TestRunLog", "RolloutLog"):
        group = resources[name]["Properties"]["LogGroupName"]["Fn::Sub"]
        assert (group.startswith("/aws/vendedlogs/"), "${AWS::StackName}" in group) == (True, True), name


def test_functions_and_state_machines_are_traced(resources: dict[str, Any]) -> None:
    modes = {name: resources[name]["Properties"]["TracingConfig"]["Mode"] for name in FUNCTIONS}
    assert (modes.pop("OpampFunction"), modes.pop(CHECKER)) == ("PassThrough", "PassThrough")
    assert set(modes.values()) == {"Active"}
    machines = of_type(resources, "AWS::StepFunctions::StateMachine").values()
    assert [one["Properties"]["TracingConfiguration"] for one in machines] == [{"Enabled": True}] * 2
    # Verdicts quote the telemetry that was tested.
    assert [one["Properties"]["LoggingConfiguration"]["IncludeExecutionData"] for one in machines] == [False] * 2


def test_the_access_log_holds_no_credential_and_nobodys_text(resources: dict[str, Any]) -> None:
    settings = resources["ApiApiGatewayDefaultStage"]["Properties"]["AccessLogSettings"]
    found = set(re.findall(r"\$context\.([A-Za-z.]+)", settings["Format"]))

    assert found == {
        "requestId",
        "requestTime",
        "httpMethod",
        "routeKey",
        "status",
        "responseLatency",
        "integrationErrorMessage",
    }
    json.loads(re.sub(r"\$context\.[A-Za-z.]+", "x", settings["Format"]))


def test_the_api_is_throttled(resources: dict[str, Any]) -> None:
    throttled = resources["ApiApiGatewayDefaultStage"]["Properties"]["DefaultRouteSettings"]

    assert throttled.keys() >= {"ThrottlingBurstLimit", "ThrottlingRateLimit"}


def test_pages_of_others_may_call_only_where_a_parameter_says_so(
    resources: dict[str, Any], document: dict[str, Any]
) -> None:
    cors = resources["Api"]["Properties"]["Body"]["x-amazon-apigateway-cors"]["Fn::If"]

    assert (cors[0], cors[2]) == ("HasAllowedOrigins", {"Ref": "AWS::NoValue"})
    assert document["Parameters"]["AllowedOrigins"]["Default"] == ""
    # Cookies are for our own pages.
    assert "allowCredentials" not in cors[1]


def test_both_architectures_are_built_for_alike(resources: dict[str, Any]) -> None:
    architecture = {"Ref": "Architecture"}

    assert [resources[name]["Properties"]["Architectures"] for name in FUNCTIONS] == [[architecture]] * len(FUNCTIONS)
    for layer in of_type(resources, "AWS::Lambda::LayerVersion").values():
        assert layer["Properties"]["CompatibleArchitectures"] == [architecture]
    task = resources["RunnerTaskDefinition"]["Properties"]["RuntimePlatform"]["CpuArchitecture"]
    assert task == {"Fn::If": ["OnArm", "ARM64", "X86_64"]}


def test_the_default_collector_is_the_one_that_is_built(document: dict[str, Any]) -> None:
    built = (ROOT / "layers" / "collector" / "versions" / "DEFAULT").read_text().strip()

    assert document["Parameters"]["CollectorVersion"]["Default"] == built


@pytest.mark.parametrize(
    ("arn", "taken"),
    [
        ("", True),
        ("arn:aws:ses:eu-central-1:123456789012:identity/headgate@example.com", True),
        ("arn:aws-us-gov:ses:us-gov-west-1:123456789012:identity/a@b.c", True),
        ("arn:aws:ses:eu-central-1:123456789012:identity/example.com", False),
        ("headgate@example.com", False),
    ],
)
def test_mails_are_sent_from_an_address_of_ses_alone(
    document: dict[str, Any], resources: dict[str, Any], arn: str, taken: bool
) -> None:
    pattern = document["Parameters"]["MailIdentityArn"]["AllowedPattern"]
    condition, named, without = resources["UserPool"]["Properties"]["EmailConfiguration"]["Fn::If"]

    assert bool(re.fullmatch(pattern, arn)) == taken
    assert (condition, named["SourceArn"]) == ("HasMailIdentity", {"Ref": "MailIdentityArn"})
    assert "SourceArn" not in without


@pytest.mark.parametrize("parameter", ["FirstAdminEmail", "AlarmEmail"])
@pytest.mark.parametrize(
    ("address", "taken"),
    [
        ("", True),
        ("ada@example.com", True),
        ("ada@localhost", False),
        ("ada", False),
        ("ada@example.com bob@b.c", False),
    ],
)
def test_an_address_with_a_slip_is_refused_before_a_stack_is_made(
    document: dict[str, Any], parameter: str, address: str, taken: bool
) -> None:
    """The service behind it would refuse it at the end, and CloudFormation undo all there is by then."""
    assert bool(re.fullmatch(document["Parameters"][parameter]["AllowedPattern"], address)) == taken


@pytest.mark.parametrize(
    ("zone", "taken"), [("", True), ("eu-central-1b", True), ("us-gov-west-1a", True), ("eu-central-1", False)]
)
def test_the_runners_zone_may_be_chosen(
    document: dict[str, Any], resources: dict[str, Any], zone: str, taken: bool
) -> None:
    pattern = document["Parameters"]["RunnerZone"]["AllowedPattern"]
    condition, chosen, first = resources["RunnerSubnet"]["Properties"]["AvailabilityZone"]["Fn::If"]

    assert bool(re.fullmatch(pattern, zone)) == taken
    assert (condition, chosen) == ("HasRunnerZone", {"Ref": "RunnerZone"})
    assert first == {"Fn::Select": [0, {"Fn::GetAZs": ""}]}


def _unguarded(value: Any, condition: str) -> set[str]:
    """The resources that are referred to wherever the condition does not guard it."""
    if isinstance(value, list):
        return set().union(*(_unguarded(one, condition) for one in value))
    if not isinstance(value, dict):
        return set()
    match value:
        case {"Fn::If": [name, _, otherwise]} if name == condition:
            return _unguarded(otherwise, condition)
        case {"Ref": str(name)}:
            return {name}
        case {"Fn::GetAtt": [str(name), *_]}:
            return {name}
        case {"Fn::Sub": text}:
            words = text if isinstance(text, str) else text[0]
            return set(re.findall(r"\$\{(\w+)", words)) | _unguarded(text, condition)
    return set().union(*(_unguarded(one, condition) for one in value.values()))


def test_without_test_runs_the_runners_network_is_left_out_and_nothing_refers_to_it(
    document: dict[str, Any], resources: dict[str, Any]
) -> None:
    left_out = {name for name, one in resources.items() if one.get("Condition") == "RunsTests"}
    kept = {name: one for name, one in resources.items() if name not in left_out}
    outputs = document["Outputs"].values()

    assert {name for name, one in resources.items() if one["Type"].startswith("AWS::EC2::")} == left_out
    assert {name for name, one in kept.items() if _unguarded(one, "RunsTests") & left_out} == set()
    assert not set().union(*(_unguarded(one, "RunsTests") for one in outputs)) & left_out


def test_the_runner_has_a_subnet_in_each_of_two_zones(resources: dict[str, Any]) -> None:
    zones = [resources[name]["Properties"]["AvailabilityZone"] for name in ("RunnerSubnet", "RunnerSecondSubnet")]
    chosen = {"Ref": "RunnerZone"}, {"Ref": "RunnerSecondZone"}

    assert [zone["Fn::If"][1] for zone in zones] == list(chosen)
    assert zones[0]["Fn::If"][2] != zones[1]["Fn::If"][2]
