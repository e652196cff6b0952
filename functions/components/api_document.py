"""The API's description (functions/identity/openapi.json) as its reference page reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, Field, JsonValue

DOCUMENT: Final = Path(__file__).parents[1] / "identity" / "openapi.json"
_CREDENTIALS: Final = {
    ("token", "read"): "any token",
    ("token", "write"): "a token with write access",
    ("session", ""): "a session",
    ("session", "admin"): "a session of an Admin",
}


class SchemaReference(BaseModel):
    """A reference to another part of the document, if `ref` is not empty."""

    ref: str = Field("", alias="$ref")

    @property
    def name(self) -> str:
        """The name of what it refers to; empty if it does not refer to anything."""
        return self.ref.rpartition("/")[2]


class Schema(SchemaReference):
    """A JSON Schema, as far as the page tells it."""

    type: str = ""
    format: str = ""
    description: str = ""
    const: JsonValue = None
    enum: Sequence[str] = ()
    any_of: Sequence[Schema] = Field((), alias="anyOf")
    one_of: Sequence[Schema] = Field((), alias="oneOf")
    items: Schema | None = None
    values: Schema | bool | None = Field(None, alias="additionalProperties")
    properties: Mapping[str, Schema] = {}
    required: Sequence[str] = ()
    examples: Sequence[JsonValue] = ()
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = Field(None, alias="minLength")
    max_length: int | None = Field(None, alias="maxLength")
    min_items: int | None = Field(None, alias="minItems")
    max_items: int | None = Field(None, alias="maxItems")
    most_properties: int | None = Field(None, alias="maxProperties")
    pattern: str | None = None

    @property
    def choices(self) -> Sequence[Schema]:
        """The schemas of a union; the schema itself if it is not a union."""
        return self.any_of or self.one_of or [self]

    @cached_property
    def shapes(self) -> frozenset[str]:
        """The names of the shapes that it refers to."""
        inner = [*self.any_of, *self.one_of, *self.properties.values()]
        inner += [each for each in (self.items, self.values) if isinstance(each, Schema)]
        return frozenset([self.name] if self.ref else []).union(*(each.shapes for each in inner))

    @cached_property
    def words(self) -> str:
        """All that a search looks at."""
        fields = (f"{name} {field.description}" for name, field in self.properties.items())
        return "\n".join([self.description, *fields]).lower()


class Parameter(SchemaReference):
    """A parameter in the path, the query or a header."""

    parameter: str = Field("", alias="name")
    place: str = Field("", alias="in")
    required: bool = False
    description: str = ""
    example: JsonValue = None
    schema_: Schema = Field(Schema(), alias="schema")


class _Content(BaseModel):
    schema_: Schema | None = Field(None, alias="schema")


class Body(SchemaReference):
    """A body, or an answer with what its status means."""

    description: str = ""
    content: Mapping[str, _Content] = {}

    @property
    def schema_(self) -> Schema | None:
        return next((content.schema_ for content in self.content.values()), None)


class Operation(BaseModel):
    """One method of one path, which `Document.operations` adds."""

    id: str = Field(alias="operationId")
    method: str = ""
    path: str = ""
    tags: Sequence[str]
    description: str
    security: Sequence[Mapping[Literal["token", "session"], Sequence[str]]]
    is_extension: bool = Field(False, alias="x-extension")
    parameters: Sequence[Parameter]
    body: Body | None = Field(None, alias="requestBody")
    answers: Mapping[str, Body] = Field(alias="responses")

    @property
    def summary(self) -> str:
        """The first line."""
        return self.description.partition("\n")[0]

    @property
    def credentials(self) -> Sequence[str]:
        """`a token with write access`, and the like; empty if nothing is needed."""
        return [_CREDENTIALS[kind, next(iter(roles), "")] for each in self.security for kind, roles in each.items()]

    @property
    def schemas(self) -> Sequence[Schema]:
        """Those of the body and of the answers."""
        bodies = [*([self.body] if self.body else []), *self.answers.values()]
        return [body.schema_ for body in bodies if body.schema_]

    @property
    def shapes(self) -> frozenset[str]:
        return frozenset().union(*(schema.shapes for schema in self.schemas))


class _Info(BaseModel):
    description: str


class _Tag(BaseModel):
    name: str
    description: str


class _Components(BaseModel):
    schemas: Mapping[str, Schema]
    parameters: Mapping[str, Parameter]
    responses: Mapping[str, Body]


class ApiDocument(BaseModel):
    """The whole description; `tags` are in reading order."""

    info: _Info
    tags: Sequence[_Tag]
    paths: Mapping[str, Mapping[str, Operation]]
    components: _Components

    @cached_property
    def operations(self) -> Mapping[str, Operation]:
        """By id, with their paths, and with the parameters and answers that several have in common."""
        return {each.id: each for each in self._whole()}

    def _whole(self) -> Iterator[Operation]:
        common = self.components
        for path, item in self.paths.items():
            for method, entry in item.items():
                parameters = [common.parameters[each.name] if each.ref else each for each in entry.parameters]
                answers = {
                    status: common.responses[each.name] if each.ref else each for status, each in entry.answers.items()
                }
                whole = {"path": path, "method": method.upper(), "parameters": parameters, "answers": answers}
                yield entry.model_copy(update=whole)

    @cached_property
    def words(self) -> Mapping[str, str]:
        """By operation: its path and description, its parameters, and the shapes in its bodies, however deep."""
        return {
            known.id: "\n".join(
                [
                    f"{known.id} {known.method} {known.path} {known.tags[0]} {known.description}".lower(),
                    *(f"{each.parameter} {each.description}".lower() for each in known.parameters),
                    *(self.components.schemas[name].words for name in self._deep(known.shapes - {"Problem"})),
                ]
            )
            for known in self.operations.values()
        }

    def _deep(self, names: frozenset[str]) -> frozenset[str]:
        """The shapes, and all to which these refer."""
        deeper = names.union(*(self.components.schemas[name].shapes for name in names))
        return names if deeper == names else self._deep(deeper)


@cache
def document() -> ApiDocument:
    """Read once for each process."""
    return ApiDocument.model_validate_json(DOCUMENT.read_bytes())
