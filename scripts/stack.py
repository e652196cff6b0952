"""A stage of samconfig.toml and its stack, as the commands that deploy, destroy and read logs see them."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import boto3
from botocore.exceptions import BotoCoreError, ClientError

ROOT: Final = Path(__file__).resolve().parents[1]


class Stop(Exception):
    """What keeps a command from going on, in words for whoever gave it."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One of samconfig.toml's."""

    name: str
    stack_name: str
    parameters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack that is there. `status` is CloudFormation's word; `updated` tells one update from the next."""

    status: str
    updated: str
    parameters: Mapping[str, str]
    outputs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Account:
    """Where a stack is, or will be."""

    id: str
    region: str


def stage(name: str) -> Stage:
    """Raises Stop if there is none of that name."""
    stages = tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))
    found = stages.get(name)
    if not isinstance(found, dict):
        known = ", ".join(key for key, value in stages.items() if isinstance(value, dict))
        raise Stop(f"There is no stage {name!r} in samconfig.toml; there is {known}")
    overrides = found["deploy"]["parameters"].get("parameter_overrides", [])
    return Stage(name, found["global"]["parameters"]["stack_name"], pairs(overrides))


def pairs(texts: list[str]) -> dict[str, str]:
    """`Name=value` each. Raises Stop for anything else."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise Stop(f"{text!r} is not a parameter: write Name=value")
        found[name] = value
    return found


def account() -> Account:
    """Whose credentials these are. Raises Stop without any, or without a region."""
    session = boto3.Session()
    if not session.region_name:
        raise Stop("No region is chosen: set AWS_REGION, as in `AWS_REGION=eu-central-1 make deploy`")
    try:
        identity = session.client("sts").get_caller_identity()
    except (BotoCoreError, ClientError) as error:
        raise Stop(
            f"There are no AWS credentials that work ({error}). Sign in, say with `aws sso login`, and set AWS_PROFILE"
        ) from error
    return Account(identity["Account"], session.region_name)


def find(stack_name: str) -> Stack | None:
    """The stack, or None."""
    try:
        (found,) = boto3.client("cloudformation").describe_stacks(StackName=stack_name)["Stacks"]
    except ClientError as error:
        if "does not exist" in error.response["Error"]["Message"]:
            return None
        raise Stop(f"CloudFormation does not show the stack {stack_name}: {error}") from error
    # In review: a first change set was made and not agreed to, or failed. It holds nothing.
    if found["StackStatus"] in ("DELETE_COMPLETE", "REVIEW_IN_PROGRESS"):
        return None
    return Stack(
        status=found["StackStatus"],
        updated=str(found.get("LastUpdatedTime", found["CreationTime"])),
        parameters={one["ParameterKey"]: one.get("ParameterValue", "") for one in found.get("Parameters", [])},
        outputs={one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs", [])},
    )


def resources(stack_name: str) -> Iterator[tuple[str, str, str]]:
    """Logical id, type and physical id of each."""
    pages = boto3.client("cloudformation").get_paginator("list_stack_resources")
    for page in pages.paginate(StackName=stack_name):
        for one in page["StackResourceSummaries"]:
            yield one["LogicalResourceId"], one["ResourceType"], one.get("PhysicalResourceId", "")
