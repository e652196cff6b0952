"""Stand-ins of a run: components left out, replaced and recorded, and variables, in requests, tests and answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Final, Self, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic.config import JsonDict

from headgate_engine.wire.inputs import Input, Variables, refused_as

Scalar = str | bool | int | float
_BEYOND: Final[JsonDict] = {"x-extension": True}
_MOST_CHARACTERS: Final = 16_384
_SKIP: Final = "Ids of processors that the run leaves out, such as one that needs a cluster"
_ATTRIBUTES: Final = (
    "By the id of a processor, resource attributes: a processor that sets them takes its place in the run"
)
_ENV: Final = (
    "Values for `${env:NAME}`: the collector's whole environment. They are deleted when the run ends, and hidden in "
    "what it tells"
)

_OUTPUTS: Final = (
    "Ids of pipelines: the output has only what these export, such as one of those that a routing connector feeds. By "
    "default, what every pipeline of the run exports"
)


def _bounded(attributes: dict[str, dict[str, Scalar]]) -> dict[str, dict[str, Scalar]]:
    size = len(json.dumps(attributes, ensure_ascii=False))
    if size > _MOST_CHARACTERS:
        raise ValueError(f"The attributes have {size} characters as JSON; at most {_MOST_CHARACTERS} are possible")
    return attributes


ComponentId = Annotated[str, StringConstraints(min_length=1, max_length=1_024)]
AttributeValue = Annotated[
    str | bool | int | Annotated[float, Field(allow_inf_nan=False)],
    refused_as("This must be text, a number or a boolean"),
]
PipelineId = Annotated[str, StringConstraints(min_length=1, max_length=1_024)]
OutputPipelines = Annotated[list[PipelineId], Field(max_length=20)]
Skip = Annotated[list[ComponentId], Field(max_length=50)]
Attributes = Annotated[
    dict[ComponentId, Annotated[dict[str, AttributeValue], Field(min_length=1, max_length=100)]],
    Field(max_length=20),
    AfterValidator(_bounded),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStandIns:
    """The part of a stored run that says what it left out, replaced and recorded."""

    skip: tuple[str, ...] = ()
    attributes: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict)
    output_pipelines: tuple[str, ...] = ()

    def recorded(self) -> dict[str, Any]:
        """These fields of a run by their names."""
        return {each.name: getattr(self, each.name) for each in fields(RecordedStandIns)}

    def stand_ins(self, env: Mapping[str, str]) -> "StandIns":
        return StandIns.among({**self.recorded(), "env": dict(env)})


class ShownStandIns(BaseModel):
    """The fields that an answer about the run has as well."""

    # An answer has them all.
    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    skip: Skip = Field(default=[], description=_SKIP, examples=[["k8sattributes"]], json_schema_extra=_BEYOND)
    attributes: Attributes = Field(
        default={},
        description=_ATTRIBUTES,
        examples=[{"k8sattributes": {"k8s.namespace.name": "shop"}}],
        json_schema_extra=_BEYOND,
    )
    output_pipelines: OutputPipelines = Field(
        default=[], description=_OUTPUTS, examples=[["logs/audit"]], json_schema_extra=_BEYOND
    )


class StandIns(ShownStandIns, Input):
    """A request that runs a pipeline, a test, or the part of one that says this."""

    # Its values may be secrets: they are in no answer and no log.
    env: Variables = Field(default={}, description=_ENV, json_schema_extra=_BEYOND, repr=False)

    @classmethod
    def among(cls, fields: Mapping[str, object]) -> Self:
        """Those of a test, a request or a stored run, which were checked before."""
        values: dict[str, Any] = {
            name: list(value) if isinstance(value, tuple) else value
            for name in cls.model_fields
            if (value := fields.get(name)) is not None
        }
        return cast("Self", cls.model_construct(None, **values))

    @property
    def stand_ins(self) -> "StandIns":
        return StandIns.among(dict(self))

    def recorded(self) -> dict[str, Any]:
        """The fields of a run that is stored or shown, by their names."""
        shown = ((name, value) for name, value in self if name in ShownStandIns.model_fields)
        return {name: tuple(value) if isinstance(value, list) else value for name, value in shown}

    def question(self) -> dict[str, object]:
        """The fields that are given: of a question to the checker, and of a test's document."""
        return {name: value for name, value in self if value}
