"""Reads template.yaml, so that the local service and the tests use the same definitions as a deployment."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, cast
from uuid import NAMESPACE_URL, uuid5

import yaml

from headgate.foundation.yaml_text import SafeLoader

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import CreateTableInputTypeDef

PATH: Final = Path(__file__).resolve().parents[2] / "template.yaml"

Node: TypeAlias = "str | int | float | bool | list[Node] | dict[str, Node] | None"


# The types of resources that exist locally as well, and their ARNs after `arn:aws:`.
_ARNS: Final = {
    "AWS::DynamoDB::Table": "dynamodb:{region}:{account}:table/{name}",
    "AWS::S3::Bucket": "s3:::{name}",
    "AWS::Serverless::Function": "lambda:{region}:{account}:function:{name}",
    "AWS::Serverless::StateMachine": "states:{region}:{account}:stateMachine:{name}",
    "AWS::StepFunctions::StateMachine": "states:{region}:{account}:stateMachine:{name}",
    "AWS::KMS::Key": "kms:{region}:{account}:key/{name}",
    "AWS::SQS::Queue": "sqs:{region}:{account}:{name}",
    "AWS::Events::EventBus": "events:{region}:{account}:event-bus/{name}",
}
# Variables that name a function without a stand-in: locally, its caller's process does the same.
# The second would let collectors start on this machine without the kernel's walls, and the third is Fargate's limit.
_NOT_HERE: Final = ("HEADGATE_CHECKER_FUNCTION", "HEADGATE_CONFINED_BY", "HEADGATE_ALL_RUNS_UNDER_WAY")
_STATE_MACHINES: Final = ("AWS::Serverless::StateMachine", "AWS::StepFunctions::StateMachine")


class TemplateError(ValueError):
    """The template contains something that this reader does not understand. The text says where."""


@dataclass(frozen=True, slots=True)
class TableTemplate:
    """A DynamoDB table. `definition` are the arguments of CreateTable."""

    logical_id: str
    name: str
    definition: CreateTableInputTypeDef
    expiry_attribute: str | None


@dataclass(frozen=True, slots=True)
class Expiry:
    """Objects whose keys begin with `prefix` are removed `days` days after they were written."""

    prefix: str
    days: int


@dataclass(frozen=True, slots=True)
class TemplateBucket:
    logical_id: str
    name: str
    expiries: tuple[Expiry, ...]


@dataclass(frozen=True, slots=True)
class RouteTemplate:
    """A route of the HTTP API. `method` is `*` for any; `path` may contain `{name}`, and `{name+}` at its end."""

    method: str
    path: str
    function: Function


@dataclass(frozen=True, slots=True)
class Schedule:
    """A function is called with `event` again and again, `seconds` apart."""

    function: Function
    seconds: int
    event: Node


@dataclass(frozen=True, slots=True)
class Function:
    """A Lambda function. `handler` is as in `configurations.app.handler`."""

    logical_id: str
    handler: str


class Template:
    """The resources of a template, with the values of one deployment.

    `parameters` override the template's defaults. A resource is named by its own name property, else by `prefix` and
    its logical id.
    """

    def __init__(self, document: dict[str, Node], parameters: Mapping[str, str], prefix: str) -> None:
        self._resources = _mapping(document.get("Resources", {}), "Resources")
        self._globals = _mapping(document.get("Globals", {}), "Globals")
        self._prefix = prefix
        self._values: dict[str, Node] = {
            "AWS::Region": "us-east-1",
            "AWS::AccountId": "123456789012",
            "AWS::Partition": "aws",
            "AWS::StackName": prefix,
            "AWS::URLSuffix": "amazonaws.com",
        }
        self._parameters: dict[str, dict[str, Node]] = {}
        for name, parameter in _mapping(document.get("Parameters", {}), "Parameters").items():
            default = _mapping(parameter, name).get("Default")
            self._parameters[name] = _mapping(parameter, name)
            if name in parameters or default is not None:
                self._values[name] = parameters.get(name, default)

    def parameters(self) -> list[str]:
        """The names of the parameters."""
        return list(self._parameters)

    def parameter(self, name: str) -> dict[str, Node]:
        """The definition of a parameter: `Type`, `Description`, `AllowedValues` and so on."""
        return self._parameters[name]

    def tables(self) -> list[TableTemplate]:
        return [self._table(logical_id, properties) for logical_id, properties in self.of_type("AWS::DynamoDB::Table")]

    def buckets(self) -> list[TemplateBucket]:
        return [self._bucket(logical_id, properties) for logical_id, properties in self.of_type("AWS::S3::Bucket")]

    def functions(self) -> list[Function]:
        """The Python functions."""
        return [
            Function(logical_id, str(properties["Handler"]))
            for logical_id, properties in self.of_type("AWS::Serverless::Function")
            if "Handler" in properties
        ]

    def routes(self) -> list[RouteTemplate]:
        """The routes of the HTTP API in the order of the template."""
        return [
            RouteTemplate(_method(event), str(event.get("Path", "$default")), function)
            for function in self.functions()
            for event in self._events(function, "HttpApi")
        ]

    def schedules(self) -> list[Schedule]:
        """The calls that EventBridge makes at a rate. Raises TemplateError for a schedule of another form."""
        return [
            Schedule(function, _seconds(str(event.get("Schedule"))), json.loads(str(event.get("Input", "{}"))))
            for function in self.functions()
            for event in self._events(function, "Schedule")
        ]

    def retained(self) -> list[str]:
        """The logical ids of resources that remain when their stack is removed."""
        return [
            logical_id
            for logical_id, resource in self._resources.items()
            if _mapping(resource, logical_id).get("DeletionPolicy") in ("Retain", "RetainExceptOnCreate")
        ]

    def holding_data(self) -> list[str]:
        """The logical ids of those that hold what people stored: a log may go with its function."""
        return [logical_id for logical_id in self.retained() if self._type_of(logical_id) != "AWS::Logs::LogGroup"]

    def environment(self) -> dict[str, str]:
        """The variables of all functions, without those whose value only a deployed stack knows.

        Raises TemplateError if two functions have different values: locally they share one process.
        """
        together: dict[str, str] = {}
        for logical_id, variables in self._variables():
            for name, node in variables.items():
                value = self.resolve(node)
                if name in _NOT_HERE or not isinstance(value, str | int | float):
                    continue
                if together.setdefault(name, str(value)) != str(value):
                    raise TemplateError(f"{logical_id} sets {name} to another value than the other functions do")
        return together

    def variables_of(self, function: Function) -> dict[str, str]:
        """The variables of one function, as on AWS. Those whose value only a deployed stack knows are empty."""
        sections = dict(self._variables())
        together = sections["Globals"] | sections.get(function.logical_id, {})
        values = {name: self.resolve(node) for name, node in together.items()}
        return {name: "" if value is None else str(value) for name, value in values.items()}

    def name_of(self, logical_id: str) -> str:
        """The local name of a resource."""
        resource = _mapping(self._resources[logical_id], logical_id)
        properties = _mapping(resource.get("Properties", {}), logical_id)
        for name in ("TableName", "BucketName", "StateMachineName", "FunctionName", "Name"):
            provided = self.resolve(properties.get(name))
            if isinstance(provided, str):
                return provided
        name = f"{self._prefix}-{logical_id}"
        if resource.get("Type") == "AWS::KMS::Key":
            # A key's id has the form of a UUID, and here the same one at every start.
            return str(uuid5(NAMESPACE_URL, name))
        return name.lower() if resource.get("Type") == "AWS::S3::Bucket" else name

    def of_type(self, kind: str) -> Iterator[tuple[str, dict[str, Node]]]:
        """Each resource of that type: its logical id and its properties, unresolved."""
        for logical_id, resource in self._resources.items():
            described = _mapping(resource, logical_id)
            if described.get("Type") == kind:
                yield logical_id, _mapping(described.get("Properties", {}), logical_id)

    def resolve(self, node: Node) -> Node:
        """The node with its references replaced, None for what only a deployed stack knows."""
        match node:
            case {"Ref": str(name), **rest} if not rest:
                return self._referred(name)
            case {"Fn::GetAtt": [str(logical_id), str(attribute)], **rest} if not rest:
                return self._attribute(logical_id, attribute)
            case {"Fn::Sub": str(text), **rest} if not rest:
                return self._substituted(text, {})
            case {"Fn::Sub": [str(text), dict(values)], **rest} if not rest:
                return self._substituted(text, values)
            case dict():
                return None if _is_function(node) else {name: self.resolve(entry) for name, entry in node.items()}
            case list():
                return [self.resolve(entry) for entry in node]
        return node

    def _referred(self, name: str) -> Node:
        if name.endswith((".Alias", ".Version")):
            # SAM's names for the version that is called, and the newest one. Locally there is only one.
            return self._attribute(name.rpartition(".")[0], "Arn")
        if name in self._values:
            return self._values[name]
        kind = self._type_of(name)
        if kind in _STATE_MACHINES:
            return self._attribute(name, "Arn")
        return self.name_of(name) if kind in _ARNS else None

    def _attribute(self, logical_id: str, attribute: str) -> str | None:
        form = _ARNS.get(self._type_of(logical_id))
        if attribute != "Arn" or form is None:
            return None
        region, account = self._values["AWS::Region"], self._values["AWS::AccountId"]
        return "arn:aws:" + form.format(region=region, account=account, name=self.name_of(logical_id))

    def _type_of(self, logical_id: str) -> str:
        return str(_mapping(self._resources.get(logical_id, {}), logical_id).get("Type"))

    def _substituted(self, text: str, values: Mapping[str, Node]) -> str | None:
        parts = re.split(r"\$\{([^{}]+)\}", text)
        for place in range(1, len(parts), 2):
            name = parts[place]
            logical_id, dot, attribute = name.partition(".")
            if name.startswith("!"):
                value: Node = "${" + name[1:] + "}"
            elif name in values:
                value = self.resolve(values[name])
            else:
                value = self._attribute(logical_id, attribute) if dot else self._referred(name)
            if value is None or isinstance(value, list | dict):
                return None
            parts[place] = str(value)
        return "".join(parts)

    def _table(self, logical_id: str, properties: dict[str, Node]) -> TableTemplate:
        requested = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "LocalSecondaryIndexes")
        definition = {name: self.resolve(properties[name]) for name in requested if name in properties}
        expiry = _mapping(properties.get("TimeToLiveSpecification", {}), logical_id)
        return TableTemplate(
            logical_id=logical_id,
            name=self.name_of(logical_id),
            definition=cast(
                "CreateTableInputTypeDef",
                {"TableName": self.name_of(logical_id), "BillingMode": "PAY_PER_REQUEST", **definition},
            ),
            expiry_attribute=str(expiry["AttributeName"]) if expiry.get("Enabled") else None,
        )

    def _bucket(self, logical_id: str, properties: dict[str, Node]) -> TemplateBucket:
        rules = _mapping(properties.get("LifecycleConfiguration", {}), logical_id).get("Rules", [])
        expiries = (_expiry(_mapping(self.resolve(rule), logical_id)) for rule in cast("Sequence[Node]", rules))
        return TemplateBucket(logical_id, self.name_of(logical_id), tuple(expiry for expiry in expiries if expiry))

    def _events(self, function: Function, kind: str) -> Iterator[dict[str, Node]]:
        properties = _mapping(self._resources[function.logical_id], function.logical_id)["Properties"]
        for event in _mapping(_mapping(properties, function.logical_id).get("Events", {}), "Events").values():
            described = _mapping(event, function.logical_id)
            if described.get("Type") == kind:
                yield _mapping(self.resolve(described.get("Properties", {})), function.logical_id)

    def _variables(self) -> Iterator[tuple[str, dict[str, Node]]]:
        sections = [("Globals", _mapping(self._globals.get("Function", {}), "Globals.Function"))]
        sections += [entry for entry in self.of_type("AWS::Serverless::Function") if "Handler" in entry[1]]
        for logical_id, properties in sections:
            environment = _mapping(properties.get("Environment", {}), logical_id)
            yield logical_id, _mapping(environment.get("Variables", {}), logical_id)


def read(path: Path = PATH, *, parameters: Mapping[str, str] | None = None, prefix: str = "headgate-local") -> Template:
    """Read a template. Raises TemplateError if it is not one, OSError if it cannot be read."""
    try:
        document = _Loader(path.read_text(encoding="utf-8")).get_single_data()
    except yaml.YAMLError as error:
        raise TemplateError(f"{path} is not valid YAML: {error}") from error
    return Template(_mapping(document, path.name), parameters or {}, prefix)


class _Loader(SafeLoader):
    """YAML with CloudFormation's short forms, read as the long forms: `!Ref X` as `{"Ref": "X"}`."""


