"""`make deploy`, `make destroy` and `make logs` as an operator gives them, against moto in the place of AWS.

That SAM builds and accepts the template is in test_deployment.py.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import boto3
import pytest

from scripts import deploy, protection, runner_image, stack
from scripts.stack import Stop
from tests.support import operators_machine
from tests.support.operators_machine import (
    ROOT,
    VERSION,
    Machine,
    change,
    make_stack,
    outputs,
    parameters,
    stack_of_the_template,
    terminates,
)

pytestmark = pytest.mark.contract


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with operators_machine.machine(tmp_path) as made:
        yield made


DATA = [
    *("ConfigurationsTable", "VersionsTable", "IdentityTable", "FleetsTable", "EventsTable"),
    *("Bucket", "SecretsKey", "UserPool"),
]


def test_a_new_account_comes_up_in_one_go(machine: Machine) -> None:
    machine.has("docker")

    done = machine.make("deploy", given='Acme "Edge"\nada@example.com\n\ny\n', terminal=True)

    assert done.returncode == 0, done.stdout + done.stderr
    assert machine.order() == [
        "docker info",
        "sam build",
        "sam deploy",
        "docker login",
        "docker pull",
        "docker image",
        "docker build",
        "docker push",
        "sam deploy",
        "sam deploy",
    ]
    known = parameters("headgate")
    assert (known["FirstOrganization"], known["FirstAdminEmail"]) == ('Acme "Edge"', "ada@example.com")
    assert known["FleetEndpoint"] == outputs("headgate")["BaseUrl"]
    assert known["LogRetentionDays"] == "90"
    index = boto3.client("s3").get_object(Bucket=outputs("headgate")["BucketName"], Key="flows/index.json")
    assert len(json.loads(index["Body"].read())) > 10
    assert "ada@example.com gets a mail with the password" in done.stdout
    assert "Walls around it: platform, system calls." in done.stdout
    policy = json.loads(boto3.client("cloudformation").get_stack_policy(StackName="headgate")["StackPolicyBody"])
    denied = [statement for statement in policy["Statement"] if statement["Effect"] == "Deny"]
    assert [statement["Action"] for statement in denied] == [["Update:Replace", "Update:Delete"]]
    assert denied[0]["Resource"] == [f"LogicalResourceId/{name}" for name in DATA]
    # A failed creation removes what it created; after that nothing is removed.
    assert [given["DeletionProtection"] for given in machine.overrides()] == ["no", "yes", "yes"]
    assert terminates("headgate") is False
    # The second time is about one thing only, which reaches the functions that it is for.
    deployments = machine.executed()
    assert [("--no-confirm-changeset" in one["arguments"]) for one in deployments] == [False, True]
    first, second = (one["stamps"] for one in deployments)
    assert {name for name in first if first[name] != second[name]} == {"FleetsFunction"}


def test_an_update_that_would_remove_data_is_refused_and_changes_nothing(machine: Machine) -> None:
    """With YES=1 as well. The stand-in for SAM makes a change set in which the bucket is gone."""
    make_stack()
    bucket = outputs("headgate")["BucketName"]
    body = stack_of_the_template()
    del body["Resources"]["Bucket"]
    body["Outputs"]["BucketName"]["Value"] = "another"
    machine.stack.write_text(json.dumps(body))

    refused = machine.make("deploy", "YES=1")

    assert refused.returncode != 0
    assert "Bucket (AWS::S3::Bucket) would be removed" in refused.stderr
    assert outputs("headgate")["BucketName"] == bucket
    assert boto3.client("cloudformation").list_change_sets(StackName="headgate")["Summaries"] == []


def test_an_operators_own_statements_of_the_stack_policy_stay(machine: Machine) -> None:
    make_stack()
    own = {"Effect": "Deny", "Action": "Update:*", "Principal": "*", "Resource": "LogicalResourceId/Api"}
    client = boto3.client("cloudformation")
    client.set_stack_policy(StackName="headgate", StackPolicyBody=json.dumps({"Statement": [own]}))

    protection.protect("headgate")
    protection.protect("headgate")

    statements = json.loads(client.get_stack_policy(StackName="headgate")["StackPolicyBody"])["Statement"]
    assert (statements[0], len(statements)) == (own, 2)


# As CloudFormation's reference shows the structure ResourceChange.
REPLACED = {
    "Action": "Modify",
    "LogicalResourceId": "VersionsTable",
    "ResourceType": "AWS::DynamoDB::Table",
    "Replacement": "True",
    "Details": [
        {"Target": {"Attribute": "Properties", "Name": "KeySchema", "RequiresRecreation": "Always"}},
        {"Target": {"Attribute": "Tags", "RequiresRecreation": "Never"}},
    ],
}


@pytest.mark.parametrize(
    ("change_set", "lines"),
    [
        (
            REPLACED,
            ["VersionsTable (AWS::DynamoDB::Table) would be replaced by an empty one, for KeySchema"],
        ),
        ({**REPLACED, "Replacement": "False"}, []),
        ({**REPLACED, "Replacement": "Conditional"}, []),
        ({**REPLACED, "LogicalResourceId": "RunsTable"}, []),
        (
            {**REPLACED, "Action": "Remove", "Replacement": None},
            ["VersionsTable (AWS::DynamoDB::Table) would be removed"],
        ),
    ],
    ids=["replaced", "modified", "left to the stack policy", "holds nothing that is kept", "removed"],
)
def test_a_change_set_tells_what_would_be_lost(change_set: dict[str, object], lines: list[str]) -> None:
    assert protection.losses([change_set], ["VersionsTable"]) == lines


def test_the_image_holds_the_layers_collectors_on_the_digest_that_was_looked_up(machine: Machine) -> None:
    pinned = "gcr.io/distroless/static-debian12@sha256:" + "a" * 64
    machine.has("podman", more=f"if arguments[0] == 'image': print({pinned!r})")

    done = machine.make("deploy", "YES=1", "PARAMETERS=Architecture=arm64")

    assert done.returncode == 0, done.stdout + done.stderr
    # No list of processes shows the password.
    (login,) = machine.called("podman", "login")
    assert (login["password_on_stdin"], "--password-stdin" in login["arguments"]) == (True, True)
    (build,) = machine.called("podman", "build")
    assert build["collectors"] == [[f"{VERSION}/otelcol-contrib", "a collector", True]]
    image = f"123456789012.dkr.ecr.us-east-1.amazonaws.com/headgate-runner:{VERSION}-arm64"
    assert (build["arguments"][1:5], image in build["arguments"]) == (
        ["--platform", "linux/arm64", "--build-arg", f"VERSION={VERSION}"],
        True,
    )
    assert f"BASE={pinned}" in build["arguments"]
    assert machine.called("podman", "pull")[0]["arguments"][-1] == "gcr.io/distroless/static-debian12:latest"
    assert pinned in done.stdout
    assert machine.called("podman", "push")[0]["arguments"] == ["push", image]
    assert machine.called("sam", "build")[0]["variables"]["ARCHITECTURE"] == "arm64"


DIGESTS_NOT_TO_BE_HAD = ["", "gcr.io/distroless/static-debian12@sha256:short", "<no value>"]


@pytest.mark.full
@pytest.mark.parametrize("said", DIGESTS_NOT_TO_BE_HAD)
def test_an_image_whose_digest_is_not_to_be_had_is_built_on_the_tag_and_that_is_said(
    machine: Machine, said: str
) -> None:
    machine.has("docker", more=f"if arguments[0] == 'image': print({said!r})")

    done = machine.make("deploy", "YES=1")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "BASE=gcr.io/distroless/static-debian12:latest" in machine.called("docker", "build")[0]["arguments"]
    assert "is not known" in done.stdout


# A new account brings the image first as well.
@pytest.mark.full
def test_an_upgrade_brings_the_image_before_what_needs_it_and_asks_nothing_new(machine: Machine) -> None:
    machine.has("docker")
    first = machine.make("deploy", "STAGE=dev", "YES=1", "PARAMETERS=AlarmEmail=ops@example.com")
    before = machine.called("sam", "deploy")[-1]["stamps"]
    machine.calls.unlink()

    again = machine.make("deploy", "STAGE=dev", "YES=1", "PARAMETERS=RateLimitPerMinute=61")

    assert (first.returncode, again.returncode) == (0, 0), first.stderr + again.stderr
    assert machine.order() == [
        *("docker info", "sam build", "docker login", "docker pull", "docker image", "docker build", "docker push"),
        "sam deploy",
        "sam deploy",
    ]
    known = parameters("headgate-dev")
    assert (known["AlarmEmail"], known["RateLimitPerMinute"]) == ("ops@example.com", "61")
    assert known["DeploymentType"] == "AllAtOnce"
    # What the stack was given before counts.
    assert machine.called("sam", "deploy")[0]["stamps"] == before


def test_a_release_brings_its_collector_whatever_the_stack_has(machine: Machine) -> None:
    """The layer holds one: functions that went on asking for the one before would answer 503."""
    make_stack()
    change("headgate", CollectorVersion="0.0.1")

    done = machine.make("deploy", "YES=1")

    assert done.returncode == 0, done.stderr
    assert parameters("headgate")["CollectorVersion"] == VERSION


def test_a_collector_that_was_not_built_is_not_deployed(machine: Machine) -> None:
    done = machine.make("deploy", "YES=1", "PARAMETERS=CollectorVersion=9.9.9")

    assert done.returncode != 0
    assert f"CollectorVersion is 9.9.9, but the layer has {VERSION}" in done.stderr
    assert machine.called("sam", "deploy") == []


@pytest.mark.parametrize(
    ("given", "there", "published"),
    [
        ({"CollectorVersions": f"0.158.0,{VERSION},0.152.0"}, {}, ["0.158.0", "0.152.0"]),
        ({}, {"CollectorVersions": "0.158.0"}, ["0.158.0"]),
        ({"CollectorVersions": ""}, {"CollectorVersions": "0.158.0"}, []),
        ({"CollectorVersions": VERSION}, {}, []),
        ({}, {}, []),
    ],
)
def test_the_collectors_that_are_named_are_published_for_the_stacks_architecture(
    given: dict[str, str], there: dict[str, str], published: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default one is in the layer."""
    called: list[tuple[str, ...]] = []
    monkeypatch.setattr(deploy, "_python", lambda *command: called.append(command))
    stack_there = stack.Stack("", "", {"Architecture": "arm64", **there}, {"BucketName": "b"})

    deploy._publish_collectors(stack_there, {"CollectorVersion": VERSION, **given})

    command = ("scripts.publish_collectors", "--bucket", "b", "--architecture", "arm64", *published)
    assert called == ([command] if published else [])


