"""`make deploy`, `make destroy` and `make logs` as an operator gives them, against moto in the place of AWS.

SAM and the container engine are stand-ins that write down what they were asked to do; SAM's also makes in moto what the
stack would hold. That SAM builds and accepts the template is in test_deployment.py.
"""

import json
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import boto3
import pytest

from headgate_local import aws_server, template
from scripts import deploy, runner_image, stack
from scripts.stack import Stop
from tests.support import sizes

pytestmark = pytest.mark.contract

ROOT = template.PATH.parent
VERSION = str(template.read().resolve({"Ref": "CollectorVersion"}))
STAND_IN = """\
#!{python}
import json, os, pathlib, sys
name, arguments = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
shown = {{"command": name, "arguments": arguments}}
if arguments[:1] == ["login"]:
    shown["password_on_stdin"] = bool(sys.stdin.read())
for one in arguments:
    if one.startswith("collectors="):
        shown["collectors"] = sorted(
            [str(path.relative_to(one[11:])), path.read_text(), os.access(path, os.X_OK)]
            for path in pathlib.Path(one[11:]).rglob("*") if path.is_file()
        )
if arguments[:1] == ["build"] and name == "sam":
    shown["variables"] = {{key: os.environ.get(key) for key in ("RUNTIME", "ARCHITECTURE")}}
if arguments[:1] == ["deploy"]:
    import yaml
    (built,) = [pathlib.Path(one.partition("=")[2]) for one in arguments if one.startswith("--template-file=")]
    functions = yaml.safe_load(built.read_text())["Resources"].items()
    shown["stamps"] = {{
        key: one["Properties"]["Environment"]["Variables"]["HEADGATE_PARAMETERS"]
        for key, one in functions if one["Type"] == "AWS::Serverless::Function"
    }}
with open({calls!r}, "a") as file:
    file.write(json.dumps(shown) + "\\n")
{more}
"""
# Leaves what a build leaves, and makes what the stack holds, with the parameters of the command, as SAM would.
OF_SAM = """\
if arguments[0] == "build":
    import zstandard
    (folder,) = [pathlib.Path(one.partition("=")[2]) for one in arguments if one.startswith("--build-dir=")]
    folder.mkdir(exist_ok=True)
    (folder / "template.yaml").write_text(pathlib.Path(%r).read_text())
    collector = folder / "CollectorLayer" / "collectors" / %r / "otelcol-contrib.zst"
    collector.parent.mkdir(parents=True, exist_ok=True)
    collector.write_bytes(zstandard.compress(b"a collector"))
elif arguments[0] == "deploy":
    import boto3
    cloudformation = boto3.client("cloudformation")
    given = dict(one.split("=", 1) for one in arguments[arguments.index("--parameter-overrides") + 1:])
    given = {key: json.loads(value) for key, value in given.items()}
    body = json.loads(pathlib.Path(%r).read_text())
    stack_name = {"prod": "headgate", "dev": "headgate-dev"}[arguments[arguments.index("--config-env") + 1]]
    try:
        (there,) = cloudformation.describe_stacks(StackName=stack_name)["Stacks"]
    except cloudformation.exceptions.ClientError:
        there = None
    known = {one["ParameterKey"]: one["ParameterValue"] for one in there["Parameters"]} if there else {}
    values = {**{key: one["Default"] for key, one in body["Parameters"].items()}, **known, **given}
    parameters = [{"ParameterKey": key, "ParameterValue": value} for key, value in values.items()]
    call = cloudformation.update_stack if there else cloudformation.create_stack
    call(StackName=stack_name, TemplateBody=json.dumps(body), Parameters=parameters)
elif arguments[0] == "delete":
    import boto3
    boto3.client("cloudformation").delete_stack(StackName=arguments[arguments.index("--stack-name") + 1])
"""


def stack_of_the_template() -> dict[str, Any]:
    """Parameters, outputs and some resources by the template's own names, which moto can make."""
    ours = template.read()
    names = ("Bucket", "ValidationLog", "ApiLog", "RunnerRepository")
    kinds = {"Bucket": "AWS::S3::Bucket", "RunnerRepository": "AWS::ECR::Repository"}
    parameters = {name: {"Type": "String", "Default": str(ours.resolve({"Ref": name}))} for name in ours.parameters()}
    return {
        "Parameters": parameters,
        "Resources": {
            name: {
                "Type": kinds.get(name, "AWS::Logs::LogGroup"),
                **({"DeletionPolicy": "Retain"} if name == "Bucket" else {}),
                "Properties": {"RepositoryName": "headgate-runner"} if name == "RunnerRepository" else {},
            }
            for name in names
        },
        "Outputs": {
            "BaseUrl": {"Value": "https://abc.execute-api.us-east-1.amazonaws.com"},
            "BucketName": {"Value": {"Ref": "Bucket"}},
            "RunnerRepositoryUri": {"Value": "123456789012.dkr.ecr.us-east-1.amazonaws.com/headgate-runner"},
        },
    }


