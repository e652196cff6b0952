"""The reference of the API at /docs: its operations and the shapes of their bodies, for everyone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Final

from fastapi import Header, Path, Query, Response
from pydantic import JsonValue

from components.api_document import ApiDocument, Body, Operation, Parameter, Schema, document
from components.api_words import bounds_of, command, type_of, written
from headgate.foundation.errors import NotFound
from headgate.http.paths import PUBLIC
from web.html import NOTHING, Html, breakable, html, joined, with_code
from web.layout import page
from web.pages import Counted, Visit, frame, page_router, revalidated
from web.parts import Fields, counted, empty, tag, tags
from web.table import Cell, Column, table

router = page_router()

PATH: Final = "/docs"
_LONGEST_TEXT: Final = 100
_FRAME: Final = '<div class="reading">{content}</div>'
_LIST: Final = """\
<h1>API reference</h1>
{description}
<p>The same for programs: <a href="{document}">openapi.json</a>, OpenAPI 3.1 without a credential.</p>
<form method="get" action="/docs" class="card" role="search"><div class="row">
{text}<button>Search</button></div></form>
<p class="soft small" role="status">{count}</p>{groups}{shapes}"""
_GROUP: Final = """\
<div class="card"><h2>{tag}</h2><p class="soft">{about}</p>{table}</div>"""
_OPERATIONS: Final = (Column("Operation", kind="path"), Column("What it does", kind="small"))
_ROW: Final = '<a href="/docs/{id}"><code>{method} {path}</code></a>'
_SHAPES: Final = '<div class="card"><h2>Shapes</h2><ul>{entries}</ul></div>'
_LINK: Final = '<li><a href="/docs/{name}">{name}</a></li>'
_TITLED: Final = '<p class="small"><a href="/docs">API reference</a></p><h1>{name}</h1>{content}'
_OPERATION: Final = """\
<p class="path"><code>{method} {path}</code> {extension}</p>
{description}<p>Needs {credentials}.</p>
{parameters}{body}
<div class="card"><h2>Answers</h2>{answers}</div>
<div class="card"><h2>Example</h2><pre tabindex="0" aria-label="Command"><code>{command}</code></pre></div>"""
_ANSWERS: Final = ("Status", Column("Body", kind="small"), Column("When", kind="small"))
_PLACES: Final = '<div class="card"><h2>Where it is</h2><ul>{places}</ul></div>'
_REFERENCE: Final = '<a href="/docs/{name}">{name}</a>'
_CODE: Final = "<code>{value}</code>"
_EXAMPLE: Final = '<div class="soft">For example <code>{value}</code></div>'
_FIELDS: Final = '<div class="card"><h2>{title}</h2>{table}</div>'
_COLUMNS: Final = (Column("Name", kind="path"), Column("Type", kind="small"), Column("Meaning", kind="small"))

IfNoneMatch = Annotated[str | None, Header()]
Name = Annotated[str, Path(pattern="^[A-Za-z0-9]{1,80}$")]


class NotInTheReference(NotFound):
    """The API has no operation and no shape of this name."""

    detail = "The API has no operation and no shape of this name; search for it at /docs"


@router.get(PATH, dependencies=[Counted])
def list_operations(who: Visit, q: Annotated[str, Query()] = "", if_none_match: IfNoneMatch = None) -> Response:
    searched, whole = q[:_LONGEST_TEXT], document()
    words = searched.lower().split()
    matching = [each for each in whole.operations.values() if _has(whole.words[each.id], words)]
    shapes = [
        name
        for name, schema in whole.components.schemas.items()
        if words and _has(f"{name.lower()} {schema.words}", words)
    ]
    content = html(
        _LIST,
        description=prose(whole.info.description),
        document=f"{PUBLIC}/openapi.json",
        text=Fields().text("q", "Text", searched, most=_LONGEST_TEXT, required=False, kind="search"),
        count=counted(len(matching), "operation"),
        groups=_groups(whole, matching)
        if matching
        else empty("Nothing has all of these words in its path, description or fields. Leave some out."),
        shapes=html(_SHAPES, entries=_links(shapes)) if shapes else NOTHING,
    )
    return revalidated(page(frame(who), "API reference", html(_FRAME, content=content), wide=True), if_none_match)


@router.get(f"{PATH}/{{name}}", dependencies=[Counted])
def show(who: Visit, name: Name, if_none_match: IfNoneMatch = None) -> Response:
    """An operation by its id, or a shape by its name; ids begin with a small letter, and shapes with a capital."""
    whole = document()
    if name in whole.operations:
        content = operation(whole, whole.operations[name])
    elif name in whole.components.schemas:
        content = html("{shape}{places}", shape=shape(whole.components.schemas[name]), places=_places(whole, name))
    else:
        raise NotInTheReference
    content = html(_FRAME, content=html(_TITLED, name=name, content=content))
    return revalidated(page(frame(who), name, content, wide=True), if_none_match)


def prose(written: str) -> Html:
    """Paragraphs, with what stands between backticks as code."""
    return joined(html("<p>{text}</p>", text=with_code(each)) for each in written.strip().split("\n\n"))


def _has(searched: str, words: Sequence[str]) -> bool:
    return all(word in searched for word in words)


def _groups(whole: ApiDocument, matching: Sequence[Operation]) -> Html:
    rows = {tag.name: [_row(each) for each in matching if each.tags[0] == tag.name] for tag in whole.tags}
    return joined(
        html(_GROUP, tag=tag.name, about=tag.description, table=table(_OPERATIONS, rows[tag.name]))
        for tag in whole.tags
        if rows[tag.name]
    )


def _row(operation: Operation) -> Sequence[Cell]:
    path = breakable(operation.path.removeprefix(PUBLIC), "/")
    return html(_ROW, id=operation.id, method=operation.method, path=path), with_code(operation.summary)


def _links(names: Iterable[str]) -> list[Html]:
    return [html(_LINK, name=name) for name in names]


def operation(whole: ApiDocument, shown: Operation) -> Html:
    """An operation's parameters, body and answers, with an example."""
    schema = shown.body.schema_ if shown.body else None
    body = whole.components.schemas[schema.name] if schema and schema.ref else None
    return html(
        _OPERATION,
        method=shown.method,
        path=breakable(shown.path, "/"),
        extension=tag("beyond the specification") if shown.is_extension else NOTHING,
        description=prose(shown.description),
        credentials=" or ".join(shown.credentials) or "no credential",
        parameters=_table("Parameters", map(_parameter, shown.parameters)) if shown.parameters else NOTHING,
        body=_table(f"Body: {schema.name}", _fields(body)) if schema and body else NOTHING,
        answers=table(_ANSWERS, [_answer(status, answer) for status, answer in sorted(shown.answers.items())]),
        command=command(shown, body),
    )


