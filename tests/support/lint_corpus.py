"""OTTL as the linked modules' own test data and documentation hold it, and collectors that hold one expression each.

What is found here, and how an expression is put into a configuration, shares nothing with the linter.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from headgate.foundation.yaml_text import SafeLoader
from tests.support import linked_modules

# What sends nothing: the second one for a build that lacks the first.
NOP: dict[str, dict[str, object]] = {"nop": {}}
OTLP: dict[str, dict[str, object]] = {"otlp": {"protocols": {"grpc": {"endpoint": "localhost:0"}}}}

SIGNALS_TO_METRICS = ("spans", "spanevents", "metrics", "datapoints", "logs", "profiles")
POLICIES = (
    "policies.[]",
    "policies.[].and.and_sub_policy.[]",
    "policies.[].drop.drop_sub_policy.[]",
    "policies.[].composite.composite_sub_policy.[]",
    "policies.[].composite.composite_sub_policy.[].and.and_sub_policy.[]",
)
LISTS = ("trace_statements", "metric_statements", "log_statements", "profile_statements")
METRIC_VALUES = ("histogram.value", "histogram.count", "exponential_histogram.value", "exponential_histogram.count")
FILTER_LISTS = [
    f"{signal}_conditions.{entry}"
    for signal in ("trace", "metric", "log", "profile")
    for entry in ("[]", "[].conditions.[]")
]

# Where OTTL stands: by the component's documentation.
FIELDS: dict[str, list[str]] = {
    "processors::filter": [
        f"{signal}.{level}.[]"
        for signal, levels in {
            "traces": ("resource", "span", "spanevent"),
            "metrics": ("resource", "metric", "datapoint"),
            "logs": ("resource", "log_record"),
            "profiles": ("resource", "profile"),
        }.items()
        for level in levels
    ]
    + FILTER_LISTS,
    "processors::logdedup": ["conditions.[]"],
    "processors::tail_sampling": [
        f"{p}.ottl_condition.{level}.[]" for p in POLICIES for level in ("span", "spanevent")
    ],
    "processors::transform": [
        pattern for name in LISTS for pattern in (f"{name}.[]", f"{name}.[].statements.[]", f"{name}.[].conditions.[]")
    ],
    "connectors::count": [f"{signal}.*.conditions.[]" for signal in SIGNALS_TO_METRICS],
    "connectors::sum": [f"{signal}.*.conditions.[]" for signal in SIGNALS_TO_METRICS if signal != "profiles"],
    "connectors::routing": ["table.[].condition", "table.[].statement"],
    "connectors::signaltometrics": [
        f"{signal}.[].{field}"
        for signal in ("spans", "datapoints", "logs", "profiles")
        for field in ("conditions.[]", "sum.value", "gauge.value", *METRIC_VALUES)
    ],
    "exporters::honeycombmarker": ["markers.[].rules.log_conditions.[]"],
}
# The collector that came with a field.
SINCE = {("processors::filter", pattern): (0, 145, 0) for pattern in FILTER_LISTS}
COMPONENTS = {component.split("::")[1]: component for component in FIELDS}


@dataclass(frozen=True)
class Expression:
    """One expression, the field of the component that it stands in, and the context given beside it."""

    component: str
    pattern: str
    text: str
    context: str | None = None

    @property
    def is_condition(self) -> bool:
        return "condition" in self.pattern or self.component == "processors::filter"

    def collector(self, receivers: dict[str, dict[str, object]] = NOP) -> str:
        """A configuration of a collector that holds this expression and nothing else but what it cannot do without."""
        section, name = self.component.split("::")
        body = _nested(self.pattern.split("."), self.text)
        _complete(self, body)
        sections: dict[str, dict[str, object]] = {"receivers": dict(receivers), "exporters": {"nop": {}}}
        sections.setdefault(section, {})[name] = body
        pipelines: dict[str, dict[str, list[str]]] = {}
        for signal in ("traces", "metrics", "logs"):
            pipeline = {"receivers": list(receivers), "exporters": ["nop"]}
            if section == "processors" and (name, signal) not in NOT_FOR:
                pipeline["processors"] = [name]
            elif (section == "connectors" or signal == "logs") and (name, signal) not in NOT_FOR:
                pipeline["exporters"] = [name]
            pipelines[f"{signal}/in"] = pipeline
        if section == "connectors":
            out = "logs/out" if name == "routing" else "metrics/out"
            pipelines[out] = {"receivers": [name], "exporters": ["nop"]}
        return json.dumps({**sections, "service": {"telemetry": QUIET, "pipelines": pipelines}})


QUIET = {"metrics": {"level": "none"}}
NOT_FOR = {
    ("logdedup", "traces"), ("logdedup", "metrics"), ("tail_sampling", "metrics"), ("tail_sampling", "logs"),
    ("routing", "traces"), ("routing", "metrics"),
}  # fmt: skip


def _nested(pattern: list[str], text: str) -> dict[str, object]:
    value: object = text
    for part in reversed(pattern):
        value = [value] if part == "[]" else {"some.name" if part == "*" else part: value}
    assert isinstance(value, dict)
    return value


def _complete(expression: Expression, body: dict[str, object]) -> None:
    """Add what the component demands beside the expression."""
    (top,) = body.values()
    entry = top[0] if isinstance(top, list) else None
    match expression.component:
        case "processors::filter" | "processors::transform" | "connectors::routing" if isinstance(entry, dict):
            if expression.context is not None:
                entry["context"] = expression.context
            if "table" in body:
                entry["pipelines"] = ["logs/out"]
        case "connectors::sum":
            assert isinstance(top, dict)
            top["some.name"]["source_attribute"] = "some.attribute"
        case "connectors::signaltometrics":
            assert isinstance(entry, dict)
            entry["name"] = "some.name"
            if "conditions" in entry:
                entry["sum"] = {"value": "1"}
            for kind in ("histogram", "exponential_histogram"):
                if kind in entry:
                    entry[kind].setdefault("value", "1")
        case "exporters::honeycombmarker":
            assert isinstance(entry, dict)
            body["api_key"] = "some key"
            entry["type"] = "some type"
        case "processors::tail_sampling":
            body["policies"] = [_typed(entry)]


def _typed(policy: object) -> dict[str, object]:
    assert isinstance(policy, dict)
    ((kind, content),) = policy.items()
    if kind != "ottl_condition":
        ((key, (within,)),) = content.items()
        content = {key: [_typed(within)]}
    return {"name": f"some {kind}", "type": kind, kind: content}


@dataclass(frozen=True)
class Body:
    """A component's configuration as it stands in a file."""

    component: str
    content: dict[str, object]

    def expressions(self) -> Iterator[Expression]:
        for pattern in FIELDS[self.component]:
            for text, context in _find(self.content, pattern.split("."), None):
                yield Expression(self.component, pattern, text, context)


