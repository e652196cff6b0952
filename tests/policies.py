"""What template.yaml's policies allow each function, asked as IAM would be."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from headgate_local.calls import Call
from headgate_local.template import Template

# The ARNs of a template's resources without region and account, as in recorded calls.
_FORMS = {
    "AWS::DynamoDB::Table": "dynamodb:::{name}",
    "AWS::S3::Bucket": "s3:::{name}",
    "AWS::Serverless::StateMachine": "states:::{name}",
    "AWS::Cognito::UserPool": "cognito-idp:::{name}",
}
# Each call has one value of each key: a transaction's entries are asked for one by one.
_OPERATORS = (
    "StringLike",
    "ForAnyValue:StringLike",
    "ForAllValues:StringLike",
    "ForAllValues:StringEquals",
    "ForAnyValue:StringEquals",
    "Null",
)


@dataclass(frozen=True)
class Permission:
    """One action on one resource, of one statement."""

    function: str
    statement: str
    effect: str
    action: str
    resource: str
    conditions: tuple[tuple[str, tuple[str, ...]], ...]

    def covers(self, call: Call) -> bool:
        values = {"dynamodb:LeadingKeys": _whole(call.leading_key), "s3:prefix": _whole(call.prefix)}
        return (
            self.function == call.function
            and fnmatchcase(call.action, self.action)
            and fnmatchcase(call.resource, self.resource)
            and all(any(fnmatchcase(values[key], one) for one in wanted) for key, wanted in self.conditions)
        )

    def __str__(self) -> str:
        return f"{self.function}, {self.statement}: {self.action} on {self.resource}"


def permissions(template: Template) -> list[Permission]:
    """Every permission of every function. A statement that this cannot read fails, rather than being passed over."""
    return [
        Permission(function, statement["Sid"], statement["Effect"], action, resource, tuple(_conditions(statement)))
        for function, properties in template.of_type("AWS::Serverless::Function")
        for statement in _statements(properties)
        for action in _list(statement["Action"])
        for resource in _resources(template, statement["Resource"])
    ]


def lacking(calls: Iterable[Call], given: list[Permission]) -> list[str]:
    """The calls that are not allowed, or are denied."""
    found = []
    for call in calls:
        covering = [one for one in given if one.covers(call)]
        if not any(one.effect == "Allow" for one in covering):
            found.append(f"{call.function} lacks {call.action} on {call.resource} ({call.leading_key}{call.prefix})")
        found += [f"{call} is denied by {one.statement}" for one in covering if one.effect == "Deny"]
    return sorted(found)


def unused(calls: Iterable[Call], given: list[Permission]) -> list[str]:
    """The permissions that no call used."""
    made = list(calls)
    return sorted(str(one) for one in given if one.effect == "Allow" and not any(one.covers(call) for call in made))


def _whole(cut: str) -> str:
    """A value that begins as the recorded one does."""
    return f"{cut}x" if cut.endswith(("#", "/")) else cut


def _statements(properties: Mapping[str, Any]) -> Iterator[Any]:
    for policy in properties.get("Policies", []):
        assert isinstance(policy, dict), f"{policy} is a managed policy: say what is allowed"
        yield from policy["Statement"]


def _conditions(statement: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for operator, wanted in statement.get("Condition", {}).items():
        assert operator in _OPERATORS, f"the condition {operator} is not understood"
        assert operator != "Null" or set(wanted.values()) == {"false"}, f"{wanted} is not understood"
        for key, values in wanted.items():
            # `Null: false` asks that there be a value at all.
            yield key, ("?*",) if operator == "Null" else tuple(_list(values))


def _resources(template: Template, node: Any) -> list[str]:
    return [_resource(template, one) for one in (node if isinstance(node, list) else [node])]


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
    raise AssertionError(f"the resource {node} is not understood")


def _arn(template: Template, logical_id: str) -> str:
    kinds = {one: kind for kind in _FORMS for one, _ in template.of_type(kind)}
    kind = kinds[logical_id]
    # A user pool's id is AWS's choice.
    name = "*" if kind == "AWS::Cognito::UserPool" else template.name_of(logical_id)
    return _FORMS[kind].format(name=name)


def _list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
