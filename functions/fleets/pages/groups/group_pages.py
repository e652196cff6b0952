"""The page of a deployment group: what it is assigned and runs, its rollouts and timeline, and its volume mounts."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Final

from fastapi import Query, Response

from fleets.api import groups as api
from fleets.pages import standing, traffic
from fleets.pages.fleet_pages import group_tags
from fleets.pages.groups.mount_card import MOUNT_FIELDS, mount_of, mounts_card
from fleets.pages.parts import bars, named, part_for_shares, shares_at_once, state_tags, version
from fleets.pages.rollouts.parts import reach_of, status_tag, summary
from fleets.pages.timelines import ENTRIES, AtMinute, Entry, timeline
from headgate.deployments import history, mounts, selectors
from headgate.deployments import service as deployments
from headgate.deployments.events import GroupEvent
from headgate.deployments.model import Deployment, VolumeMount
from headgate.deployments.versions import NamedVersion
from headgate.fleets import service as fleets
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.parameters import DeploymentId, FleetId
from headgate.instances import details
from headgate.instances.counting import fleets as counting
from headgate.instances.counting.fleets import Counters
from headgate.instances.series import costs
from headgate.instances.state.model import InstanceState
from headgate.rollouts import service as rollouts
from headgate.rollouts.model import Rollout
from web import cost_card
from web.commands import command, form
from web.html import NOTHING, Html, html
from web.layout import redirect
from web.pages import Here, MemberPage, page_router
from web.parts import action, confirmed, empty, hidden, home, managed, second
from web.table import Viewed

router = page_router()

_PATH: Final = "/organizations/{organization_id}/fleets/{fleet_id}/deployments/{deployment_id}"
_ROLLOUTS: Final = 5
_GROUP: Final = """\
<p class="small"><a href="{home}/fleets">Fleets</a> / <a href="{home}/fleets/{fleet}">{label}</a></p>
<h1>{name} {tags}</h1>
<p class="soft"><code data-copy="the id">{id}</code>{selected}{managed} ·
<a href="{path}/settings">Settings: name, labels, variables</a></p>
<div id="now" data-live="idle" data-again="count=yes">
<div class="card"><h2>Assigned</h2><p>{assigned}</p>
<p class="hint">{delivery}</p></div>
<div class="card"><h2>Running</h2>{running}
<p class="last">{states} <a href="{home}/fleets/{fleet}/collectors?deployment_id={id}">Show each collector</a></p>
</div></div>{traffic}{graph}{costs}{standing}
<div id="assign" data-fleet="{fleet}" data-deployment="{id}" data-assigned="{assigned_id}"
 data-version="{assigned_version}" data-hosts="{hosts}"><noscript><p class="card">Assigning a version needs JavaScript.