def test_a_list_of_collectors_that_is_not_one_is_refused_before_anything_is_built(machine: Machine) -> None:
    done = machine.make("deploy", "YES=1", "PARAMETERS=CollectorVersions=newest")

    assert done.returncode != 0
    assert "CollectorVersions cannot be 'newest': it does not match" in done.stderr
    assert machine.called("sam") == []


def test_a_first_change_set_that_nobody_agreed_to_is_not_a_stack(machine: Machine) -> None:
    """CloudFormation goes on naming one, IN_PROGRESS for ever."""
    boto3.client("cloudformation").create_change_set(
        StackName="headgate",
        ChangeSetName="declined",
        ChangeSetType="CREATE",
        TemplateBody=json.dumps(stack_of_the_template()),
    )
    assert stack.find("headgate") is None

    done = machine.make("destroy", given="headgate\n")

    assert "There is no stack headgate" in done.stderr


@pytest.mark.full
def test_after_a_deployment_that_was_undone_every_function_is_published_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its versions are still there, and Lambda publishes nothing that equals the last one."""
    assert machine.make("deploy", "YES=1").returncode == 0
    find, found = stack.find, stack.find("headgate")
    assert found is not None
    answers = iter([replace(found, status="UPDATE_ROLLBACK_COMPLETE", updated="2026-11-21")])
    monkeypatch.setattr(stack, "find", lambda name: next(answers, None) or find(name))
    monkeypatch.setattr(runner_image, "engine", lambda: None)
    # Another limit, so that there is something to update; none of these functions depends on it.
    options = [
        "--yes",
        "--no-releases",
        "--parameters=RateLimitPerMinute=61",
        f"--sam={machine.programs / 'sam'}",
        f"--build-dir={machine.build_dir}",
    ]
    monkeypatch.setattr(sys, "argv", ["deploy", *options])

    assert deploy.main() == 0

    before, after = (one["stamps"] for one in machine.executed()[-2:])
    assert [name for name in before if before[name] == after[name]] == []


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("ROLLBACK_COMPLETE", "remove it with `make destroy STAGE=prod`"),
        ("UPDATE_IN_PROGRESS", "wait until this update has ended"),
        ("UPDATE_ROLLBACK_FAILED", "continue-update-rollback --stack-name headgate"),
    ],
)
def test_a_stack_that_takes_no_update_is_left_alone(
    machine: Machine, status: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    there = stack.Stack(status=status, updated="", parameters={}, outputs={})
    monkeypatch.setattr(stack, "find", lambda name: there if name == "headgate" else None)
    monkeypatch.setattr(sys, "argv", ["deploy", "--yes", "--sam", str(machine.programs / "sam")])

    assert deploy.main() != 0
    assert said in capsys.readouterr().err
    assert not machine.calls.exists()


@pytest.mark.full
def test_without_a_container_engine_it_says_what_will_not_work(machine: Machine) -> None:
    machine.has("docker", more="sys.exit(1)")

    # The region is named as the guide does.
    done = machine.make("deploy", "YES=1", without=("AWS_DEFAULT_REGION",))

    assert done.returncode == 0, done.stderr
    assert f"region {os.environ['AWS_REGION']}." in done.stdout
    assert "Each test run will end in Error" in done.stdout
    assert machine.order()[-1] == "sam deploy"


@pytest.mark.full
@pytest.mark.parametrize("failing", ["build", "deploy"])
def test_what_fails_ends_it_and_a_later_run_goes_on(machine: Machine, failing: str) -> None:
    whole = (machine.programs / "sam").read_text()
    (machine.programs / "sam").write_text(
        whole.replace(
            'if arguments[0] == "build":', f'if arguments[0] == {failing!r}: sys.exit(1)\nif arguments[0] == "build":'
        )
    )

    failed = machine.make("deploy", "YES=1")
    assert failed.returncode != 0
    assert f"`sam {failing}` failed" in failed.stderr
    (machine.programs / "sam").write_text(whole)

    assert machine.make("deploy", "YES=1").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["STAGE=staging"], "There is no stage 'staging' in samconfig.toml; its stages are dev, prod"),
        (["PARAMETERS=oops"], "'oops' is not a parameter: write Name=value"),
        (["PARAMETERS=RateLimit=61"], "There is no parameter RateLimit; did you mean RateLimitPerMinute?"),
    ],
)
def test_a_mistaken_command_does_nothing(machine: Machine, arguments: list[str], said: str) -> None:
    done = machine.make("deploy", "YES=1", *arguments)

    assert (done.returncode != 0, said in done.stderr) == (True, True), done.stderr
    assert machine.called("sam") == []


@pytest.mark.parametrize(
    ("without", "said"),
    [
        (("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "The AWS credentials do not work"),
        (("AWS_REGION", "AWS_DEFAULT_REGION"), "There is no AWS region"),
    ],
)
def test_without_credentials_or_region_it_says_so(machine: Machine, without: tuple[str, ...], said: str) -> None:
    assert said in machine.make("deploy", without=without).stderr


def test_removal_asks_for_the_name_and_tells_what_stays(machine: Machine) -> None:
    make_stack()
    bucket = outputs("headgate")["BucketName"]

    refused = machine.make("destroy", given="yes\n")
    assert (refused.returncode != 0, machine.called("sam", "delete")) == (True, [])
    done = machine.make("destroy", given="headgate\n")

    assert done.returncode == 0, done.stderr
    assert f"Bucket: {bucket} (AWS::S3::Bucket)" in done.stdout
    assert "ValidationLog" not in done.stdout
    assert terminates("headgate", default=True)
    assert machine.called("sam", "delete")[0]["arguments"][:3] == ["delete", "--stack-name", "headgate"]
    assert "There is no stack headgate" in machine.make("destroy").stderr


@pytest.mark.full
def test_logs_are_those_of_the_function_asked_for(machine: Machine) -> None:
    make_stack()
    logs = boto3.client("logs")
    for later, name in enumerate(("ApiLog", "ValidationLog")):
        summaries = boto3.client("cloudformation").describe_stack_resources(
            StackName="headgate", LogicalResourceId=name
        )
        group = summaries["StackResources"][0]["PhysicalResourceId"]
        logs.create_log_stream(logGroupName=group, logStreamName="s")
        event = {"timestamp": int(time.time() * 1000) + later * 1000, "message": f"from {name}"}
        logs.put_log_events(logGroupName=group, logStreamName="s", logEvents=[event])

    def show(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "scripts.logs", "--once", *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert [line[9:] for line in show().stdout.splitlines()] == ["Api: from ApiLog", "Validation: from ValidationLog"]
    assert "ApiLog" not in show("--function", "ValidationFunction").stdout
    assert "the logs are Api, Validation" in show("--function", "Nothing").stderr


def test_an_image_without_a_built_layer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Stop, match="run `make build`"):
        runner_image.push("docker", "registry/headgate", VERSION, "x86_64", tmp_path)
