"""The settings that hold OTTL, and the contexts in which each is read.

The linter of the collector's program has the same table (layers/collector/internal/lint/components.go); a test holds
this one to its answers. This one is for expressions that are being written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Final, Literal

from headgate_cli.lsp.schema import type_of
from headgate_cli.lsp.tree import Path

Kind = Literal["statement", "condition", "value_expression"]

# Contexts that the list of a signal reads, the innermost first.
_OF_SIGNAL: Final[Mapping[str, tuple[str, ...]]] = {
    "trace": ("span", "spanevent", "scope", "resource"),
    "metric": ("datapoint", "metric", "scope", "resource"),
    "log": ("log", "scope", "resource"),
    "profile": ("profile", "scope", "resource"),
}
_OF_FILTER: Final = {
    "resource": "resource",
    "span": "span",
    "spanevent": "spanevent",
    "metric": "metric",
    "datapoint": "datapoint",
    "log_record": "log",
    "profile": "profile",
}
_COUNTED: Final = {
    "spans": "span",
    "spanevents": "spanevent",
    "metrics": "metric",
    "datapoints": "datapoint",
    "logs": "log",
    "profiles": "profile",
}
_LISTS: Final[tuple[tuple[str, str, Kind], ...]] = (
    ("transform", "statements", "statement"),
    ("filter", "conditions", "condition"),
)
_ROUTES: Final[tuple[Kind, ...]] = ("condition", "statement")
_ROUTED: Final = ("resource", "span", "metric", "datapoint", "log")
_INSTRUMENTS: Final = ("histogram", "exponential_histogram", "sum", "gauge")


@dataclass(frozen=True)
class OttlField:
    """A setting that holds OTTL.

    `contexts` are those that may apply; if `chosen_by` is set, the key of that name beside the expression says which.
    If `inferred` is set, the component infers the context and paths begin with its name (`log.body`).
    """

    component: str
    kind: Kind
    contexts: tuple[str, ...]
    chosen_by: str = ""
    inferred: bool = False


def _settings() -> Iterator[tuple[str, tuple[str, ...], OttlField]]:
    """The settings, each with its section and its path within a component: `*` is any name, `**` any path."""
    for signal, contexts in _OF_SIGNAL.items():
        for component, name, kind in _LISTS:
            listed = f"{signal}_{name}", "[]"
            yield "processors", listed, OttlField(component, kind, contexts, inferred=True)
            groups: dict[str, Kind] = {name: kind, "conditions": "condition"}
            for inner, of_group in groups.items():
                group = OttlField(component, of_group, contexts, chosen_by="context", inferred=True)
                yield "processors", (*listed, inner, "[]"), group
    for signal, name in product(("traces", "metrics", "logs", "profiles"), _OF_FILTER):
        yield "processors", (signal, name, "*"), OttlField("filter", "condition", (_OF_FILTER[name],))
    for component in ("logdedup", "log_dedup"):
        yield "processors", ("conditions", "[]"), OttlField(component, "condition", ("log",))
    for context in ("span", "spanevent"):
        path = "policies", "**", "ottl_condition", context, "[]"
        yield "processors", path, OttlField("tail_sampling", "condition", (context,))
    for name, context in _COUNTED.items():
        for component in ("count", "sum"):
            yield "connectors", (name, "*", "conditions", "[]"), OttlField(component, "condition", (context,))
        for component in ("signaltometrics", "signal_to_metrics"):
            yield "connectors", (name, "[]", "conditions", "[]"), OttlField(component, "condition", (context,))
            for instrument, part in product(_INSTRUMENTS, ("value", "count")):
                field = OttlField(component, "value_expression", (context,))
                yield "connectors", (name, "[]", instrument, part), field
    for kind in _ROUTES:
        yield "connectors", ("table", "[]", kind), OttlField("routing", kind, _ROUTED, chosen_by="context")
    markers = "markers", "[]", "rules", "log_conditions", "[]"
    yield "exporters", markers, OttlField("honeycombmarker", "condition", ("log",))


@cache
def _by_component() -> Mapping[tuple[str, str], Sequence[tuple[tuple[str, ...], OttlField]]]:
    """The settings with their paths, by the section and the type of their component."""
    known: dict[tuple[str, str], list[tuple[tuple[str, ...], OttlField]]] = {}
    for section, path, field in _settings():
        known.setdefault((section, field.component), []).append((path, field))
    return known


def field_at(path: Path) -> OttlField | None:
    """The setting at a path of a configuration, None if it does not hold OTTL."""
    if len(path) < 3:
        return None
    steps = ["[]" if isinstance(step, int) else step for step in path[2:]]
    known = _by_component().get((str(path[0]), type_of(str(path[1]))), ())
    return next((field for pattern, field in known if _fits(steps, pattern)), None)


def _fits(steps: Sequence[str], pattern: Sequence[str]) -> bool:
    if "**" in pattern:
        at = pattern.index("**")
        more = len(steps) - len(pattern) + 1
        pattern = [*pattern[:at], *["*"] * max(more, 1), *pattern[at + 1 :]]
    return len(steps) == len(pattern) and all(part in ("*", step) for step, part in zip(steps, pattern, strict=True))
