"""The parameters and the answers of the reference."""

import json
from typing import Annotated, Self

from fastapi import Path, Query
from pydantic import BaseModel, Field, StringConstraints

from headgate.flows.model import ComponentExample
from headgate.http.wire import Answer
from headgate_engine.reference.fields import fields
from headgate_engine.reference.model import TYPE, Component, Kind
from headgate_engine.wire.inputs import CollectorVersion, refused_as

Version = Annotated[
    CollectorVersion | None, Query(description="The collector version; the server's default collector without it")
]
OfKind = Annotated[Kind | None, Query(description="Only components of this kind")]
Type = Annotated[
    Annotated[
        str,
        StringConstraints(pattern=f"^{TYPE.pattern}$"),
        refused_as("This must be letters, digits and `_`, a letter first: `otlp` for the component `otlp/2`"),
    ],
    Path(description="Its type, or a former name of it"),
]
OttlName = Annotated[str | None, Query(max_length=63)]


class ComponentSummary(Answer):
    """A component of the collector's build.

    `aliases` are former names that it still answers to. `stability` is by signal; a connector's by its pairs of signals
    (`traces_to_metrics`), an extension's under `extension`. `deprecated` is the reason, null if it is not.
    """

    kind: Kind
    type: str
    aliases: list[str]
    stability: dict[str, str]
    deprecated: str | None
    summary: str


class FieldOut(Answer):
    """A field of a component's configuration, as `schema` has it.

    In `path`, `[]` stands for an entry of a list and `<key>` for a key of one's own choice. `default` is JSON.
    """

    path: str
    type: str
    default: str | None
    description: str
    values: list[str]
    deprecated: bool
    secret: bool


class ExampleOut(Answer):
    """The part of a flow of the gallery that configures the component; `flow` is the flow's slug."""

    flow: str
    yaml: str


class ComponentDetail(ComponentSummary):
    """A component with the JSON Schema (2020-12) of its configuration, and its fields one by one.

    `example` is null if no flow of the gallery uses the component. `module` is its Go module.
    """

    module: str
    description: str
    schema_: dict[str, object] = Field(serialization_alias="schema")
    fields: list[FieldOut]
    example: ExampleOut | None

    @classmethod
    def of_full(cls, component: Component, example: ComponentExample | None) -> Self:
        schema = json.loads(component.schema)
        description = schema.get("description") or component.summary
        return cls.of(component, description=description, schema_=schema, fields=fields(schema), example=example)


class OttlComponentOut(Answer):
    """A component that takes OTTL, and the contexts in which it does."""

    component: str
    kind: str
    contexts: list[str]


class OttlComponents(BaseModel):
    """The components that take OTTL: what the request may name."""

    components: list[OttlComponentOut]


class OttlPathOut(Answer):
    path: str
    type: str
    writable: bool
    description: str


class OttlParameterOut(Answer):
    name: str
    type: str
    optional: bool


class OttlFunctionOut(Answer):
    """An `editor` begins a statement; a `converter` gives a value.

    `in` are the kinds of expressions that may call it: `condition`, `statement`, `value_expression`.
    """

    name: str
    kind: str
    signature: str
    parameters: list[OttlParameterOut]
    within: list[str] = Field(serialization_alias="in")
    description: str


class OttlEnumOut(Answer):
    name: str
    value: int
    description: str


class OttlReferenceOut(Answer):
    """OTTL in a context of a component: lint has the same parsers."""

    component: str
    kind: str
    context: str
    paths: list[OttlPathOut]
    functions: list[OttlFunctionOut]
    enums: list[OttlEnumOut]
