"""The parameters and the answers of the reference."""

import json
from typing import Annotated, Self

from fastapi import Path, Query
from pydantic import BaseModel, Field, StringConstraints

from headgate.flows.model import Example
from headgate_engine.reference.fields import Field as FieldOfSchema
from headgate_engine.reference.fields import fields
from headgate_engine.reference.model import TYPE, Component, Kind, OttlComponent, OttlReference
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


class ComponentSummary(BaseModel):
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

    @classmethod
    def of(cls, component: Component) -> Self:
        return cls(
            kind=component.kind,
            type=component.type,
            aliases=list(component.aliases),
            stability=dict(component.stability),
            deprecated=component.deprecated,
            summary=component.summary,
        )


class FieldOut(BaseModel):
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

    @classmethod
    def of(cls, field: FieldOfSchema) -> Self:
        return cls(
            path=field.path,
            type=field.type,
            default=field.default,
            description=field.description,
            values=list(field.values),
            deprecated=field.deprecated,
            secret=field.secret,
        )


class ExampleOut(BaseModel):
    """The part of a flow of the gallery that configures the component; `flow` is the flow's slug."""

    flow: str
    yaml: str

    @classmethod
    def of(cls, example: Example) -> Self:
        return cls(flow=example.flow, yaml=example.yaml)


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
    def of_full(cls, component: Component, example: Example | None) -> Self:
        schema = json.loads(component.schema)
        return cls(
            **ComponentSummary.of(component).model_dump(),
            module=component.module,
            description=schema.get("description") or component.summary,
            schema_=schema,
            fields=[FieldOut.of(field) for field in fields(schema)],
            example=None if example is None else ExampleOut.of(example),
        )


class OttlComponentOut(BaseModel):
    """A component that takes OTTL, and the contexts in which it does."""

    component: str
    kind: str
    contexts: list[str]

    @classmethod
    def of(cls, taking: OttlComponent) -> Self:
        return cls(component=taking.component, kind=taking.kind, contexts=list(taking.contexts))


class OttlComponents(BaseModel):
    """The components that take OTTL: what the request may name."""

    components: list[OttlComponentOut]


class OttlPathOut(BaseModel):
    path: str
    type: str
    writable: bool
    description: str


class OttlParameterOut(BaseModel):
    name: str
    type: str
    optional: bool


class OttlFunctionOut(BaseModel):
    """An `editor` begins a statement; a `converter` gives a value.

    `in` are the kinds of expressions that may call it: `condition`, `statement`, `value_expression`.
    """

    name: str
    kind: str
    signature: str
    parameters: list[OttlParameterOut]
    within: list[str] = Field(serialization_alias="in")
    description: str


class OttlEnumOut(BaseModel):
    name: str
    value: int
    description: str


class OttlReferenceOut(BaseModel):
    """What OTTL offers in a context of a component: the same parsers read it as lint."""

    component: str
    kind: str
    context: str
    paths: list[OttlPathOut]
    functions: list[OttlFunctionOut]
    enums: list[OttlEnumOut]

    @classmethod
    def of(cls, reference: OttlReference) -> Self:
        return cls.model_validate(reference, from_attributes=True)
