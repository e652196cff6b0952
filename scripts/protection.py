"""Keeps what a stack stores: an update neither replaces nor removes a resource that holds data.

Such resources have generated names, so a template that replaces one gives the functions an empty one. CloudFormation is
told to refuse that (a stack policy), and `make deploy` looks before it updates, to say what would be lost.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

import boto3
from botocore.exceptions import ClientError

from headgate_local import template
from scripts.stack import Stop

_ALLOW_OTHERS: Final = {"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"}


def protect(stack_name: str) -> None:
    """Refuse replacement, removal and deletion of the stack's data. Statements of an operator's own policy stay.

    Raises Stop if AWS does not accept it.
    """
    cloudformation = boto3.client("cloudformation")
    deny = {
        "Effect": "Deny",
        "Action": ["Update:Replace", "Update:Delete"],
        "Principal": "*",
        "Resource": [f"LogicalResourceId/{logical_id}" for logical_id in template.read().holding_data()],
    }
    try:
        body = cloudformation.get_stack_policy(StackName=stack_name).get("StackPolicyBody")
        statements = json.loads(body)["Statement"] if body else [_ALLOW_OTHERS]
        if deny not in statements:
            policy = json.dumps({"Statement": [*statements, deny]})
            cloudformation.set_stack_policy(StackName=stack_name, StackPolicyBody=policy)
        cloudformation.update_termination_protection(StackName=stack_name, EnableTerminationProtection=True)
    except ClientError as error:
        raise Stop(f"The data of the stack {stack_name} cannot be protected: {error}") from error


def allow_deletion(stack_name: str) -> None:
    """End the protection against deletion of the whole stack. Raises Stop if AWS does not accept it."""
    try:
        boto3.client("cloudformation").update_termination_protection(
            StackName=stack_name, EnableTerminationProtection=False
        )
    except ClientError as error:
        raise Stop(f"The termination protection of the stack {stack_name} cannot be ended: {error}") from error


def refuse_losses(stack_name: str) -> None:
    """Look at the change set that awaits execution, print what it replaces, and delete it.

    Raises Stop if it would replace or remove a resource that holds data.
    """
    cloudformation = boto3.client("cloudformation")
    pages = cloudformation.get_paginator("list_change_sets").paginate(StackName=stack_name)
    awaiting = [
        summary for page in pages for summary in page["Summaries"] if summary.get("ExecutionStatus") == "AVAILABLE"
    ]
    if not awaiting:
        return
    newest = max(awaiting, key=lambda summary: summary["CreationTime"])["ChangeSetName"]
    described = cloudformation.get_paginator("describe_change_set").paginate(ChangeSetName=newest, StackName=stack_name)
    changes = [change["ResourceChange"] for page in described for change in page["Changes"]]
    cloudformation.delete_change_set(ChangeSetName=newest, StackName=stack_name)
    for change in changes:
        if change.get("Replacement") == "True":
            print(f"{_label(change)} is replaced.")
    if lost := losses(changes, template.read().holding_data()):
        raise Stop(
            "\n".join(
                [
                    f"This update would lose data, so the stack {stack_name} was not changed:",
                    *(f"  {line}" for line in lost),
                    'Undo that change of template.yaml, and deploy again. "An update would lose data" in '
                    "docs/incidents.md says how to replace one on purpose.",
                ]
            )
        )


def losses(changes: Iterable[Mapping[str, Any]], protected: Iterable[str]) -> list[str]:
    """Lines for the protected resources that the changes would replace or remove.

    `changes` are CloudFormation's ResourceChange structures. A replacement that is "Conditional" is left to the stack
    policy, since only the execution tells.
    """
    names = set(protected)
    lines = []
    for change in changes:
        if change["LogicalResourceId"] not in names:
            continue
        if change["Action"] == "Remove":
            lines.append(f"{_label(change)} would be removed")
        elif change.get("Replacement") == "True":
            lines.append(f"{_label(change)} would be replaced by an empty one, for {_reasons(change)}")
    return lines


def _label(change: Mapping[str, Any]) -> str:
    return f"{change['LogicalResourceId']} ({change['ResourceType']})"


def _reasons(change: Mapping[str, Any]) -> str:
    """The properties whose change needs a replacement."""
    targets = [detail["Target"] for detail in change.get("Details", [])]
    names = sorted(
        {
            target["Name"]
            for target in targets
            if target.get("RequiresRecreation", "Never") != "Never" and "Name" in target
        }
    )
    return ", ".join(names) or "a changed property"
