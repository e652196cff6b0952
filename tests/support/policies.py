"""What template.yaml's policies allow each function, asked as IAM would be."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, cast

from headgate_local.template import Template
from tests.support.calls import Call
from tests.support.iam import Condition, Decision, Request, Statement, applies, decide

LEADING_KEYS = "dynamodb:LeadingKeys"
PREFIX = "s3:prefix"
CONTEXT_KEYS = "kms:EncryptionContextKeys"
# The operator's, so that the template has no name for it.
EXPORT_BUCKET = "headgate-exports"
# The ARNs of a template's resources without region and account, as in recorded calls.
_FORMS = {
    "AWS::DynamoDB::Table": "dynamodb:::{name}",
    "AWS::S3::Bucket": "s3:::{name}",
    "AWS::Serverless::StateMachine": "states:::{name}",
    "AWS::Cognito::UserPool": "cognito-idp:::{name}",
    "AWS::Logs::LogGroup": "logs:::{name}",
    "AWS::KMS::Key": "kms:::{name}",
    "AWS::SQS::Queue": "sqs:::{name}",
    "AWS::Events::EventBus": "events:::{name}",
}

Roles = Mapping[str, Sequence[Statement]]
"""Each function's statements."""


def roles(template: Template) -> Roles:
    """The statements of each function's role. A statement that cannot be read fails; it is not passed over."""
    return {
        function: [statement(template, one) for one in _statements(properties)]
        for function, properties in template.of_type("AWS::Serverless::Function")
    }


def statement(template: Template, node: Mapping[str, Any]) -> Statement:
    """One statement of a policy, its resources named as in recorded calls."""
    assert node.keys() <= {"Sid", "Effect", "Action", "Resource", "Condition"}, node
    resources = node["Resource"] if isinstance(node["Resource"], list) else [node["Resource"]]
    return Statement(
        node["Sid"],
        cast("Literal['Allow', 'Deny']", node["Effect"]),
        tuple(_list(node["Action"])),
        tuple(_resource(template, one) for one in resources),
        tuple(_conditions(node)),
    )


def asked(call: Call) -> list[Request]:
    """What IAM may be asked for a call: of an entry of a transaction with its own key, or with those of all entries."""
    prefix = {PREFIX: (_whole(call.prefix),)} if call.prefix else {}
    if call.context_keys:
        prefix = {CONTEXT_KEYS: call.context_keys}
    requests = []
    for keys in dict.fromkeys([call.leading_keys, call.together]):
        named = {LEADING_KEYS: tuple(map(_whole, keys))} if keys else {}
        requests.append(Request(call.action, call.resource, prefix | named))
    return requests


def decisions(given: Roles, call: Call) -> set[Decision]:
    return {decide(given.get(call.function, ()), request) for request in asked(call)}


def lacking(calls: Iterable[Call], given: Roles) -> list[str]:
    """The calls that are not allowed, or are denied."""
    found = []
    for call in calls:
        for request in asked(call):
            if decide(given.get(call.function, ()), request) == "not allowed":
                found.append(f"{call.function} lacks {call.action} on {call.resource} {dict(request.context)}")
            denying = [one for one in given.get(call.function, ()) if one.effect == "Deny" and applies(one, request)]
            found += [f"{call} is denied by {one.sid}" for one in denying]
    return sorted(found)


NOT_CALLED_HERE: Final[Mapping[tuple[str, str, str], str]] = {
    ("SeriesFunction", "Stream", ""): "Lambda reads the table's stream with this role",
    ("SeriesFunction", "GivenUp", ""): "Lambda sends what it gave up to the dead letter queue with this role",
    (
        "FleetsFunction",
        "GroupsTheirRolloutsAndSeries",
        "series#*",
    ): "a group has a second part of its hosts' series only with hundreds of hosts",
}
"""Permissions by function, statement and key, and why no call of a test uses them."""


