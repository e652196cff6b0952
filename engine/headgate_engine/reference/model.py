"""Reference of a collector build's components and OTTL, and reasons why it may not be known."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args

from pydantic import BeforeValidator, Field, StringConstraints

from headgate_engine.errors import Invalid, InvalidAt, NotFound, Unavailable

Kind = Literal["receiver", "processor", "exporter", "connector", "extension"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
TYPE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}", re.ASCII)
"""A component's type as a collector takes it."""
_Type = Annotated[str, StringConstraints(pattern=f"^{TYPE.pattern}$")]


def _compact(schema: object) -> str:
    """The text of a schema, which comes as an object. Raises ValueError for anything else."""
    if not isinstance(schema, dict):
        raise ValueError("a schema is an object")
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Component:
    """A component of a build. `schema` is the JSON Schema of its configuration, as text: all parsed take much memory.

    `aliases` are former names that it still answers to. `stability` is by signal; a connector's by its pairs
    (`traces_to_metrics`), an extension's has the one entry `extension`. `deprecated` is the reason, None if it is not.
    """

    kind: Kind
    type: _Type
    aliases: tuple[_Type, ...]
    module: str
    stability: Mapping[str, str]
    summary: str
    deprecated: str | None
    schema: Annotated[str, BeforeValidator(_compact)]

    @property
    def position(self) -> str:
        """The component's place in the order of a list."""
        return f"{self.kind}/{self.type}"


@dataclass(frozen=True, slots=True)
class SchemaDocument:
    """The JSON Schema of a whole configuration. `digest` is the SHA-256 in hex of the text that `compressed` holds."""

    digest: str
    compressed: bytes


@dataclass(frozen=True, slots=True)
class OttlComponent:
    """A component that takes OTTL, and the contexts in which it does."""

    component: str
    kind: str
    contexts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OttlPath:
    path: str
    type: str
    writable: bool
    description: str


@dataclass(frozen=True, slots=True)
class OttlParameter:
    name: str
    type: str
    optional: bool


@dataclass(frozen=True, slots=True)
class OttlFunction:
    """An editor, which begins a statement, or a converter, which gives a value.

    `within` are the kinds of expressions that may call it: `condition`, `statement`, `value_expression`.
    """

    name: str
    kind: Literal["editor", "converter"]
    signature: str
    parameters: tuple[OttlParameter, ...]
    within: Annotated[tuple[str, ...], Field(alias="in")]
    description: str


@dataclass(frozen=True, slots=True)
class OttlEnum:
    name: str
    value: int
    description: str


@dataclass(frozen=True, slots=True)
class OttlReference:
    """OTTL of one context of one component."""

    component: str
    kind: str
    context: str
    paths: tuple[OttlPath, ...]
    functions: tuple[OttlFunction, ...]
    enums: tuple[OttlEnum, ...]


class ReferenceUnavailable(Unavailable):
    """The collector could not be asked what it takes."""

    code = "reference_unavailable"


class ReferenceNotPossible(Invalid):
    """The request names a collector without our `check` command, or one that was built before the reference was."""

    code = "reference_not_possible"
    at = ("query", "version")


class NotInThisBuild(Unavailable):
    """A reduced build lacks a component that the official release of that version has."""

    code = "component_not_in_build"
    no_fault = True
    may_pass = False

    def __init__(self, kind: str, type_: str, version: str) -> None:
        super().__init__(
            f"This build of collector {version} lacks the {kind} {type_} of the official release, so what it takes is "
            f"not known: choose another collector version, or have {version} built whole"
        )


class ComponentNotFound(NotFound):
    """The collector has no such component, by this name or by a former one."""

    code = "component_not_found"

    def __init__(self, kind: str, type_: str, version: str, similar: Sequence[str]) -> None:
        meant = f"; did you mean {' or '.join(similar)}" if similar else ""
        super().__init__(f"Collector {version} has no {kind} {type_}{meant}")


class NotInOttl(InvalidAt):
    """The request names a component that takes no OTTL, a context that it does not have, or one without the other."""

    code = "no_such_ottl"
