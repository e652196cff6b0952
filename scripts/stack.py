"""A stage of samconfig.toml, its stack and its account, for the commands that operate on a stack."""

import argparse
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import boto3
from botocore.exceptions import BotoCoreError, ClientError

ROOT: Final = Path(__file__).resolve().parents[1]


class Stop(Exception):
    """A reason to end a command. Its text is for the person who started it."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of samconfig.toml."""

    name: str
    stack_name: str
    parameters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Stack:
    """An existing stack. `status` is CloudFormation's; `updated` differs after each update."""

    status: str
    updated: str
    parameters: Mapping[str, str]
    outputs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Account:
    """The AWS account and region of a stack."""

    id: str
    region: str


def command(
    parser: argparse.ArgumentParser, carry_out: Callable[[argparse.Namespace], None], interrupted: str = ""
) -> int:
    """Carry out a command for a stage, with the parser's own options. Returns its exit status.

    The status is 1 after Stop, and 130 after Ctrl-C or the end of the input, which `interrupted` explains.
    """
    parser.add_argument("--stage", default="prod", help="a stage of samconfig.toml")
    options = parser.parse_args()
    try:
        carry_out(options)
    except Stop as reason:
        print(f"\n{reason}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, EOFError):
        if interrupted:
            print(f"\n{interrupted}", file=sys.stderr)
        return 130
    return 0


def existing(stage_name: str) -> tuple[str, Account]:
    """The name of a stage's stack, and its account. Raises Stop if there is no such stage, account or stack."""
    name, where = stage(stage_name).stack_name, account()
    if find(name) is None:
        raise Stop(f"There is no stack {name} in account {where.id}, region {where.region}.")
    return name, where


def require_name(stack_name: str, purpose: str, refusal: str) -> None:
    """Ask for the stack's name as a confirmation. Raises Stop with `refusal` for any other answer."""
    if input(f"\nType the stack's name to {purpose} [{stack_name}]: ").strip() != stack_name:
        raise Stop(refusal)


def stage(name: str) -> Stage:
    """The stage with that name. Raises Stop if there is none."""
    stages = tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))
    result = stages.get(name)
    if not isinstance(result, dict):
        known = ", ".join(key for key, value in stages.items() if isinstance(value, dict))
        raise Stop(f"There is no stage {name!r} in samconfig.toml; its stages are {known}")
    overrides = result["deploy"]["parameters"].get("parameter_overrides", [])
    return Stage(name, result["global"]["parameters"]["stack_name"], pairs(overrides))


def pairs(texts: list[str]) -> dict[str, str]:
    """The parameters in texts of the form `Name=value`. Raises Stop for any other text."""
    results = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise Stop(f"{text!r} is not a parameter: write Name=value")
        results[name] = value
    return results


def account() -> Account:
    """The account of the AWS credentials. Raises Stop without credentials or region."""
    session = boto3.Session()
    if not session.region_name:
        raise Stop("There is no AWS region: set AWS_REGION, as in `AWS_REGION=eu-central-1 make deploy`")
    try:
        identity = session.client("sts").get_caller_identity()
    except (BotoCoreError, ClientError) as error:
        raise Stop(
            f"The AWS credentials do not work ({error}). Sign in, for example with `aws sso login`, and set AWS_PROFILE"
        ) from error
    return Account(identity["Account"], session.region_name)


def find(stack_name: str) -> Stack | None:
    """The stack, or None if it does not exist. Raises Stop if CloudFormation does not answer."""
    try:
        (result,) = boto3.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"]
    except ClientError as error:
        if "does not exist" in error.response["Error"]["Message"]:
            return None
        raise Stop(f"The stack {stack_name} cannot be read: {error}") from error
    # In review: a first change set was declined, or failed. The stack has no resources.
    if result["StackStatus"] in ("DELETE_COMPLETE", "REVIEW_IN_PROGRESS"):
        return None
    return Stack(
        status=result["StackStatus"],
        updated=str(result.get("LastUpdatedTime", result["CreationTime"])),
        parameters={entry["ParameterKey"]: entry.get("ParameterValue", "") for entry in result.get("Parameters", [])},
        outputs={entry["OutputKey"]: entry["OutputValue"] for entry in result.get("Outputs", [])},
    )


def resources(stack_name: str) -> Iterator[tuple[str, str, str]]:
    """Logical id, type and physical id of each resource."""
    pages = boto3.client("cloudformation").get_paginator("list_stack_resources")
    for page in pages.paginate(StackName=stack_name):
        for resource in page["StackResourceSummaries"]:
            yield resource["LogicalResourceId"], resource["ResourceType"], resource.get("PhysicalResourceId", "")


def run(command: Sequence[str], failed: str, **variables: str) -> None:
    """Run a command with these variables in its environment. Raises Stop with `failed` if it fails."""
    if subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, check=False).returncode != 0:
        raise Stop(failed)
