"""The machine of an operator who gives `make deploy` and the like, against moto in the place of AWS.

SAM and the container engine are stand-ins that write down what they were asked to do; moto gets what SAM would deploy.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path
from socketserver import StreamRequestHandler
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto.core.responses import EmptyResult

from headgate_local import aws_server, template
from tests.support.aws import read_template
from tests.support.listening import listening

if TYPE_CHECKING:
    from moto.cloudformation.responses import CloudFormationResponse

ROOT = template.PATH.parent
VERSION = str(read_template().resolve({"Ref": "CollectorVersion"}))
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
    functions = yaml.load(built.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))["Resources"].items()
    shown["stamps"] = {{
        key: one["Properties"]["Environment"]["Variables"]["HEADGATE_PARAMETERS"]
        for key, one in functions if one["Type"] == "AWS::Serverless::Function"
    }}
with open({calls!r}, "a") as file:
    file.write(json.dumps(shown) + "\\n")
{more}
"""
# Leaves what a build leaves. The process of the test does the rest: boto3 and its description of CloudFormation take a
# third of a second in each process.
OF_SAM = """\
if arguments[0] == "build":
    import zstandard
    (folder,) = [pathlib.Path(one.partition("=")[2]) for one in arguments if one.startswith("--build-dir=")]
    folder.mkdir(exist_ok=True)
    (folder / "template.yaml").write_text(pathlib.Path(%r).read_text())
    collector = folder / "CollectorLayer" / "collectors" / %r / "otelcol-contrib.zst"
    collector.parent.mkdir(parents=True, exist_ok=True)
    collector.write_bytes(zstandard.compress(b"a collector"))
else:
    import socket
    with socket.create_connection(("127.0.0.1", %d)) as asked:
        asked.sendall(json.dumps(arguments).encode() + b"\\n")
        if asked.makefile().read() != "done":
            sys.exit("the stack was not changed")
"""


class Stacks(ThreadingHTTPServer):
    """Changes the stack for the stand-in of SAM, which sends its arguments as a line of JSON and hears "done"."""

    def __init__(self, body: Path) -> None:
        self.body = body
        super().__init__(("127.0.0.1", 0), _Command)


class _Command(StreamRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, Stacks)
        arguments = json.loads(self.rfile.readline())
        if arguments[0] == "deploy":
            _deploy(arguments, json.loads(self.server.body.read_text()))
        elif arguments[0] == "delete":
            boto3.client("cloudformation").delete_stack(StackName=arguments[arguments.index("--stack-name") + 1])
        self.wfile.write(b"done")


def _deploy(arguments: list[str], body: dict[str, Any]) -> None:
    """Make in moto what the stack holds, with the parameters of the command, as SAM would."""
    cloudformation = boto3.client("cloudformation")
    named = dict(pair.split("=", 1) for pair in arguments[arguments.index("--parameter-overrides") + 1 :])
    stack_name = {"prod": "headgate", "dev": "headgate-dev"}[arguments[arguments.index("--config-env") + 1]]
    try:
        (there,) = cloudformation.describe_stacks(StackName=stack_name)["Stacks"]
        known = {parameter["ParameterKey"]: parameter["ParameterValue"] for parameter in there["Parameters"]}
    except cloudformation.exceptions.ClientError:
        there, known = None, {}
    values = {name: parameter["Default"] for name, parameter in body["Parameters"].items()} | known
    values |= {name: json.loads(value) for name, value in named.items()}
    about: dict[str, Any] = {
        "StackName": stack_name,
        "TemplateBody": json.dumps(body),
        "Parameters": [{"ParameterKey": name, "ParameterValue": value} for name, value in values.items()],
    }
    if "--no-execute-changeset" in arguments:
        cloudformation.create_change_set(**about, ChangeSetName="looked-at", ChangeSetType="UPDATE")
    elif there:
        cloudformation.update_stack(**about)
    else:
        cloudformation.create_stack(**about)