From a terminal: <code>headgate deployment assign {fleet} {id} CONFIGURATION</code>.</p></noscript></div>
{rollouts}{timeline}{captures}{mounts}{delete}"""
_GRAPH: Final = """\
<details class="card" id="graph" data-configuration="{configuration}" data-version="{version}" data-editor="{editor}">
<summary>Graph, with what flows from component to component</summary></details>"""
_DELIVERED: Final = "The group's collectors receive this version with their next heartbeat."
_NOT_DELIVERED: Final = """\
The group's collectors run nothing until a version is assigned: below, or with
<code data-copy="the command">headgate deployment assign {fleet} {group} CONFIGURATION</code>"""
_LIST: Final = """\
<div class="card"><h2>Rollouts</h2><div id="rollouts" data-live="{live}">{rollouts}</div></div>"""
_CAPTURES: Final = """\
<div class="card"><h2>Captures</h2><p>{told} <a href="{home}/fleets/{fleet}/captures">Show them</a></p>{switch}</div>"""
_DELETE: Final = '<div class="card"><h2>Delete this group</h2>{button}</div>'
_LOSS: Final = """\
What is known of its collectors that are gone is deleted with it. A group with a rollout, or with a collector that
reports, cannot be deleted."""


@router.get(_PATH)
def show_deployment(
    here: Here,
    fleet_id: FleetId,
    deployment_id: DeploymentId,
    view: Viewed,
    at: AtMinute = "",
    count: Annotated[str, Query(max_length=10)] = "",
    day: Annotated[str, Query(max_length=10)] = "",
) -> Response:
    """The group's page; after a refusal, with the typed mount, and the reason beside its field or at the top."""
    caller, csrf, fields = here.caller, here.csrf, here.fields()
    fleet = fleets.get(caller, fleet_id)
    group = deployments.of_fleet(fleet_id, deployment_id)
    path = f"{here.home}/fleets/{fleet_id}/deployments/{deployment_id}"
    counters = counting.counters(caller, fleet_id, [group])
    content = html(
        _GROUP,
        home=here.home,
        fleet=fleet.id,
        label=fleet.label,
        id=group.id,
        name=group.name,
        tags=group_tags(group),
        path=path,
        selected=_selected(group),
        managed=managed(group.managed_by),
        **_versions(caller, path, group, counters, count=count == "yes"),
        assigned_id=group.assignment.configuration_id if group.assignment else "",
        assigned_version=group.assignment.version_number if group.assignment else "",
        delivery=Html(_DELIVERED) if group.assignment else html(_NOT_DELIVERED, fleet=fleet.id, group=group.id),
        traffic=traffic.of_group(caller, fleet.id, group.id, view),
        graph=_graph(caller, group),
        standing=standing.card(caller, path, fleet.id, group.id, asked=day == "yes"),
        costs=cost_card.card(caller, costs.of_group(caller, fleet.id, group.id, cost_card.DAYS), view),
        rollouts=_rollouts(caller, path, csrf, group, counters.counted(group).instances),
        timeline=_timeline(caller, path, group, view.after, at),
        captures=_captures(caller, path, csrf, group),
        mounts=mounts_card(f"{path}/volume-mounts", csrf, group, fields, on_kubernetes=fleet.on_kubernetes),
        delete=html(_DELETE, button=confirmed(f"{path}/delete", csrf, "Delete", _LOSS, subject=group.name))
        if group.id != fleet.default_deployment_id
        else NOTHING,
    )
    problem = None
    if isinstance(here.refused, errors.Invalid):
        # Errors of the mount's two fields are shown beside them.
        others = [reason for name, reason in fields.problems.items() if name not in MOUNT_FIELDS]
        problem = next(iter(others), "The mount was not added")
    return here.page("fleets", group.name, content, problem=problem, script="deployment")


command(
    router,
    f"{_PATH}/delete",
    api.delete_deployment,
    "/fleets/{fleet_id}",
    refused=show_deployment,
    refusals=(errors.Conflict,),
)


@form(router, f"{_PATH}/volume-mounts", refused=show_deployment, refusals=(errors.Invalid,))
def add_mount(posted: MemberPage, fleet_id: FleetId, deployment_id: DeploymentId) -> Response:
    mounts.add(posted.caller, fleet_id, deployment_id, mount_of(posted.form))
    return redirect(f"{posted.home}/fleets/{fleet_id}/deployments/{deployment_id}")


@form(router, f"{_PATH}/volume-mounts/remove")
def remove_mount(posted: MemberPage, fleet_id: FleetId, deployment_id: DeploymentId) -> Response:
    # A stored path may begin or end with a blank.
    mount = VolumeMount(*(posted.form.get(name, "") for name in MOUNT_FIELDS))
    mounts.remove(posted.caller, fleet_id, deployment_id, mount)
    return redirect(f"{posted.home}/fleets/{fleet_id}/deployments/{deployment_id}")


def _graph(caller: Caller, group: Deployment) -> Html:
    """The place of the graph of the assigned version, which a script draws."""
    if group.assignment is None:
        return NOTHING
    configuration_id, n = group.assignment.configuration_id, group.assignment.version_number
    editor = f"{home(caller)}/configurations/{configuration_id}/edit?version={n}"
    return html(_GRAPH, configuration=configuration_id, version=n, editor=editor)


def _selected(group: Deployment) -> Html:
    labels = selectors.in_words(group.selector)
    return html(" · for hosts with <code>{labels}</code>", labels=labels) if labels else NOTHING


def _versions(
    caller: Caller, path: str, group: Deployment, counters: Counters, *, count: bool
) -> dict[str, Html | str | list[Html]]:
    """The group's assignment, and its collectors by version and by state."""
    counted = shares_at_once(group.fleet_id, counters.census.total(counters.at), asked=count)
    instances = counters.counted(group).instances
    names = details.names(caller, [group.assignment, *(counted.by_group.get(group.id, {}) if counted else ())])
    return {
        "assigned": version(caller, group.assignment, names, "nothing assigned"),
        "running": part_for_shares("running", bars(caller, path, group, counted, names), path, counted),
        "states": state_tags(instances),
        "hosts": str(sum(instances.values())),
    }