def _answer(status: str, answer: Body) -> Sequence[Cell]:
    return status, _type(answer.schema_) if answer.schema_ else NOTHING, with_code(answer.description)


def shape(schema: Schema) -> Html:
    """A shape: its meaning and its fields."""
    description = prose(schema.description) if schema.description else NOTHING
    return html("{a}{b}", a=description, b=_table("Fields", _fields(schema)) if schema.properties else NOTHING)


def _places(whole: ApiDocument, name: str) -> Html:
    operations = [operation.id for operation in whole.operations.values() if name in operation.shapes]
    shapes = [shape for shape, schema in whole.components.schemas.items() if name in schema.shapes]
    return html(_PLACES, places=_links([*operations, *shapes]))


def _table(title: str, rows: Iterable[Sequence[Cell]]) -> Html:
    return html(_FIELDS, title=title, table=table(_COLUMNS, rows))


def _fields(schema: Schema) -> Iterable[Sequence[Cell]]:
    for name, field in schema.properties.items():
        labels = ["required"] if name in schema.required else []
        yield _field(name, labels, field, field.description, next(iter(field.examples), None))


def _parameter(parameter: Parameter) -> Sequence[Cell]:
    labels = [parameter.place, *(["required"] if parameter.required else [])]
    return _field(parameter.parameter, labels, parameter.schema_, parameter.description, parameter.example)


def _field(name: str, labels: Iterable[str], schema: Schema, meaning: str, example: JsonValue) -> Sequence[Cell]:
    bounds = ", ".join(bounds_of(schema))
    return (
        html("<code>{name}</code> {tags}", name=name, tags=tags(labels)),
        html(
            "{type}{bounds}",
            type=_type(schema),
            bounds=html('<div class="soft">{bounds}</div>', bounds=bounds) if bounds else NOTHING,
        ),
        html(
            "{meaning}{example}",
            meaning=with_code(meaning),
            example=NOTHING if example is None else html(_EXAMPLE, value=written(example)),
        ),
    )


def _type(schema: Schema) -> Html:
    return Html(type_of(schema, lambda name: html(_REFERENCE, name=name), lambda value: html(_CODE, value=value)))
