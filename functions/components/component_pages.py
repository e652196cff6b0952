"""The pages of the reference: the components, one component with its fields, and OTTL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Final, Literal

from fastapi import Query, Response

from components.wire import Type
from headgate.foundation.caller import Caller
from headgate.foundation.page import Slice
from headgate.foundation.settings import settings
from headgate.reference import service as reference
from headgate_engine.reference.fields import Field, fields
from headgate_engine.reference.model import KINDS, Component, Kind
from headgate_engine.wire.inputs import CollectorVersion
from web.html import NOTHING, Html, breakable, html, joined, with_code
from web.pages import Here, page_router
from web.parts import Fields, empty, home, query_of, tag
from web.table import Cell, Column, Viewed, chips, pages, read, table

router = page_router()

OfVersion = Annotated[CollectorVersion | Literal[""], Query()]
LONGEST_TEXT: Final = 100
_TAB: Final = "components"
_STABILITY: Final = {"stable": "good", "deprecated": "bad", "unmaintained": "bad"}

_LIST: Final = """\
<h1>Components</h1>
<form method="get" action="{path}" class="card" id="filters" role="search" aria-label="Search the components">
<div class="row">{text}{kind}{versions}<button>Search</button></div></form>
<div id="results"{live}>{waiting}
<p class="soft">What collector {version} can be configured with, as the collector itself tells it.
OTTL has <a href="{ottl}">a reference of its own</a>, and so has <a href="/docs">the API</a>.</p>
<div class="card">{chips}{pages}{list}</div></div>"""
_WAITING: Final = """\
<div class="notice" role="status">These are the components of the first build: {when}. Then all are shown here.</div>"""
_COLUMNS: Final = (
    Column("Component", "type", lambda component: (component.type, component.kind), kind="tight"),
    Column("Kind", "kind", lambda component: (component.kind, component.type)),
    Column("Stability", "stability", lambda component: (*sorted(component.stability.values()), component.type)),
    Column("What it does", kind="small"),
)
_LABELS: Final = {"text": "Text", "kind": "Kind", "version": "Collector"}
_TYPE: Final = '<a href="{path}"><strong>{type}</strong></a><span class="soft small">{aliases}</span>'
_COMPONENT: Final = """\
<p class="small"><a href="{back}">Components</a></p>
<h1>{type} <span class="soft">{kind}</span> {deprecated}</h1>
<p>{summary}</p>{reason}
{versions}<p class="soft small">Collector {version} · {stability}{aliases} · <code>{module}</code></p>
{example}
<div class="card"><h2>Fields</h2>{fields}</div>"""
_VERSIONS: Final = """\
<form method="get" action="{path}" class="toolbar">{versions}<button class="plain small">Show</button></form>"""
_REASON: Final = '<div class="notice bad">{text}</div>'
_EXAMPLE: Final = """\
<div class="card"><h2>Example</h2><pre tabindex="0" aria-label="YAML"><code>{yaml}</code></pre>
<p class="soft small last">From the flow <code>{flow}</code>: <code>headgate flow show {flow}</code> prints all of it.
</p></div>"""
_FIELDS: Final = (
    Column("Field", kind="path"),
    Column("Type", kind="small"),
    Column("Default", kind="small"),
    Column("Description", kind="small"),
)
_VALUES: Final = '<div class="soft">One of {values}</div>'


@router.get("/organizations/{organization_id}/components")
def list_components(
    here: Here,
    view: Viewed,
    text_: Annotated[str, Query(alias="text")] = "",
    kind: Kind | Literal[""] = "",
    version: OfVersion = "",
) -> Response:
    searched = text_[:LONGEST_TEXT]
    components = reference.matching(version or None, kind or None, searched)
    typed, view = {"text": searched, "kind": kind, "version": version}, replace(view, sort=view.sort or "type")
    listed = read(view, lambda _limit, _after: Slice(components, None), _COLUMNS)
    path = components_path(here.caller)
    kinds = [("", "All kinds"), *((kind, kind.capitalize()) for kind in KINDS)]
    whole_when = reference.whole_when(version or None)
    fields = Fields()
    content = html(
        _LIST,
        live=Html(' data-live="yes"') if whole_when else NOTHING,
        waiting=html(_WAITING, when=whole_when) if whole_when else NOTHING,
        version=version or settings().collector_version,
        ottl=f"{path}/ottl{query_of({'version': version})}",
        path=path,
        text=fields.text("text", "Text", searched, most=LONGEST_TEXT, required=False, kind="search"),
        kind=fields.choice("kind", "Kind", kinds, kind),
        versions=version_choice(version),
        chips=chips(path, typed, _LABELS),
        pages=pages(view, listed, typed, "component"),
        list=table(_COLUMNS, [_row(path, version, component) for component in listed.entries], view=view, filters=typed)
        if components
        else empty("Nothing has these words in its name or description. Leave some out, or choose all kinds."),
    )
    return here.page(_TAB, "Components", content, script="search")


@router.get("/organizations/{organization_id}/components/{kind}/{type}")
def show_component(here: Here, kind: Kind, type: Type, version: OfVersion = "") -> Response:
    component = reference.component(version or None, kind, type)
    example = reference.example(component)
    rows = [_field(field) for field in fields(json.loads(component.schema))]
    content = html(
        _COMPONENT,
        back=f"{components_path(here.caller)}{query_of({'kind': kind, 'version': version})}",
        type=component.type,
        kind=component.kind,
        deprecated=tag("deprecated", "bad") if component.deprecated is not None else NOTHING,
        summary=with_code(component.summary),
        reason=html(_REASON, text=component.deprecated) if component.deprecated else NOTHING,
        versions=_other_versions(f"{components_path(here.caller)}/{component.kind}/{component.type}", version),
        version=version or settings().collector_version,
        stability=_stability(component),
        aliases=_former(component),
        module=component.module,
        example=html(_EXAMPLE, yaml=example.yaml, flow=example.flow) if example else NOTHING,
        fields=table(_FIELDS, rows) if rows else empty("It has no settings."),
    )
    return here.page(_TAB, f"{component.type} {component.kind}", content)


def _other_versions(path: str, version: str) -> Html:
    """A form that shows the component as another collector version has it."""
    versions = version_choice(version)
    return html(_VERSIONS, path=path, versions=versions) if versions else NOTHING


def components_path(caller: Caller) -> str:
    return f"{home(caller)}/components"


def version_choice(selected: str) -> Html:
    """The versions that can be asked; nothing to choose if that is the default one alone."""
    others = [
        (version.version, f"{version.version} (reduced build)" if version.reduced else version.version)
        for version in reference.versions()
        if not version.default
    ]
    if not others:
        return NOTHING
    default = f"{settings().collector_version} (default)"
    return Fields().choice("version", "Collector", [("", default), *others], selected)


def _row(path: str, version: str, component: Component) -> Sequence[Cell]:
    own = f"{path}/{component.kind}/{component.type}{query_of({'version': version})}"
    deprecated = html("{tag} ", tag=tag("deprecated", "bad")) if component.deprecated is not None else NOTHING
    return (
        html(_TYPE, path=own, type=component.type, aliases=_former(component)),
        component.kind,
        _stability(component),
        html("{deprecated}{summary}", deprecated=deprecated, summary=with_code(component.summary)),
    )


def _stability(component: Component) -> Html:
    """The levels, each with what it is for unless one is for all."""
    levels = dict.fromkeys(component.stability.values())
    return joined(
        html(
            "{tag} ",
            tag=tag(
                level if len(levels) == 1 else f"{level}: {', '.join(_of(component, level))}", _STABILITY.get(level, "")
            ),
        )
        for level in levels
    )


def _of(component: Component, level: str) -> Sequence[str]:
    return [signal.replace("_", " ") for signal, stability in component.stability.items() if stability == level]


def _former(component: Component) -> str:
    return f", formerly {', '.join(component.aliases)}" if component.aliases else ""


def _field(field: Field) -> Sequence[Cell]:
    tags = (("deprecated", field.deprecated, "bad"), ("secret", field.secret, ""))
    labels = [tag(label, kind) for label, has, kind in tags if has]
    values = html(_VALUES, values=", ".join(field.values)) if field.values else NOTHING
    return (
        html("<code>{path}</code> {labels}", path=breakable(field.path, "."), labels=labels),
        field.type,
        html("<code>{value}</code>", value=field.default) if field.default is not None else NOTHING,
        html("{description}{values}", description=field.description, values=values),
    )
