"""The settings that hold OTTL, and the contexts in which each is read.

The linter of the collector's program has the same table (layers/collector/internal/lint/components.go); a test holds
this one to its answers. This one is for expressions that are being written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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


def field_at(path: Path) -> OttlField | None:
    """The setting at a path of a configuration, None if it does not hold OTTL."""
    if len(path) < 3:
        return None
    section, component = str(path[0]), type_of(str(path[1]))
    pattern = tuple("[]" if isinstance(step, int) else step for step in path[2:])
    match section, component:
        case "processors", "transform":
            return _of_lists(component, pattern, "_statements")
        case "processors", "filter":
            return _of_lists(component, pattern, "_conditions") or _of_filter(component, pattern)
        case "processors", ("logdedup" | "log_dedup") if pattern == ("conditions", "[]"):
            return OttlField(component, "condition", ("log",))
        case "processors", "tail_sampling":
            return _of_tail_sampling(component, pattern)
        case "connectors", ("count" | "sum"):
            if len(pattern) == 4 and pattern[0] in _COUNTED and pattern[2:] == ("conditions", "[]"):
                return OttlField(component, "condition", (_COUNTED[pattern[0]],))
        case "connectors", "routing":
            return _of_routing(component, pattern)
        case "connectors", ("signaltometrics" | "signal_to_metrics"):
            return _of_signal_to_metrics(component, pattern)
        case "exporters", "honeycombmarker" if pattern == ("markers", "[]", "rules", "log_conditions", "[]"):
            return OttlField(component, "condition", ("log",))
    return None


def _of_lists(component: str, pattern: tuple[str, ...], suffix: str) -> OttlField | None:
    """`log_statements`: a list of expressions, or of groups with a context."""
    signal = pattern[0].removesuffix(suffix)
    if signal not in _OF_SIGNAL or pattern[0] == signal:
        return None
    contexts = _OF_SIGNAL[signal]
    listed: Kind = "statement" if suffix == "_statements" else "condition"
    if pattern[1:] == ("[]",):
        return OttlField(component, listed, contexts, inferred=True)
    if pattern[1:] == ("[]", "statements", "[]") and listed == "statement":
        return OttlField(component, "statement", contexts, chosen_by="context", inferred=True)
    if pattern[1:] == ("[]", "conditions", "[]"):
        return OttlField(component, "condition", contexts, chosen_by="context", inferred=True)
    return None


def _of_filter(component: str, pattern: tuple[str, ...]) -> OttlField | None:
    if len(pattern) == 3 and pattern[0] in ("traces", "metrics", "logs", "profiles") and pattern[1] in _OF_FILTER:
        return OttlField(component, "condition", (_OF_FILTER[pattern[1]],))
    return None


def _of_tail_sampling(component: str, pattern: tuple[str, ...]) -> OttlField | None:
    if pattern[0] == "policies" and len(pattern) > 4 and pattern[-3] == "ottl_condition" and pattern[-1] == "[]":
        return OttlField(component, "condition", (pattern[-2],)) if pattern[-2] in ("span", "spanevent") else None
    return None


def _of_routing(component: str, pattern: tuple[str, ...]) -> OttlField | None:
    if len(pattern) != 3 or pattern[:2] != ("table", "[]") or pattern[2] not in ("condition", "statement"):
        return None
    kind: Kind = "condition" if pattern[2] == "condition" else "statement"
    return OttlField(component, kind, ("resource", "span", "metric", "datapoint", "log"), chosen_by="context")


def _of_signal_to_metrics(component: str, pattern: tuple[str, ...]) -> OttlField | None:
    if len(pattern) != 4 or pattern[0] not in _COUNTED or pattern[1] != "[]":
        return None
    contexts = (_COUNTED[pattern[0]],)
    if pattern[2:] == ("conditions", "[]"):
        return OttlField(component, "condition", contexts)
    if pattern[2] in _INSTRUMENTS and pattern[3] in ("value", "count"):
        return OttlField(component, "value_expression", contexts)
    return None
