"""The request bodies of the validation endpoints; their answers are the domain's results."""

from typing import Annotated, Final, Self

from pydantic import Field, StringConstraints, model_validator

from headgate.deployments.programs import Architecture
from headgate.http.wire import Answer
from headgate_engine.collector import DISTRIBUTION
from headgate_engine.collectors.model import Capabilities, Lacking, Source
from headgate_engine.validation.service import ExpressionKind
from headgate_engine.wire.checks import CheckedText
from headgate_engine.wire.inputs import CollectorVersion, FeatureGates, Input, Yaml

MAX_EXPRESSIONS: Final = 200
MAX_EXPRESSION: Final = 65_536
MAX_TEXTS: Final = 50


Expression = Annotated[str, StringConstraints(max_length=MAX_EXPRESSION)]
Expressions = Annotated[list[Expression], Field(max_length=MAX_EXPRESSIONS)]


class Validate(CheckedText):
    """A whole configuration to validate."""

    distribution: str = DISTRIBUTION


class NamedText(CheckedText):
    """One of several configurations; the answer repeats its name."""

    name: str | None = Field(default=None, max_length=1_000)


class ValidateBatch(Input):
    """Several configurations, at most 1 MB together."""

    items: list[NamedText] = Field(min_length=1, max_length=MAX_TEXTS)


class Lint(Input):
    """A whole configuration, or single expressions and the context that they are meant for.

    `version` is the collector version whose parser checks them; the server's default one without it.
    """

    yaml: Yaml | None = None
    version: CollectorVersion | None = None
    feature_gates: FeatureGates = Field(default_factory=list)
    context: str | None = None
    conditions: Expressions | None = None
    statements: Expressions | None = None
    value_expressions: Expressions | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        listed = self.expressions()
        if (self.yaml is None) == (self.context is None and not listed):
            raise ValueError("Send either `yaml`, or `context` with `conditions`, `statements` or `value_expressions`")
        if self.yaml is None:
            if self.context is None:
                raise ValueError("`context` is needed with expressions")
            count = sum(len(expressions) for expressions in listed.values())
            if not 1 <= count <= MAX_EXPRESSIONS:
                raise ValueError(f"There are {count} expressions; 1 to {MAX_EXPRESSIONS} are possible in a request")
        return self

    def expressions(self) -> dict[ExpressionKind, list[str]]:
        """The lists that were sent."""
        lists: dict[ExpressionKind, list[str] | None] = {
            "conditions": self.conditions,
            "statements": self.statements,
            "value_expressions": self.value_expressions,
        }
        return {kind: expressions for kind, expressions in lists.items() if expressions is not None}


class InstalledVersionOut(Answer):
    """An installed collector version. `source` is null and `unusable` says why if its binary cannot be used.

    `hosts` are the architectures for which hosts can fetch it: a rollout with `upgrade_collector` can bring it there.
    `whole_in_seconds` is an estimate for a version that is being built on this machine, whose first program answers for
    it and `lacks` most components. It is null for all others.
    `confined_by` are the walls around the processes that read texts.
    """

    version: str
    distribution: str
    default: bool
    source: Source | None
    reduced: bool
    lacks: list[Lacking]
    can: Capabilities
    unusable: str | None
    hosts: list[Architecture]
    whole_in_seconds: int | None
    confined_by: list[str]
