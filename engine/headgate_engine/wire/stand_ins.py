"""The fields of a request that say what a run leaves out, replaces and records, and which variables it has."""

import json
from typing import Annotated, Final

from pydantic import AfterValidator, Field, StringConstraints
from pydantic.config import JsonDict

from headgate_engine.rules.engine import Scalar, StandIns
from headgate_engine.wire.inputs import Input, Variables, refused_as

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


class TakesStandIns(Input):
    """A request that runs a pipeline. The names of the fields are those of a test as well."""

    skip: Skip = Field(default=[], description=_SKIP, json_schema_extra=_BEYOND)
    attributes: Attributes = Field(default={}, description=_ATTRIBUTES, json_schema_extra=_BEYOND)
    env: Variables = Field(default={}, description=_ENV, json_schema_extra=_BEYOND)
    output_pipelines: OutputPipelines = Field(default=[], description=_OUTPUTS, json_schema_extra=_BEYOND)

    def stand_ins(self) -> StandIns:
        return StandIns(tuple(self.skip), self.attributes, self.env, tuple(self.output_pipelines))
