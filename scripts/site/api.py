"""The reference of the API, from its description: a page for each section, and who may do what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from pydantic import JsonValue

from components.api_document import Document, Operation, Parameter, Schema, document
from components.api_words import bounds_of, command, type_of, written
from headgate.http.paths import PUBLIC
from scripts.site.markdown import code, heading, table

_INDEX: Final = "index"
_HEAD: Final = """\
# The API

{description}

For programs, every server has the same as `{prefix}/openapi.json`. Its page `/docs` has a search in all fields.
Paths below begin with `{prefix}`.

## Operations and who may use them

A token may do what was chosen when it was made, a session what its person's role allows
([identity](../../identity.md)).
"""
_STATUSES: Final = """\
## Statuses of errors

[Errors](../errors.md) lists the codes.
"""


def pages() -> dict[str, str]:
    """A page for each section, and the list of all operations."""
    whole = document()
    sections = {tag.name: [one for one in whole.operations.values() if one.tags[0] == tag.name] for tag in whole.tags}
    homes = _homes(whole, sections)
    written_pages = {
        f"reference/api/{_file(tag.name)}": "\n".join(
            [f"# {tag.name}", "", tag.description, *_section(whole, sections[tag.name], tag.name, homes)]
        )
        for tag in whole.tags
    }
    rows = (
        [f"[{one.id}]({_file(name)}#{one.id})", _request(one), _credentials(one)]
        for name, those in sections.items()
        for one in those
    )
    index = [
        _HEAD.format(description=whole.info.description.strip(), prefix=PUBLIC),
        *table(["Operation", "Request", "Credential"], rows),
        _STATUSES,
        *table(["Status", "When"], sorted(_statuses(whole).items())),
        *_section(whole, (), _INDEX, homes),
    ]
    return {"reference/api/index.md": "\n".join(index), **written_pages}


def _file(tag: str) -> str:
    return f"{tag.lower().replace(' ', '-')}.md"


def _homes(whole: Document, sections: Mapping[str, Iterable[Operation]]) -> dict[str, str]:
    """By shape, the section that describes it: the first that uses it, directly or through another shape.

    What errors look like is described on the first page.
    """
    homes: dict[str, str] = {}
    used = {_INDEX: ["Problem"]} | {
        tag: [name for one in operations for name in sorted(one.shapes)] for tag, operations in sections.items()
    }
    for tag, waiting in used.items():
        while waiting:
            name = waiting.pop()
            if name not in homes:
                homes[name] = tag
                waiting += whole.components.schemas[name].shapes
    return homes


def _section(whole: Document, operations: Iterable[Operation], tag: str, homes: Mapping[str, str]) -> Iterator[str]:
    for one in operations:
        yield from _operation(whole, one, homes)
    shapes = sorted(name for name, home in homes.items() if home == tag)
    for name in shapes:
        shape = whole.components.schemas[name]
        yield from ("", heading(name), "", shape.description)
        if shape.properties:
            yield from _fields(shape, homes)
        elif not shape.ref:
            yield from ("", f"{_type(shape, homes)}.")


def _operation(whole: Document, one: Operation, homes: Mapping[str, str]) -> Iterator[str]:
    schema = one.body.schema_ if one.body else None
    body = whole.components.schemas[schema.name] if schema and schema.ref else schema
    beyond = " Beyond the specification." if one.is_extension else ""
    yield from ("", heading(one.id), "", f"{_request(one)}{beyond}", "", one.description.strip(), "")
    yield f"Needs {_credentials(one)}."
    if one.parameters:
        yield from table(["Parameter", "Type", "Meaning"], (_parameter(each, homes) for each in one.parameters))
    if schema:
        yield from ("", f"Body: {_type(schema, homes)}.", "")
    yield from table(["Status", "Answer"], _answers(one, homes))
    yield from ("", "```sh", command(one, body), "```")


def _answers(one: Operation, homes: Mapping[str, str]) -> Iterator[list[str]]:
    errors = []
    for status, answer in sorted(one.answers.items()):
        if status >= "4":
            errors.append(status)
        else:
            yield [status, _type(answer.schema_, homes) if answer.schema_ else answer.description]
    yield [", ".join(errors), "[Problem](index.md#Problem)"]


def _statuses(whole: Document) -> dict[str, str]:
    return {
        status: answer.description
        for one in whole.operations.values()
        for status, answer in one.answers.items()
        if status >= "4"
    }


def _request(one: Operation) -> str:
    return code(f"{one.method} {one.path.removeprefix(PUBLIC)}")


def _credentials(one: Operation) -> str:
    return " or ".join(one.credentials) or "no credential"


def _parameter(one: Parameter, homes: Mapping[str, str]) -> list[str]:
    labels = f"{one.place}, required" if one.required else one.place
    return [
        f"{code(one.parameter)} ({labels})",
        _bounded(one.schema_, homes),
        _meaning(one.description, one.example),
    ]


def _fields(shape: Schema, homes: Mapping[str, str]) -> list[str]:
    rows = (
        [
            code(name) + (" (required)" if name in shape.required else ""),
            _bounded(field, homes),
            _meaning(field.description, next(iter(field.examples), None)),
        ]
        for name, field in shape.properties.items()
    )
    return table(["Field", "Type", "Meaning"], rows)


def _meaning(description: str, example: JsonValue) -> str:
    return description if example is None else f"{description}. For example {code(written(example))}"


def _bounded(schema: Schema, homes: Mapping[str, str]) -> str:
    # A pattern has signs that Markdown would read.
    bounds = [f"like {code(one[5:])}" if one.startswith("like ") else one for one in bounds_of(schema)]
    return ", ".join([_type(schema, homes), *bounds])


def _type(schema: Schema, homes: Mapping[str, str]) -> str:
    return type_of(schema, lambda name: f"[{name}]({_file(homes[name])}#{name})", code)
