"""The page of a fleet's collectors: filters, the version each is assigned, the one it runs, and its state."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, cast

from fastapi import Depends, Query, Response

from fleets.pages.parts import names_of, no_collectors, state_tag, version
from headgate.deployments import service as deployments
from headgate.fleets import service as fleets
from headgate.foundation.caller import Caller
from headgate.foundation.ids import is_id
from headgate.http.parameters import FleetId
from headgate.instances import service as instances
from headgate.instances.service import Seen, Wanted
from headgate.instances.state.model import INSTANCE_STATES, InstanceState
from headgate.storage.page import Slice
from web.forms import Filters
from web.html import NOTHING, Html, html
from web.layout import page
from web.pages import Member, Visit, frame, page_router
from web.parts import ENTRIES, After, ago, choice, empty, home, more, text

router = page_router()

_NUMBER: Final = r"[1-9][0-9]{0,8}"
_LABEL: Final = r"[^=]+=.*"
_PAGE: Final = """\
<p class="small"><a href="{home}/fleets">Fleets</a> / <a href="{home}/fleets/{fleet}">{label}</a></p>
<h1>Collectors</h1>
<form method="get" action="{path}" class="card" id="filters" role="search" aria-label="Filter the collectors">
<div class="row">
{state}{group}{host}{version}{with_label}<button class="plain">Filter</button></div></form>
<div class="card" id="results" data-live="idle"><p class="soft small">{count}</p>{list}{more}</div>"""
_TABLE: Final = """\
<table><thead><tr><th>Host</th><th>Group</th><th>State</th><th>Assigned</th><th>Running</th><th>Last seen</th></tr>
</thead><tbody>{rows}</tbody></table>"""
_ROW: Final = """\
<tr><td><a href="{path}/{id}"><strong>{host}</strong></a> <span class="soft small">{platform}</span></td>
<td data-label="Group"><a href="{home}/fleets/{fleet}/deployments/{deployment}">{group}</a></td>
<td data-label="State">{state}</td><td data-label="Assigned">{assigned}</td><td data-label="Running">{running}</td>
<td class="soft small" data-label="Last seen">{at}</td></tr>{message}"""
_MESSAGE: Final = '<tr><td colspan="6"><pre class="wrapped" tabindex="0" aria-label="Why">{message}</pre></td></tr>'
_NONE_FOUND: Final = "None of these collectors is like that."


async def _filters(
    state: Annotated[str, Query(max_length=40)] = "",
    deployment_id: Annotated[str, Query(max_length=40)] = "",
    host: Annotated[str, Query(max_length=255)] = "",
    version: Annotated[str, Query(max_length=20)] = "",
    label: Annotated[str, Query(max_length=319)] = "",
) -> Filters[Wanted]:
    typed = {"state": state, "deployment_id": deployment_id, "host": host, "version": version, "label": label}
    typed = {name: value.strip() for name, value in typed.items()}
    problems = {
        name: problem
        for name, problem, is_right in (
            ("state", "Choose a state from the list", state in ("", *INSTANCE_STATES)),
            ("deployment_id", "Choose a group from the list", not deployment_id or is_id("dep", deployment_id)),
            ("version", "This must be a whole number, the version's", re.fullmatch(_NUMBER, typed["version"] or "1")),
            ("label", "Give a label as key=value", re.fullmatch(_LABEL, typed["label"] or "a=b", re.DOTALL)),
        )
        if not is_right
    }
    if problems:
        return Filters(typed, Wanted(), problems)
    wanted = Wanted(
        state=cast("InstanceState | None", state or None),
        deployment_id=deployment_id or None,
        version=int(typed["version"]) if typed["version"] else None,
        host=typed["host"] or None,
        label=cast("tuple[str, str] | None", tuple(typed["label"].split("=", 1)) if typed["label"] else None),
    )
    return Filters(typed, wanted, {})


WithFilters = Annotated[Filters[Wanted], Depends(_filters)]


@router.get("/organizations/{organization_id}/fleets/{fleet_id}/collectors")
def list_collectors(who: Visit, caller: Member, fleet_id: FleetId, after: After, filters: WithFilters) -> Response:
    fleet = fleets.get(caller, fleet_id)
    path = f"{home(caller)}/fleets/{fleet_id}/collectors"
    part: Slice[Seen] = Slice([], None)
    if not filters.problems:
        part = instances.instances(caller, fleet_id, ENTRIES, after, filters.wanted)
    groups = {group.id: group.name for group in deployments.deployments(caller, fleet_id, ENTRIES, None).entries}
    names = names_of(caller, (version for seen in part.entries for version in (seen.assigned, seen.running)))
    content = html(
        _PAGE,
        home=home(caller),
        fleet=fleet.id,
        label=fleet.label,
        path=path,
        **_fields(filters, groups),
        count=_count(part),
        list=_listed(caller, path, part.entries, groups, names)
        if part.entries
        else empty(_NONE_FOUND)
        if any(filters.typed.values()) or after
        else no_collectors(f"{home(caller)}/fleets/{fleet_id}", fleet.id),
        more=more(path, part.position, filters.typed),
    )
    status = 422 if filters.problems else 200
    return page(frame(who, caller, "fleets"), f"Collectors of {fleet.label}", content, status=status, script="search")


def _fields(filters: Filters[Wanted], groups: Mapping[str, str]) -> dict[str, Html]:
    typed, problems = filters.typed, filters.problems
    states = [("", "Any"), *((state, state.replace("_", " ")) for state in INSTANCE_STATES)]
    return {
        "state": choice("state", "State", states, typed["state"], error=problems.get("state", "")),
        "group": choice(
            "deployment_id",
            "Group",
            [("", "Any"), *groups.items()],
            typed["deployment_id"],
            error=problems.get("deployment_id", ""),
        ),
        "host": text("host", "Host", typed["host"], most=255, required=False, kind="search"),
        "version": text(
            "version",
            "Version",
            typed["version"],
            most=9,
            required=False,
            hint="a whole number",
            pattern=_NUMBER,
            error=problems.get("version", ""),
        ),
        "with_label": text(
            "label",
            "Label",
            typed["label"],
            most=319,
            required=False,
            kind="search",
            hint="key=value",
            pattern=_LABEL,
            error=problems.get("label", ""),
        ),
    }


def _count(part: Slice[Seen]) -> str:
    """With a filter, a part of a large fleet is looked through for each page."""
    found = len(part.entries)
    return f"{found} found here; there may be more on the next page" if part.position else f"{found} found"


def _listed(
    caller: Caller, path: str, found: Sequence[Seen], groups: Mapping[str, str], names: Mapping[str, str]
) -> Html:
    return html(_TABLE, rows=[_row(caller, path, seen, groups, names) for seen in found])


def _row(caller: Caller, path: str, seen: Seen, groups: Mapping[str, str], names: Mapping[str, str]) -> Html:
    instance = seen.instance
    described = instance.reported.description
    return html(
        _ROW,
        path=path,
        id=instance.id,
        home=home(caller),
        fleet=instance.fleet_id,
        host=instance.called,
        platform="/".join(part for part in (described.os, described.arch) if part),
        deployment=instance.deployment_id,
        group=groups.get(instance.deployment_id, instance.deployment_id),
        state=state_tag(seen.state),
        assigned=version(caller, seen.assigned, names),
        running=version(caller, seen.running, names),
        at=ago(instance.contact.last_seen_at),
        message=html(_MESSAGE, message=seen.state_message) if seen.state_message else NOTHING,
    )
