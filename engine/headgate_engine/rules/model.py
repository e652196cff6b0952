"""A rule of a pipeline test."""

from dataclasses import asdict, dataclass
from typing import Final, Literal

from headgate_engine.collector import Signal

Context = Literal[
    "resource",
    "scope",
    "log",
    "span",
    "spanevent",
    "metric",
    "datapoint",
    "profile",
    "profilesample",
    "component_error",
]
"""The subject of a condition. A component error is a complaint of a component in the collector's log."""


Expect = Literal["any", "all", "none", "count"]


MAX_RULES: Final = 20


DEFAULT_CONTEXTS: Final[dict[Signal, Context]] = {
    "logs": "log",
    "traces": "span",
    "metrics": "datapoint",
    "profiles": "profile",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition on a pipeline's output, and how many records have to meet it."""

    name: str
    condition: str
    context: Context
    expect: Expect
    min: int | None = None
    max: int | None = None

    def attributes(self) -> dict[str, str | int]:
        """The rule as a part of a document, without what has no value."""
        return {name: value for name, value in asdict(self).items() if value is not None}
