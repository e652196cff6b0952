"""The page of OTTL: the paths, functions and enums of a context of a component."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Query, Response

from components.component_pages import OfVersion, breakable, components_path, version_choice
from headgate.reference import service as reference
from headgate.reference.model import OttlFunction, OttlReference
from web.html import NOTHING, Html, html, joined
from web.layout import page
from web.pages import Member, Visit, frame, page_router
from web.parts import choice, tag

router = page_router()

_TITLE: Final = "OTTL"
_PAGE: Final = """\
<p class="small"><a href="{components}">Components</a></p>
<h1>OTTL</h1>
<p class="soft">What statements and conditions can be made of, by component and context, as the parsers read it that
lint them.</p>
<form method="get" action="{path}" class="card"><div class="row">{place}{versions}<button>Show</button></div></form>
{reference}"""
_REFERENCE: Final = """\
<div class="card"><h2>Paths</h2><table><thead><tr><th>Path</th><th>Type</th><th>Description</th></tr></thead>
<tbody>{paths}</tbody></table></div>
<div class="card"><h2>Functions</h2><table><thead><tr><th>Function</th><th>Description</th></tr></thead>
<tbody>{functions}</tbody></table></div>
{enums}"""
_PATH: Final = """\
<tr><td class="path"><code>{path}</code> {tag}</td><td class="small" data-label="Type">{type}</td>
<td class="small">{description}</td></tr>"""
_FUNCTION: Final = '<tr><td class="path"><code>{signature}</code> {tag}</td><td class="small">{description}</td></tr>'
_ENUMS: Final = """\
<div class="card"><h2>Enums</h2><table><thead><tr><th>Enum</th><th>Value</th><th>Description</th></tr></thead>
<tbody>{rows}</tbody></table></div>"""
_ENUM: Final = """\
<tr><td><code>{name}</code></td><td data-label="Value">{value}</td><td class="small">{description}</td></tr>"""


@router.get("/organizations/{organization_id}/components/ottl")
def show_ottl(
    who: Visit, caller: Member, place: Annotated[str, Query(max_length=130)] = "", version: OfVersion = ""
) -> Response:
    """`place` is a component and a context with a `/` between, because a form can choose both only as one."""
    path = components_path(caller)
    component, _, context = place.partition("/")
    places = [
        (f"{one.component}/{each}", f"{one.component}: {each}")
        for one in reference.ottl_components(version or None)
        for each in one.contexts
    ]
    shown = reference.ottl(component, context, version or None) if place else None
    content = html(
        _PAGE,
        components=path,
        path=f"{path}/ottl",
        place=choice("place", "Component and context", places, place),
        versions=version_choice(version),
        reference=_reference(shown) if shown else NOTHING,
    )
    return page(frame(who, caller, "components"), f"{_TITLE}, {component}: {context}" if place else _TITLE, content)


def _reference(shown: OttlReference) -> Html:
    return html(
        _REFERENCE,
        paths=[
            html(
                _PATH,
                path=breakable(one.path),
                tag=NOTHING if one.writable else tag("read only"),
                type=one.type,
                description=one.description,
            )
            for one in shown.paths
        ],
        functions=joined(map(_function, shown.functions)),
        enums=html(
            _ENUMS,
            rows=[html(_ENUM, name=one.name, value=one.value, description=one.description) for one in shown.enums],
        )
        if shown.enums
        else NOTHING,
    )


def _function(function: OttlFunction) -> Html:
    return html(
        _FUNCTION,
        signature=function.signature,
        tag=tag(
            function.kind if len(function.within) != 1 else f"{function.kind}, in a {_named(function.within[0])} only"
        ),
        description=function.description,
    )


def _named(expression: str) -> str:
    return expression.replace("_", " ")
