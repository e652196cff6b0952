"""The page of OTTL: the paths, functions and enums of a context of a component."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import Query, Response

from components.component_pages import LONGEST_TEXT, OfVersion, components_path, version_choice
from headgate.reference import service as reference
from headgate_engine.reference.model import OttlFunction, OttlPath, OttlReference
from web.html import NOTHING, Html, breakable, html, joined
from web.pages import Here, page_router
from web.parts import Fields, empty, tag
from web.table import Cell, Column, table

router = page_router()

_TITLE: Final = "OTTL"
_PAGE: Final = """\
<p class="small"><a href="{components}">Components</a></p>
<h1>OTTL</h1>
<p class="soft">What statements and conditions can be made of, by component and context, as the parsers read it that
lint them.</p>
<form method="get" action="{path}" class="card" id="filters" role="search" aria-label="Search the reference">
<div class="row">{place}{text}{versions}<button>Show</button></div></form>
<div id="results">{reference}</div>"""
_PART: Final = '<div class="card"><h2>{title}</h2>{table}</div>'
_NAME: Final = "<code>{name}</code> {tag}"
_DESCRIPTION: Final = Column("Description", kind="small")


@router.get("/organizations/{organization_id}/components/ottl")
def show_ottl(
    here: Here,
    place: Annotated[str, Query(max_length=130)] = "",
    text_: Annotated[str, Query(alias="text")] = "",
    version: OfVersion = "",
) -> Response:
    """`place` is a component and a context with a `/` between, because a form can choose both only as one."""
    path, searched = components_path(here.caller), text_[:LONGEST_TEXT]
    component, _, context = place.partition("/")
    places = [
        (f"{component.component}/{each}", f"{component.component}: {each}")
        for component in reference.ottl_components(version or None)
        for each in component.contexts
    ]
    shown = reference.ottl(component, context, version or None) if place else None
    content = html(
        _PAGE,
        components=path,
        path=f"{path}/ottl",
        place=Fields().choice("place", "Component and context", places, place),
        text=Fields().text("text", "Text", searched, most=LONGEST_TEXT, required=False, kind="search"),
        versions=version_choice(version),
        reference=_reference(shown, searched.lower().split()) if shown else NOTHING,
    )
    title = f"{_TITLE}, {component}: {context}" if place else _TITLE
    return here.page("components", title, content, script="search")


def _reference(shown: OttlReference, words: Sequence[str]) -> Html:
    """The entries of the reference that have all of the words in their name or description."""
    parts = [
        _part(
            "Paths",
            (Column("Path", kind="path"), Column("Type", kind="small"), _DESCRIPTION),
            [_path(path) for path in shown.paths if _has(words, path.path, path.description)],
        ),
        _part(
            "Functions",
            (Column("Function", kind="path"), _DESCRIPTION),
            [
                _function(function)
                for function in shown.functions
                if _has(words, function.signature, function.description)
            ],
        ),
        _part(
            "Enums",
            ("Enum", "Value", _DESCRIPTION),
            [
                (html(_NAME, name=enum.name, tag=NOTHING), enum.value, enum.description)
                for enum in shown.enums
                if _has(words, enum.name, enum.description)
            ],
        ),
    ]
    return joined(parts) or empty("Nothing has these words in its name or description. Leave some out.")


def _part(title: str, columns: Sequence[Column | str], rows: Sequence[Sequence[Cell]]) -> Html:
    return html(_PART, title=title, table=table(columns, rows)) if rows else NOTHING


def _has(words: Sequence[str], *texts: str) -> bool:
    about = " ".join(texts).lower()
    return all(word in about for word in words)


def _path(path: OttlPath) -> Sequence[Cell]:
    name = html(_NAME, name=breakable(path.path, "."), tag=NOTHING if path.writable else tag("read only"))
    return name, path.type, path.description


def _function(function: OttlFunction) -> Sequence[Cell]:
    kind = (
        function.kind
        if len(function.within) != 1
        else f"{function.kind}, in a {function.within[0].replace('_', ' ')} only"
    )
    return html(_NAME, name=function.signature, tag=tag(kind)), function.description
