"""Review of an assignment before it is made: hosts, components, text, and the rollout or overrides that it ends."""

from collections.abc import Iterable, Sequence
from difflib import unified_diff
from typing import Annotated, Final

from fastapi import Query, Response

from fleets.pages.parts import named
from headgate.configurations import service as configurations
from headgate.configurations.differences import Change, differences
from headgate.deployments import assignments
from headgate.deployments import service as deployments
from headgate.deployments.assignments import AssignmentTarget
from headgate.deployments.model import Deployment
from headgate.fleets import service as fleets
from headgate.foundation.caller import Caller
from headgate.foundation.errors import NotFound
from headgate.http.parameters import DeploymentId, FleetId
from headgate.instances import first_version
from headgate.instances.counting import fleets as counting
from headgate.instances.counting.fleets import CountedGroup
from headgate.instances.reported import suitability
from headgate.rollouts import service as rollouts
from headgate.rollouts.model import Rollout
from web.html import NOTHING, Html, html, separated
from web.layout import redirect
from web.pages import Here, page_router
from web.parts import counted, home, tag

router = page_router()

_SILENT: Final = ("silent", "stale")
# A page lists no more components; the comparison of the versions has all.
_MOST_PARTS: Final = 40
# Lines of one text that are compared here.
_MOST_LINES: Final = 3_000
_SIGNS: Final[dict[Change, tuple[str, str]]] = {
    "added": ("+ added", "good"),
    "removed": ("− removed", "bad"),
    "changed": ("~ changed", "busy"),
}
_PAGE: Final = """\
<p class="small"><a href="{fleet_path}">{fleet}</a> / <a href="{path}">{group}</a></p><h1>Review</h1>
<div class="card">{review}</div>"""
_REVIEW: Final = """\
<div id="review" data-group="{group}" data-hosts="{hosts}"><p><strong>{after}</strong> → group <strong>{group}</strong>
of {fleet}, {count}</p>
<p class="soft">Instead of {before}</p>{ends}{warnings}
<h3>What changes</h3>{parts}{text}</div>"""
_ENDS: Final = """\
<p class="notice bad">This ends the rollout of {version}, which is {status}: {rollout}</p>"""
_PARTS: Final = '<ul class="names parts">{rows}</ul>{more}'
_PART: Final = '<li>{change} <strong>{id}</strong> <span class="soft small">{section}</span></li>'
_TEXT: Final = """\
<details><summary>The text, line by line</summary><pre tabindex="0" aria-label="Changed lines"><code>{lines}</code>\
</pre></details>"""


@router.get("/organizations/{organization_id}/fleets/{fleet_id}/deployments/{deployment_id}/review")
def show_review(
    here: Here,
    fleet_id: FleetId,
    deployment_id: DeploymentId,
    configuration_id: Annotated[str, Query(max_length=100)] = "",
    version_number: Annotated[int, Query(ge=0, le=99_999_999)] = 0,
) -> Response:
    """The review of the version that is named; without one, the way back to the group."""
    caller, fleet = here.caller, fleets.get(here.caller, fleet_id)
    group = deployments.of_fleet(fleet_id, deployment_id)
    path = f"{here.home}/fleets/{fleet_id}/deployments/{deployment_id}"
    if not (configuration_id and version_number):
        return redirect(path)
    target = assignments.target(caller, group, configuration_id, version_number)
    content = html(
        _PAGE,
        fleet_path=f"{here.home}/fleets/{fleet_id}",
        fleet=fleet.label,
        path=path,
        group=group.name,
        review=review(caller, fleet.label, group, target),
    )
    return here.page("fleets", "Review", content)


def review(caller: Caller, fleet: str, group: Deployment, target: AssignmentTarget) -> Html:
    """The changes of the assignment, without the collector's findings in the text. Five reads."""
    standing = counting.group(caller, group.fleet_id, group.id)
    hosts = sum(standing.instances.values())
    before = f"{standing.configuration_name or group.assignment.configuration_id}" if group.assignment else "nothing"
    if group.assignment:
        before += f" version {group.assignment.version_number}"
    open_rollout = next(iter(rollouts.open_in([group])), None)
    texts = _before(caller, group), target.version.yaml or ""
    return html(
        _REVIEW,
        group=group.name,
        hosts=hosts,
        after=named(target.named),
        fleet=fleet,
        count=_count(standing, hosts),
        before=before,
        ends=_ends(caller, group, open_rollout) if open_rollout and not open_rollout.is_final else NOTHING,
        warnings=[html('<p class="error">! {text}</p>', text=text) for text in _warnings(caller, group, target)],
        parts=_parts(*texts),
        text=_lines(*texts),
    )


def _count(group: CountedGroup, hosts: int) -> str:
    silent = sum(group.instances.get(state, 0) for state in _SILENT)
    return counted(hosts, "host") + (f" ({silent:,} silent)" if silent else "")


def _ends(caller: Caller, group: Deployment, rollout: Rollout) -> Html:
    path = f"{home(caller)}/fleets/{group.fleet_id}/deployments/{group.id}/rollouts/{rollout.id}"
    link = html('<a href="{path}">look at it first</a>', path=path)
    return html(_ENDS, version=named(rollout.to), status=rollout.status.replace("_", " "), rollout=link)


def _warnings(caller: Caller, group: Deployment, target: AssignmentTarget) -> Iterable[str]:
    """Warnings for somebody who picked the wrong entry."""
    if group.assignment and group.assignment.configuration_id != target.configuration.id:
        yield "It is another configuration than the group runs"
    if lost := assignments.undelivered(caller, group, target):
        yield f"The group's version delivers {' and '.join(lost)}; this one does not"
    if group.leaves_alone:
        hosts = suitability.hosts_of(group.fleet_id, group.id)
        yield from (each.message for each in first_version.differing(group, hosts, target.version))


def _before(caller: Caller, group: Deployment) -> str:
    """The text that the group is assigned; empty for nothing, or what is not there any more."""
    if group.assignment is None:
        return ""
    try:
        return (
            configurations.snapshot(caller, group.assignment.configuration_id, group.assignment.version_number)[1].yaml
            or ""
        )
    except NotFound:
        return ""


def _parts(before: str, after: str) -> Html:
    if before == after:
        return html("<p>Nothing: it is the same text. Hosts on which it failed try it again.</p>")
    parts = differences(before, after)
    if parts is None:
        return html("<p>One of the texts is too large to be compared by components.</p>")
    if not parts:
        return html("<p>Nothing that the collector reads: comments, or the way it is written.</p>")
    rows = [
        html(_PART, change=tag(*_SIGNS[each.change]), id=each.id, section=each.section) for each in parts[:_MOST_PARTS]
    ]
    left_out = len(parts) - _MOST_PARTS
    more = html('<p class="soft">{n} more</p>', n=left_out) if left_out > 0 else NOTHING
    return html(_PARTS, rows=rows, more=more)


def _lines(before: str, after: str) -> Html:
    old, new = before.splitlines(), after.splitlines()
    if not old or old == new or max(len(old), len(new)) > _MOST_LINES:
        return NOTHING
    return html(_TEXT, lines=separated("\n", _marked(list(unified_diff(old, new, lineterm="", n=2))[2:])))


def _marked(lines: Sequence[str]) -> list[str | Html]:
    elements = {"+": "<ins>{line}</ins>", "-": "<del>{line}</del>"}
    return [html(elements[line[0]], line=line) if line[:1] in elements else line or " " for line in lines]