def _short_form(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Node]:
    content: Node
    if isinstance(node, yaml.ScalarNode):
        content = str(loader.construct_scalar(node))
    elif isinstance(node, yaml.SequenceNode):
        content = loader.construct_sequence(node, deep=True)
    else:
        content = cast("dict[str, Node]", loader.construct_mapping(cast("yaml.MappingNode", node), deep=True))
    if suffix == "GetAtt" and isinstance(content, str):
        content = list(content.partition(".")[::2])
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": content}


_Loader.add_multi_constructor("!", _short_form)


def _is_function(node: Mapping[str, Node]) -> bool:
    return len(node) == 1 and next(iter(node)).startswith("Fn::")


def _mapping(node: Node, place: str) -> dict[str, Node]:
    if not isinstance(node, dict):
        raise TemplateError(f"template.yaml: {place} is not a mapping")
    return node


def _method(event: Mapping[str, Node]) -> str:
    method = str(event.get("Method", "any")).upper()
    return "*" if method in ("ANY", "*") else method


def _seconds(schedule: str) -> int:
    rate = re.fullmatch(r"rate\((\d+) (minute|hour|day)s?\)", schedule)
    if rate is None:
        raise TemplateError(f"template.yaml: the schedule {schedule} is not read here; use rate(N minutes)")
    return int(rate[1]) * {"minute": 60, "hour": 3600, "day": 86_400}[rate[2]]


def _expiry(rule: Mapping[str, Node]) -> Expiry | None:
    days = rule.get("ExpirationInDays")
    if rule.get("Status") != "Enabled" or not isinstance(days, int):
        return None
    return Expiry(str(rule.get("Prefix", "")), days)