def _rollouts(caller: Caller, path: str, csrf: Html, group: Deployment, instances: Mapping[InstanceState, int]) -> Html:
    listed = rollouts.rollouts(caller, group.fleet_id, group.id, _ROLLOUTS, None).entries
    rows = []
    for rollout in listed:
        status = reach_of(rollout, group, instances)
        rows.append(summary(caller, f"{path}/rollouts/{rollout.id}", csrf, rollout, status))
    return html(
        _LIST,
        live="idle" if all(rollout.is_final for rollout in listed) else "yes",
        rollouts=html('<ul class="names">{rows}</ul>', rows=rows) if rows else empty("No version was rolled out yet."),
    )


def _captures(caller: Caller, path: str, csrf: Html, group: Deployment) -> Html:
    """The permission to take samples on the group's hosts, with the switch for Admins."""
    label, allowed = ("Forbid them", "no") if group.captures_allowed else ("Allow them", "yes")
    return html(
        _CAPTURES,
        home=home(caller),
        fleet=group.fleet_id,
        told="Writers may take samples on the hosts of this group. Forbidding them ends those under way."
        if group.captures_allowed
        else "They are off: nobody takes samples on the hosts of this group until an Admin allows it.",
        switch=action(f"{path}/captures", csrf, label, "plain", hidden("allowed", allowed))
        if caller.is_admin
        else NOTHING,
    )


def _timeline(caller: Caller, path: str, group: Deployment, after: str | None, at: str) -> Html:
    def then(time: datetime) -> Html:
        past = history.assigned_at(caller, group.fleet_id, group.id, time)
        assigned = named(past.assigned)
        return html("At {at}: {assigned}, since {since}", at=second(time), assigned=assigned, since=second(past.since))

    part = history.events(caller, group.fleet_id, group.id, ENTRIES, after)
    entries: list[Entry] = [(event.at, _event(caller, event)) for event in part.entries]
    oldest = entries[-1][0] if entries and part.position else None
    newest = entries[0][0] if entries and after else None
    listed = rollouts.rollouts(caller, group.fleet_id, group.id, _ROLLOUTS, None).entries
    entries += [
        entry
        for rollout in listed
        for entry in _of_rollout(path, rollout)
        if (oldest is None or entry[0] > oldest) and (newest is None or entry[0] < newest)
    ]
    return timeline(path, sorted(entries, key=lambda entry: entry[0], reverse=True), part.position, at, then)


def _of_rollout(path: str, rollout: Rollout) -> Iterator[Entry]:
    """The start of a rollout in steps, and its end or that it halted."""
    if rollout.strategy is None:
        return
    link = html('<a href="{path}/rollouts/{id}">{name}</a>', path=path, id=rollout.id, name=named(rollout.to))
    why = html("<br>{message}", message=rollout.message) if rollout.message else NOTHING
    by = html('<span class="soft small">{by}</span>', by=rollout.created_by.name)
    yield rollout.created_at, html("Rollout of {link} started{why} {by}", link=link, why=why, by=by)
    at = rollout.finished_at or (rollout.updated_at if rollout.status == "halted" else None)
    if at is not None:
        reason = html("<br>{reason}", reason=rollout.reason) if rollout.reason else NOTHING
        yield (
            at,
            html("Rollout of {link} {status}{reason}", link=link, status=status_tag(rollout.status), reason=reason),
        )


def _event(caller: Caller, event: GroupEvent) -> Html:
    before, assigned = (_linked(caller, change) for change in (event.before, event.assigned))
    if event.variables_revision:
        assigned = html("{assigned} with variables revision {n}", assigned=assigned, n=event.variables_revision)
    what = {
        "created": html("Created with {assigned}", assigned=assigned),
        "assigned": html("{assigned} assigned; before: {before}", assigned=assigned, before=before),
        "cleared": html("Assignment ended; before: {before}", before=before),
        "deleted": html("Deleted with {before}", before=before),
    }[event.kind]
    why = html("<br>{message}", message=event.message) if event.message else NOTHING
    return html('{what}{why} <span class="soft small">{by}</span>', what=what, why=why, by=event.by.name)


def _linked(caller: Caller, named_version: NamedVersion | None) -> Html:
    if named_version is None:
        return html("nothing")
    assignment = named_version.assignment
    return version(
        caller, assignment, {assignment.configuration_id: named_version.configuration_name or "a configuration"}
    )
