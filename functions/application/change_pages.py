"""The page of changes: who did what, to what, when, and what was so before; with filters."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final

from fastapi import Depends, Query, Response

from headgate.audit import service as audit
from headgate.audit.model import NAMING, AuditRecord, RecordFilter
from headgate.foundation import errors
from web.forms import Filters, read_minute
from web.html import NOTHING, Html, html, joined
from web.pages import Here, page_router
from web.parts import nothing_yet, second
from web.table import Cell, Column, Listed, Viewed, chips, listing, read

router = page_router()

_CHANGES: Final = """\
<h1>Changes</h1>
<form method="get" action="{path}" class="card" id="filters" role="search" aria-label="Filter the changes">
<div class="row">{by}{about}{since}{until}<button class="plain">Filter</button></div></form>
<div class="card" id="results">{chips}{list}</div>"""
_COLUMNS: Final = (
    Column("Time", "at", lambda record: record.at),
    Column("Who", "who", lambda record: record.actor.name.casefold()),
    Column("Change", "change", lambda record: record.action),
    Column("Credential", "credential", lambda record: record.credential_name.casefold()),
)
_LABELS: Final[Mapping[str, str]] = {"by": "Person", "about": "Object", "since": "From", "until": "Until"}
_CHANGES_FOR: Final = (
    "Who changed what in this organization, when, and with which credential. Nothing is ever removed from it."
)
_FIRST_CHANGE: Final = (
    "Nothing was changed yet: publishing a configuration, creating a fleet or inviting somebody begins it."
)
_NO_MATCH: Final = "No change matches: remove a filter."
_ASSIGNED: Final = "assigned {now}; before: {before}{why}"
_VERSION: Final = '<a href="/organizations/{organization}/configurations/{id}/versions/{n}">{name} version {n}</a>'
_WHO: Final = '<a href="{path}?by={id}">{name}</a>'
_CHANGE: Final = "<code>{action}</code> {target} {details}"
_CREDENTIAL: Final = '<span class="small soft" title="{id}">{name}</span>'
_SHORT: Final = re.compile(r".*\b([a-z]{3}_[0-9a-z]+(?:/versions/\d+)?)")
_OF_VERSION: Final = re.compile(r"configurations/cfg_\w+/versions/(\d+)")
_BEFORE: Final = "before_"
# The page of a target, by its beginning. What was deleted has none.
_PAGES: Final = tuple(
    (re.compile(pattern), page)
    for pattern, page in (
        (r"(fleets/flt_\w+/deployments/dep_\w+/rollouts/rol_\w+)", r"\1"),
        (r"(fleets/flt_\w+/deployments/dep_\w+)", r"\1"),
        (r"(fleets/flt_\w+)/instances/(ins_\w+)", r"\1/collectors/\2"),
        (r"(fleets/flt_\w+)", r"\1"),
        (r"(configurations/cfg_\w+/versions/\d+)", r"\1"),
        (r"(configurations/cfg_\w+)", r"\1"),
        (r"(webhooks/whk_\w+)", r"\1"),
        (r"(sva_\w+)", r"service-accounts/\1"),
        (r"usr_\w+|inv_\w+", "members"),
        (r"policies", "policies"),
    )
)


async def _filters(
    by: Annotated[str, Query(max_length=254)] = "",
    about: Annotated[str, Query(max_length=254)] = "",
    since: Annotated[str, Query(max_length=40)] = "",
    until: Annotated[str, Query(max_length=40)] = "",
) -> Filters[RecordFilter]:
    typed = {"by": by.strip(), "about": about.strip(), "since": since.strip(), "until": until.strip()}
    times: dict[str, datetime] = {}
    problems: dict[str, str] = {}
    for name in ("since", "until"):
        try:
            if typed[name]:
                times[name] = read_minute(typed[name], name)
        except errors.Invalid as error:
            problems[name] = error.detail
    return Filters(typed, RecordFilter(typed["by"] or None, typed["about"] or None, **times), problems)


@router.get("/organizations/{organization_id}/changes")
def list_changes(here: Here, view: Viewed, filters: Annotated[Filters[RecordFilter], Depends(_filters)]) -> Response:
    caller, fields = here.caller, filters.fields
    path, typed, problems = f"{here.home}/changes", filters.typed, filters.problems
    caller.require_admin()
    listed: Listed[AuditRecord] = Listed([])
    if not problems:
        listed = read(view, lambda limit, after: audit.records(caller, limit, after, filters.chosen), _COLUMNS)
    rows = [_row(path, here.home, record) for record in listed.entries]
    first = nothing_yet(_CHANGES_FOR, _FIRST_CHANGE)
    content = html(
        _CHANGES,
        path=path,
        by=fields.text("by", "Person", most=254, required=False, kind="search"),
        about=fields.text("about", "Object", most=254, required=False, kind="search"),
        since=fields.text("since", "From (UTC)", most=40, required=False, kind="datetime-local"),
        until=fields.text("until", "Until (UTC)", most=40, required=False, kind="datetime-local"),
        chips=chips(path, typed, _LABELS),
        list=listing(view, listed, _COLUMNS, rows, "change", first, filters=typed, no_match=_NO_MATCH),
    )
    return here.page("changes", "Changes", content, status=422 if problems else 200, script="search")


def _row(path: str, home: str, record: AuditRecord) -> Sequence[Cell]:
    details: Html = _details(record.details)
    if record.details.keys() & {"version_number", "before_version_number"}:
        why = f": {record.details['message']}" if "message" in record.details else ""
        details = html(_ASSIGNED, before=_version(record, _BEFORE), now=_version(record, ""), why=why)
    return (
        second(record.at),
        html(_WHO, path=path, id=record.actor.id, name=record.actor.name),
        html(
            _CHANGE,
            action=record.action,
            details=details,
            target=_target(home, record),
        ),
        html(_CREDENTIAL, name=record.credential_name, id=record.credential_id),
    )


def _details(details: Mapping[str, str]) -> Html:
    """Each detail with what was so before, if that is recorded. What only names the target stands beside it."""
    shown = [
        html("{name}: {before} → {value}", name=name, before=details[f"{_BEFORE}{name}"], value=value)
        if f"{_BEFORE}{name}" in details
        else html("{name} {value}", name=name, value=value)
        for name, value in details.items()
        if not name.startswith(_BEFORE) and (name not in NAMING or f"{_BEFORE}{name}" in details)
    ]
    return joined(html("{comma}{one}", comma=", " if at else "", one=each) for at, each in enumerate(shown))


def _target(home: str, record: AuditRecord) -> Html:
    link = NOTHING
    if not record.action.endswith((".deleted", ".removed")):
        matches = ((pattern.match(record.target), below) for pattern, below in _PAGES)
        link = next((html("{path}", path=match.expand(below)) for match, below in matches if match), NOTHING)
    # What has no name is known by its id, the last in its address.
    short = _SHORT.match(record.target)
    name = record.target_name or (short[1] if short else record.target)
    if record.target_name and (version := _OF_VERSION.search(record.target)):
        name = f"{name} version {version[1]}"
    if not link:
        return html('<span title="{target}">{name}</span>', target=record.target, name=name)
    return html(
        '<a href="{home}/{found}" title="{target}">{name}</a>', home=home, found=link, target=record.target, name=name
    )


def _version(record: AuditRecord, prefix: str) -> Html | str:
    """A link to the assigned version; with the `prefix` `before_`, to the version assigned before."""
    configuration_id, n = (record.details.get(f"{prefix}{name}") for name in ("configuration_id", "version_number"))
    if configuration_id is None or n is None:
        return "nothing"
    name = record.details.get(f"{prefix}configuration_name", configuration_id)
    return html(_VERSION, organization=record.organization_id, id=configuration_id, n=n, name=name)
