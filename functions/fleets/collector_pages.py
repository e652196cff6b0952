"""The page of a fleet's collectors: the version each is assigned, the one it runs, and its state."""

from __future__ import annotations

from typing import Final

from fastapi import Response

from fleets.fleet_pages import names_of
from headgate.deployments import service as deployments
from headgate.deployments.model import Assignment
from headgate.fleets import service as fleets
from headgate.foundation.caller import Caller
from headgate.http.parameters import FleetId
from headgate.instances import service as instances
from headgate.instances.service import Seen
from web.html import NOTHING, Html, html
from web.layout import page
from web.pages import Member, Visit, frame, page_router
from web.parts import ENTRIES, After, home, moment, more, tag

router = page_router()

_KINDS: Final = {"applied": "good", "apply_failed": "bad", "silent": "bad", "stale": "bad"}

_PAGE: Final = """\
<p class="small"><a href="{home}/fleets">Fleets</a> / <a href="{home}/fleets/{fleet}">{label}</a></p>
<h1>Collectors</h1>
<div class="card">{list}</div>{more}"""
_TABLE: Final = """\
<table><thead><tr><th>Host</th><th>Group</th><th>State</th><th>Assigned</th><th>Running</th><th>Last seen</th></tr>
</thead><tbody>{rows}</tbody></table>"""
_ROW: Final = """\
<tr><td><strong>{host}</strong> <span class="soft small">{platform}</span></td>
<td data-label="Group"><a href="{home}/fleets/{fleet}/deployments/{deployment}">{group}</a></td>
<td data-label="State">{state}</td><td data-label="Assigned">{assigned}</td><td data-label="Running">{running}</td>
<td class="soft small" data-label="Last seen">{at}</td></tr>{message}"""
_MESSAGE: Final = '<tr><td colspan="6"><pre class="wrapped">{message}</pre></td></tr>'
_NO_COLLECTORS: Final = """\
<p class="soft">No collector has reported yet. <code>headgate fleet install {id}</code> prints the command that installs
one.</p>"""
_VERSION: Final = '<a href="{home}/configurations/{id}/versions/{n}">{name}</a> <span class="soft">version {n}</span>'


@router.get("/organizations/{organization_id}/fleets/{fleet_id}/collectors")
def list_collectors(who: Visit, caller: Member, fleet_id: FleetId, after: After) -> Response:
    fleet = fleets.get(caller, fleet_id)
    part = instances.instances(caller, fleet_id, ENTRIES, after)
    groups = {group.id: group.name for group in deployments.deployments(caller, fleet_id, ENTRIES, None).entries}
    names = names_of(caller, (version for seen in part.entries for version in (seen.assigned, seen.running)))
    rows = [_row(caller, fleet_id, seen, groups, names) for seen in part.entries]
    content = html(
        _PAGE,
        home=home(caller),
        fleet=fleet.id,
        label=fleet.label,
        list=html(_TABLE, rows=rows) if rows else html(_NO_COLLECTORS, id=fleet.id),
        more=more(f"{home(caller)}/fleets/{fleet_id}/collectors", part.position),
    )
    return page(frame(who, caller, "fleets"), f"Collectors of {fleet.label}", content)


def _row(caller: Caller, fleet_id: str, seen: Seen, groups: dict[str, str], names: dict[str, str]) -> Html:
    instance = seen.instance
    described = instance.description
    return html(
        _ROW,
        home=home(caller),
        fleet=fleet_id,
        host=described.host_name or instance.id,
        platform="/".join(part for part in (described.os, described.arch) if part),
        deployment=instance.deployment_id,
        group=groups.get(instance.deployment_id, instance.deployment_id),
        state=tag(seen.state.replace("_", " "), _KINDS.get(seen.state, "")),
        assigned=_version(caller, seen.assigned, names),
        running=_version(caller, seen.running, names),
        at=moment(instance.last_seen_at),
        message=html(_MESSAGE, message=seen.state_message) if seen.state_message else NOTHING,
    )


def _version(caller: Caller, assignment: Assignment | None, names: dict[str, str]) -> Html:
    if assignment is None:
        return html('<span class="soft">nothing</span>')
    name = names[assignment.configuration_id]
    return html(_VERSION, home=home(caller), id=assignment.configuration_id, n=assignment.version_number, name=name)