def unused(calls: Iterable[Call], given: Roles) -> list[str]:
    """The permissions that no call used: of each action on each resource, with each key that is allowed."""
    made = list(calls)
    return sorted(
        f"{function}, {one.sid}: {one.actions[0]} on {one.resources[0]}"
        + "".join(f" ({', '.join(values)})" for _, _, values in one.conditions)
        for function, statements in given.items()
        for one in _single(statements)
        if (function, one.sid, "") not in NOT_CALLED_HERE
        and (function, one.sid, "".join(one.conditions[0][2]) if one.conditions else "") not in NOT_CALLED_HERE
        # What another statement denies is not allowed.
        and decide(statements, _example(one)) == "allowed"
        and not any(
            call.function == function and any(applies(_for_any_value(one), request) for request in asked(call))
            for call in made
        )
    )


def _single(statements: Iterable[Statement]) -> Iterator[Statement]:
    """What is allowed, cut into statements of one action, one resource and one value of a key."""
    for one in statements:
        if one.effect == "Deny":
            continue
        (key, values), *others = [(key, values) for operator, key, values in one.conditions if operator != "Null"] or [
            ("", ("",))
        ]
        assert not others, f"{one.sid} has more than one condition"
        for action in one.actions:
            for resource in one.resources:
                for value in values:
                    conditions = ((("StringLike", key, (value,)),)) if key else ()
                    yield Statement(one.sid, "Allow", (action,), (resource,), conditions)


def _example(one: Statement) -> Request:
    """A request that the statement is about."""
    context = {key: (values[0].replace("*", "x"),) for _, key, values in one.conditions}
    return Request(one.actions[0], one.resources[0].replace("*", "x"), context)


def _for_any_value(one: Statement) -> Statement:
    """A batch read and a transaction have several keys, and use the permission of each."""
    conditions = tuple((f"ForAnyValue:{operator}", key, values) for operator, key, values in one.conditions)
    return replace(one, conditions=conditions)


def _whole(cut: str) -> str:
    """A value that begins as the recorded one does."""
    return f"{cut}x" if cut.endswith(("#", "/", "_")) else cut


def _statements(properties: Mapping[str, Any]) -> Iterator[Any]:
    for policy in properties.get("Policies", []):
        assert isinstance(policy, dict), f"{policy} is a managed policy: say what is allowed"
        yield from policy["Statement"]


def _conditions(node: Mapping[str, Any]) -> Iterator[Condition]:
    for operator, wanted in node.get("Condition", {}).items():
        for key, values in wanted.items():
            yield operator, key, tuple(map(str, _list(values)))


def _resource(template: Template, node: Any) -> str:
    match node:
        case {"Fn::GetAtt": [str(logical_id), "Arn"]}:
            return _arn(template, logical_id)
        case {"Ref": str(logical_id)}:
            return _arn(template, logical_id)
        case {"Fn::Sub": str(text)} if text.startswith("${") and ".Arn}" in text:
            logical_id, _, rest = text.removeprefix("${").partition(".Arn}")
            return _arn(template, logical_id) + rest
        case {"Fn::Sub": str(text)} if ":states:" in text:
            return f"states:::{str(template.resolve(node)).rpartition(':')[2]}"
        case {"Fn::Sub": str(text)} if ":s3:::${ExportBucket}/" in text:
            return f"s3:::{EXPORT_BUCKET}/{text.partition('}/')[2]}"
        case {"Fn::Sub": str(text)} if ":lambda:" in text:
            return f"lambda:::{str(template.resolve(node)).partition(':function:')[2]}"
    raise AssertionError(f"the resource {node} is not understood")


def _arn(template: Template, logical_id: str) -> str:
    kinds = {one: kind for kind in _FORMS for one, _ in template.of_type(kind)}
    kind = kinds[logical_id]
    # A user pool's id is AWS's choice.
    name = "*" if kind == "AWS::Cognito::UserPool" else template.name_of(logical_id)
    return _FORMS[kind].format(name=name)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]
