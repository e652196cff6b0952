"""The page of changes: who did what, to what, when, and what was so before; with filters."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final

from fastapi import Depends, Query, Response

from headgate.audit import service as audit
from headgate.audit.model import NAMING, AuditRecord, Wanted
from headgate.foundation import errors
from headgate.storage.page import Slice
from web.forms import Filters, read_minute
from web.html import NOTHING, Html, html, joined
from web.layout import page
from web.pages import Member, Visit, frame, page_router
from web.parts import ENTRIES, After, empty, home, more, nothing_yet, text

router = page_router()

_CHANGES: Final = """\
<h1>Changes</h1>
<form method="get" action="{path}" class="card" id="filters" role="search" aria-label="Filter the changes">
<div class="row">{by}{about}{since}{until}<button class="plain">Filter</button></div></form>
<div class="card" id="results"><p class="soft small" role="status">{count}</p>{list}{more}</div>"""
_TABLE: Final = """\
<table><thead><tr><th>Time (UTC)</th><th>Who</th><th>Change</th><th>Credential</th></tr></thead><tbody>{rows}</tbody>
</table>"""
_CHANGES_FOR: Final = (
    "Who changed what in this organization, when, and with which credential. Nothing is ever removed from it."
)
_FIRST_CHANGE: Final = (
    "Nothing was changed yet: publishing a configuration, creating a fleet or inviting somebody begins it."
)
_NONE_FOUND: Final = "None of these changes is like that."
_ASSIGNED: Final = "assigned {now}; before: {before}{why}"
_VERSION: Final = '<a href="/organizations/{organization}/configurations/{id}/versions/{n}">{name} version {n}</a>'
_CHANGE: Final = """\
<tr><td class="small when">{at}</td><td><a href="{path}?by={who_id}">{who}</a></td>
<td><code>{action}</code> {details}<div class="small soft">{target_name} {target}</div></td>\
<td class="small soft" data-label="Credential">{credential}<br>{credential_id}</td></tr>"""
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
) -> Filters[Wanted]:
    typed = {"by": by.strip(), "about": about.strip(), "since": since.strip(), "until": until.strip()}
    times: dict[str, datetime] = {}
    problems: dict[str, str] = {}
    for name in ("since", "until"):
        try:
            if typed[name]:
                times[name] = read_minute(typed[name], name)
        except errors.Invalid as error:
            problems[name] = error.detail
    return Filters(typed, Wanted(typed["by"] or None, typed["about"] or None, **times), problems)


@router.get("/organizations/{organization_id}/changes")
def list_changes(
    who: Visit, caller: Member, after: After, filters: Annotated[Filters[Wanted], Depends(_filters)]
) -> Response:
    path, typed, problems = f"{home(caller)}/changes", filters.typed, filters.problems
    caller.require_admin()
    part: Slice[AuditRecord] = Slice([], None)
    if not problems:
        part = audit.records(caller, ENTRIES, after, filters.wanted)
    nothing = empty(_NONE_FOUND) if any(typed.values()) or after else nothing_yet(_CHANGES_FOR, _FIRST_CHANGE)
    more_may_follow = "; there may be more on the next page" if part.position else ""
    content = html(
        _CHANGES,
        path=path,
        by=text("by", "Person", typed["by"], most=254, required=False, kind="search"),
        about=text("about", "Object", typed["about"], most=254, required=False, kind="search"),
        **{
            name: text(
                name,
                label,
                typed[name][:16],
                most=40,
                required=False,
                kind="datetime-local",
                error=problems.get(name, ""),
            )
            for name, label in (("since", "From (UTC)"), ("until", "Until (UTC)"))
        },
        count=f"{len(part.entries)} found here{more_may_follow}",
        list=_listed(path, home(caller), part.entries) if part.entries else nothing,
        more=more(path, part.position, typed),
    )
    status = 422 if problems else 200
    return page(frame(who, caller, "changes"), "Changes", content, status=status, script="search")


def _listed(path: str, home: str, found: Sequence[AuditRecord]) -> Html:
    return html(_TABLE, rows=[_row(path, home, record) for record in found])


def _row(path: str, home: str, record: AuditRecord) -> Html:
    details: Html = _details(record.details)
    if record.details.keys() & {"version_number", "before_version_number"}:
        why = f": {record.details['message']}" if "message" in record.details else ""
        details = html(_ASSIGNED, before=_version(record, _BEFORE), now=_version(record, ""), why=why)
    return html(
        _CHANGE,
        path=path,
        at=record.at.strftime("%Y-%m-%d %H:%M:%S"),
        who=record.actor.name,
        who_id=record.actor.id,
        action=record.action,
        details=details,
        target=_target(home, record),
        target_name=record.target_name,
        credential=record.credential_name,
        credential_id=record.credential_id,
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
    return joined(html("{comma}{one}", comma=", " if at else "", one=one) for at, one in enumerate(shown))


def _target(home: str, record: AuditRecord) -> Html:
    found = NOTHING
    if not record.action.endswith((".deleted", ".removed")):
        matches = ((pattern.match(record.target), below) for pattern, below in _PAGES)
        found = next((html("{path}", path=match.expand(below)) for match, below in matches if match), NOTHING)
    if not found:
        return html("{target}", target=record.target)
    return html('<a href="{home}/{found}">{target}</a>', home=home, found=found, target=record.target)


def _version(record: AuditRecord, prefix: str) -> Html | str:
    """A link to the assigned version; with the `prefix` `before_`, to the version assigned before."""
    configuration_id, n = (record.details.get(f"{prefix}{name}") for name in ("configuration_id", "version_number"))
    if configuration_id is None or n is None:
        return "nothing"
    name = record.details.get(f"{prefix}configuration_name", configuration_id)
    return html(_VERSION, organization=record.organization_id, id=configuration_id, n=n, name=name)