# What a build leaves, as far as a deployment looks into it; test_template.py deploys the whole.
BUILT = {
    "Parameters": {"FleetEndpoint": {"Default": ""}, "AlarmEmail": {"Default": ""}},
    "Resources": {
        "FleetsFunction": {
            "Type": "AWS::Serverless::Function",
            "Properties": {"Environment": {"Variables": {"HEADGATE_FLEET_ENDPOINT": {"Ref": "FleetEndpoint"}}}},
        },
        "MailFunction": {"Type": "AWS::Serverless::Function", "Properties": {}},
        "AlarmMail": {"Type": "AWS::SNS::Subscription", "Properties": {"Endpoint": {"Ref": "AlarmEmail"}}},
    },
}


@dataclass(frozen=True)
class Machine:
    """An operator's machine: what is on its PATH, what was called there, and where SAM builds."""

    programs: Path
    calls: Path
    build_dir: Path

    def has(self, name: str, more: str = "") -> None:
        path = self.programs / name
        path.write_text(STAND_IN.format(python=sys.executable, calls=str(self.calls), more=more))
        path.chmod(0o755)

    def make(
        self, *arguments: str, given: str = "", terminal: bool = False, without: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        path = f"{self.programs}:{Path(sys.executable).parent}:/usr/bin:/bin"
        variables = {name: value for name, value in os.environ.items() if name not in without} | {"PATH": path}
        command = ["make", "--old-file=.venv/.ready", "--old-file=.venv-sam/.ready", *arguments]
        # What is installed on hosts is built and published by commands of its own, with tests of their own.
        command += [f"SAM={self.programs / 'sam'}", f"BUILD_DIR={self.build_dir}", "RELEASES=no"]
        options: dict[str, Any] = {"cwd": ROOT, "env": variables, "capture_output": True, "text": True, "check": False}
        if not terminal:
            return subprocess.run(command, input=given, **options)
        ours, theirs = pty.openpty()
        os.write(ours, given.encode())
        try:
            return subprocess.run(command, stdin=theirs, **options)
        finally:
            os.close(ours)
            os.close(theirs)

    def called(self, command: str, first: str = "") -> list[dict[str, Any]]:
        if not self.calls.exists():
            return []
        lines = [json.loads(line) for line in self.calls.read_text().splitlines()]
        return [one for one in lines if one["command"] == command and first in ("", one["arguments"][0])]

    def order(self) -> list[str]:
        lines = [json.loads(line) for line in self.calls.read_text().splitlines()]
        return [f"{one['command']} {one['arguments'][0]}" for one in lines]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    programs = tmp_path / "bin"
    programs.mkdir()
    body = tmp_path / "stack.json"
    body.write_text(json.dumps(stack_of_the_template()))
    built = tmp_path / "built.yaml"
    built.write_text(json.dumps(BUILT))
    made = Machine(programs, tmp_path / "calls.jsonl", tmp_path / "build")
    made.has("sam", OF_SAM % (str(built), VERSION, str(body)))
    with aws_server.running():
        yield made
        if bucket := outputs("headgate").get("BucketName"):
            boto3.resource("s3").Bucket(bucket).objects.all().delete()
        for name in ("headgate", "headgate-dev"):
            boto3.client("cloudformation").delete_stack(StackName=name)
        for repository in boto3.client("ecr").describe_repositories()["repositories"]:
            boto3.client("ecr").delete_repository(repositoryName=repository["repositoryName"], force=True)


def outputs(stack_name: str) -> dict[str, str]:
    try:
        (found,) = boto3.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"]
    except boto3.client("cloudformation").exceptions.ClientError:
        return {}
    return {one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs", [])}


def change(stack_name: str, **parameters: str) -> None:
    """Give a stack other parameters than its template's defaults, as one of an older release has."""
    given = [{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()]
    boto3.client("cloudformation").update_stack(
        StackName=stack_name, TemplateBody=json.dumps(stack_of_the_template()), Parameters=given
    )


def parameters(stack_name: str) -> dict[str, str]:
    (found,) = boto3.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"]
    return {one["ParameterKey"]: one.get("ParameterValue", "") for one in found["Parameters"]}


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
    ]
    known = parameters("headgate")
    assert (known["FirstOrganization"], known["FirstAdminEmail"]) == ('Acme "Edge"', "ada@example.com")
    assert known["FleetEndpoint"] == outputs("headgate")["BaseUrl"]
    assert known["LogRetentionDays"] == "90"
    index = boto3.client("s3").get_object(Bucket=outputs("headgate")["BucketName"], Key="flows/index.json")
    assert len(json.loads(index["Body"].read())) > 10
    assert "ada@example.com gets a mail with the password" in done.stdout
    # The second time is about one thing only, which reaches the functions that it is for.
    deployments = machine.called("sam", "deploy")
    assert [("--no-confirm-changeset" in one["arguments"]) for one in deployments] == [False, True]
    first, second = (one["stamps"] for one in deployments)
    assert {name for name in first if first[name] != second[name]} == {"FleetsFunction"}


def test_the_image_holds_the_layers_collectors_and_no_list_of_processes_the_password(machine: Machine) -> None:
    machine.has("podman")

    done = machine.make("deploy", "YES=1", "PARAMETERS=Architecture=arm64")

    assert done.returncode == 0, done.stdout + done.stderr
    (login,) = machine.called("podman", "login")
    assert (login["password_on_stdin"], "--password-stdin" in login["arguments"]) == (True, True)
    (build,) = machine.called("podman", "build")
    assert build["collectors"] == [[f"{VERSION}/otelcol-contrib", "a collector", True]]
    image = f"123456789012.dkr.ecr.us-east-1.amazonaws.com/headgate-runner:{VERSION}-arm64"
    assert (build["arguments"][1:5], image in build["arguments"]) == (
        ["--platform", "linux/arm64", "--build-arg", f"VERSION={VERSION}"],
        True,
    )
    assert machine.called("podman", "push")[0]["arguments"] == ["push", image]
    assert machine.called("sam", "build")[0]["variables"]["ARCHITECTURE"] == "arm64"


def test_the_image_is_built_on_the_digest_that_was_looked_up(machine: Machine) -> None:
    pinned = "gcr.io/distroless/static-debian12@sha256:" + "a" * 64
    machine.has("docker", more=f"if arguments[0] == 'image': print({pinned!r})")

    done = machine.make("deploy", "YES=1")

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"BASE={pinned}" in machine.called("docker", "build")[0]["arguments"]
    assert machine.called("docker", "pull")[0]["arguments"][-1] == "gcr.io/distroless/static-debian12:latest"
    assert pinned in done.stdout


DIGESTS_NOT_TO_BE_HAD = ["", "gcr.io/distroless/static-debian12@sha256:short", "<no value>"]


@pytest.mark.sized
@pytest.mark.parametrize("said", sizes.turn(DIGESTS_NOT_TO_BE_HAD, 1))
def test_an_image_whose_digest_is_not_to_be_had_is_built_on_the_tag_and_that_is_said(
    machine: Machine, said: str
) -> None:
    machine.has("docker", more=f"if arguments[0] == 'image': print({said!r})")

    done = machine.make("deploy", "YES=1")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "BASE=gcr.io/distroless/static-debian12:latest" in machine.called("docker", "build")[0]["arguments"]
    assert "is not known" in done.stdout


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
    ]
    known = parameters("headgate-dev")
    assert (known["AlarmEmail"], known["RateLimitPerMinute"]) == ("ops@example.com", "61")
    assert known["DeploymentType"] == "AllAtOnce"
    # What the stack was given before counts.
    assert machine.called("sam", "deploy")[0]["stamps"] == before


def test_a_release_brings_its_collector_whatever_the_stack_has(machine: Machine) -> None:
    """The layer holds one: functions that went on asking for the one before would answer 503."""
    machine.make("deploy", "YES=1")
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


def test_a_first_change_set_that_nobody_agreed_to_is_no_stack(machine: Machine) -> None:
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

    before, after = (one["stamps"] for one in machine.called("sam", "deploy")[-2:])
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


def test_without_a_container_engine_it_says_what_will_not_work(machine: Machine) -> None:
    machine.has("docker", more="sys.exit(1)")

    done = machine.make("deploy", "YES=1")

    assert done.returncode == 0, done.stderr
    assert "Each test run will end in Error" in done.stdout
    assert machine.order()[-1] == "sam deploy"


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


def test_the_region_may_be_named_as_the_guide_does(machine: Machine) -> None:
    done = machine.make("deploy", "YES=1", without=("AWS_DEFAULT_REGION",))

    assert done.returncode == 0, done.stderr
    assert f"region {os.environ['AWS_REGION']}." in done.stdout


def test_removal_asks_for_the_name_and_tells_what_stays(machine: Machine) -> None:
    machine.make("deploy", "YES=1")
    bucket = outputs("headgate")["BucketName"]

    refused = machine.make("destroy", given="yes\n")
    assert (refused.returncode != 0, machine.called("sam", "delete")) == (True, [])
    done = machine.make("destroy", given="headgate\n")

    assert done.returncode == 0, done.stderr
    assert f"Bucket: {bucket} (AWS::S3::Bucket)" in done.stdout
    assert "ValidationLog" not in done.stdout
    assert machine.called("sam", "delete")[0]["arguments"][:3] == ["delete", "--stack-name", "headgate"]
    assert "There is no stack headgate" in machine.make("destroy").stderr


def test_logs_are_those_of_the_function_asked_for(machine: Machine) -> None:
    machine.make("deploy", "YES=1")
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