def stack_of_the_template() -> dict[str, Any]:
    """Parameters, outputs and some resources by the template's own names, which moto can make."""
    ours = read_template()
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
            "CheckerWalls": {"Value": "platform, system calls"},
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
    stack: Path
    """The template that the stand-in for SAM deploys."""

    def has(self, name: str, more: str = "") -> None:
        path = self.programs / name
        path.write_text(STAND_IN.format(python=sys.executable, calls=str(self.calls), more=more))
        path.chmod(0o755)

    def make(
        self, *arguments: str, given: str = "", terminal: bool = False, without: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        path = f"{self.programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
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

    def executed(self) -> list[dict[str, Any]]:
        """The deployments that changed the stack, without those that only made a change set."""
        return [one for one in self.called("sam", "deploy") if "--no-execute-changeset" not in one["arguments"]]

    def overrides(self) -> list[dict[str, str]]:
        """The parameters of each deployment."""
        texts = [one["arguments"] for one in self.called("sam", "deploy")]
        pairs = [arguments[arguments.index("--parameter-overrides") + 1 :] for arguments in texts]
        return [{name: json.loads(value) for name, value in (pair.split("=", 1) for pair in each)} for each in pairs]

    def order(self) -> list[str]:
        lines = [json.loads(line) for line in self.calls.read_text().splitlines()]
        return [f"{one['command']} {one['arguments'][0]}" for one in lines]


@contextmanager
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine with SAM, and moto; what was deployed is removed afterwards."""
    programs = tmp_path / "bin"
    programs.mkdir()
    body = tmp_path / "stack.json"
    body.write_text(json.dumps(stack_of_the_template()))
    built = tmp_path / "built.yaml"
    built.write_text(json.dumps(BUILT))
    made = Machine(programs, tmp_path / "calls.jsonl", tmp_path / "build", body)
    stacks = Stacks(body)
    made.has("sam", OF_SAM % (str(built), VERSION, stacks.server_port))
    with pytest.MonkeyPatch.context() as patch, aws_server.running(), listening(stacks):
        # Imported here: with it comes most of moto, which each worker would import to collect the tests.
        from moto.cloudformation.responses import CloudFormationResponse

        # moto lacks this call.
        patch.setattr(
            CloudFormationResponse, "update_termination_protection", _update_termination_protection, raising=False
        )
        yield made
        if bucket := outputs("headgate").get("BucketName"):
            boto3.resource("s3").Bucket(bucket).objects.all().delete()
        for name in ("headgate", "headgate-dev"):
            boto3.client("cloudformation").delete_stack(StackName=name)
        for repository in boto3.client("ecr").describe_repositories()["repositories"]:
            boto3.client("ecr").delete_repository(repositoryName=repository["repositoryName"], force=True)


def _update_termination_protection(self: CloudFormationResponse) -> EmptyResult:
    stack = self.cloudformation_backend.get_stack(self._get_param("StackName"))
    stack.enable_termination_protection = bool(self._get_param("EnableTerminationProtection"))
    return EmptyResult()


def terminates(stack_name: str, *, default: bool = False) -> bool:
    """True if the stack may be deleted, `default` if it is gone."""
    from moto.cloudformation.models import cloudformation_backends

    backend = cloudformation_backends["123456789012"]["us-east-1"]
    stacks = [stack for stack in backend.stacks.values() if stack.name == stack_name]
    return not stacks[0].enable_termination_protection if stacks else default


def outputs(stack_name: str) -> dict[str, str]:
    try:
        (found,) = boto3.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"]
    except boto3.client("cloudformation").exceptions.ClientError:
        return {}
    return {one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs", [])}


def make_stack() -> None:
    """A stack that is there already, for what is not about its deployment."""
    boto3.client("cloudformation").create_stack(StackName="headgate", TemplateBody=json.dumps(stack_of_the_template()))


def change(stack_name: str, **parameters: str) -> None:
    """Give a stack other parameters than its template's defaults, as one of an older release has."""
    given = [{"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()]
    boto3.client("cloudformation").update_stack(
        StackName=stack_name, TemplateBody=json.dumps(stack_of_the_template()), Parameters=given
    )


def parameters(stack_name: str) -> dict[str, str]:
    (found,) = boto3.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"]
    return {one["ParameterKey"]: one.get("ParameterValue", "") for one in found["Parameters"]}