def _find(node: object, pattern: list[str], holder: object) -> Iterator[tuple[str, str | None]]:
    if not pattern:
        if isinstance(node, str) and node:
            context = holder.get("context") if isinstance(holder, dict) else None
            yield node, context if isinstance(context, str) else None
        return
    first, *rest = pattern
    if first == "[]" and isinstance(node, list):
        for entry in node:
            yield from _find(entry, rest, holder)
    elif isinstance(node, dict) and first != "[]":
        for key, value in node.items():
            if first in ("*", key):
                yield from _find(value, rest, node)


@cache
def bodies(version: str) -> list[Body]:
    """The configurations of components that speak OTTL in all test data and documentation, each once."""
    found: dict[str, Body] = {}
    mentions = re.compile(rf"^[\s-]*({'|'.join(COMPONENTS)})(/\S*)?\s*:", re.MULTILINE)
    for module in linked_modules.folders(version):
        for file in sorted(module.rglob("*")):
            if file.suffix not in (".yaml", ".yml", ".md") or not file.is_file():
                continue
            text = file.read_text(errors="replace")
            if not mentions.search(text):
                continue
            for part in _code_blocks(text) if file.suffix == ".md" else [text]:
                for body in _bodies_of(part):
                    found.setdefault(repr(body), body)
    return list(found.values())


def _code_blocks(markdown: str) -> list[str]:
    blocks = re.findall(r"^([ \t]*)```ya?ml[^\n]*\n(.*?)^[ \t]*```", markdown, re.MULTILINE | re.DOTALL)
    return ["\n".join(line.removeprefix(indent) for line in block.split("\n")) for indent, block in blocks]


def _bodies_of(text: str) -> Iterator[Body]:
    try:
        documents = list(yaml.load_all(text, Loader=SafeLoader))
    except (yaml.YAMLError, ValueError):  # templates, and what is broken on purpose
        return
    for document in documents:
        yield from _bodies_in(document, depth=0)


def _bodies_in(node: object, depth: int) -> Iterator[Body]:
    if isinstance(node, list) and depth < 8:
        for entry in node:
            yield from _bodies_in(entry, depth + 1)
    if not isinstance(node, dict) or depth > 8:
        return
    for key, value in node.items():
        component = COMPONENTS.get(str(key).split("/")[0])
        body = Body(component, value) if component and isinstance(value, dict) else None
        if body and any(body.expressions()):
            yield body
        else:
            yield from _bodies_in(value, depth + 1)


def _ottl(version: str) -> Path:
    modules = linked_modules.folders(version)
    (module,) = (module for module in modules if module.parent.name == "pkg" and module.name.startswith("ottl@"))
    return module


@cache
def statements_of_ottls_own_tests(version: str) -> list[Expression]:
    """The statements that the tests of pkg/ottl run on a log record."""
    source = (_ottl(version) / "e2e" / "e2e_test.go").read_text()
    texts = sorted(set(re.findall(r"statement:\s*`([^`]+)`", source)))
    return [Expression("processors::transform", "log_statements.[].statements.[]", text, "log") for text in texts]


@cache
def examples_of_functions(version: str) -> list[Expression]:
    """The examples in the documentation of the functions: editors as statements, converters as values."""
    documentation = (_ottl(version) / "ottlfuncs" / "README.md").read_text()
    texts = sorted(set(re.findall(r"^\s*- `([A-Za-z]\w*\(.*\).*?)`\s*$", documentation, re.MULTILINE)))
    return [
        Expression("processors::transform", "log_statements.[].statements.[]", text, "log")
        if text[0].islower()
        else Expression("connectors::signaltometrics", "logs.[].sum.value", text)
        for text in texts
    ]


def is_judged(text: str) -> bool:
    """Whether the text is what the component gets, whatever the environment."""
    return "$orgvar:" not in text and not re.search(r"(?<!\$)(\$\$)*\$\{[^}]*\}", text)
