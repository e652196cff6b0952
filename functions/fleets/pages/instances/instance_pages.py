"""The page of one collector: what it is to run and runs, how it fares, what happened, and orders as forms."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from fastapi import Response

from fleets.api import instances as api
from fleets.pages import traffic
from fleets.pages.instances.cards import happened, health_card, then_shown, truth_card
from fleets.pages.instances.changing import change_of
from fleets.pages.instances.order_card import order_card, override_of
from fleets.pages.instances.reported_card import reported_card
from fleets.pages.parts import state_tag
from fleets.pages.timelines import ENTRIES, AtMinute, Entry, timeline
from headgate.deployments import service as deployments
from headgate.fleets import service as fleets
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.parameters import FleetId, InstanceId
from headgate.instances import details, replacing
from headgate.instances.model import Instance
from headgate.instances.timeline import history
from web.commands import command
from web.forms import by_field
from web.html import Html, html
from web.pages import Here, page_router
from web.parts import Fields, ago, confirmed, home, second
from web.table import Viewed

router = page_router()

_PATH: Final = "/organizations/{organization_id}/fleets/{fleet_id}/collectors/{instance_id}"
_THIS: Final = "/fleets/{fleet_id}/collectors/{instance_id}"
_PAGE: Final = """\
<p class="small"><a href="{home}/fleets">Fleets</a> / <a href="{fleet_path}">{label}</a> /
<a href="{fleet_path}/collectors">Collectors</a></p>
<h1>{host} {state}</h1>
<p class="soft"><code data-copy="the id">{id}</code> ·
group <a href="{fleet_path}/deployments/{deployment}">{group}</a> · last heard
{heard}</p>
<div id="live" data-live="idle">{truth}{health}</div>
{reported}{traffic}{orders}
<p><a href="{fleet_path}/captures?instance_id={id}">Take a sample of what passes a component</a></p>{timeline}
<div class="card"><h2>Delete this collector</h2>{again}{delete}</div>"""
_AGAIN: Final = """\
<p>A host of this name came since: <a href="{path}">{id}</a>, first heard {at}. If it is this one, installed again:</p>
<form method="post" action="{action}/replace">{csrf}<input type="hidden" name="by" value="{id}">
<button class="plain">Replace this one by it</button></form>"""
_LOSS: Final = """\
Only one that was stopped, or is gone, can be deleted. If it reports again, it is known again."""


@router.get(_PATH)
def show_instance(here: Here, fleet_id: FleetId, instance_id: InstanceId, view: Viewed, at: AtMinute = "") -> Response:
    """The collector's page; after a refusal, with what was typed, and the reason beside its field or at the top."""
    caller, csrf = here.caller, here.csrf
    known = details.instance(caller, fleet_id, instance_id)
    instance = known.seen.instance
    fleet = fleets.get(caller, fleet_id)
    group = deployments.of_fleet(fleet_id, instance.deployment_id)
    fleet_path, path = f"{here.home}/fleets/{fleet_id}", _path(caller, fleet_id, instance_id)
    fields = here.fields() if {"until", "set_label"} & here.form.keys() else Fields({}, by_field(here.refused))
    content = html(
        _PAGE,
        home=here.home,
        fleet_path=fleet_path,
        label=fleet.label,
        id=instance.id,
        host=instance.called,
        state=state_tag(known.seen.state),
        deployment=group.id,
        group=group.name,
        heard=ago(instance.contact.last_seen_at),
        truth=truth_card(caller, known),
        health=health_card(known),
        reported=reported_card(caller, group, instance),
        traffic=traffic.of_host(caller, fleet_id, instance_id),
        orders=order_card(caller, path, csrf, known, fields),
        timeline=_timeline(caller, path, fleet_id, instance_id, view.after, at),
        again=[_again(caller, path, csrf, seen.instance) for seen in replacing.successors(fleet, known.seen)],
        delete=confirmed(f"{path}/delete", csrf, "Delete", _LOSS, subject=instance.called),
    )
    problem = fields.problem(here.refused, "Nothing was changed")
    return here.page("fleets", instance.called, content, problem=problem, script="live")


for _act, _order in (
    ("restart", api.restart_instance),
    ("retry", api.retry_instance),
    ("upgrade-supervisor", api.upgrade_supervisor),
):
    command(router, f"{_PATH}/{_act}", _order, _THIS, refused=show_instance, refusals=(errors.Conflict,))
command(
    router,
    f"{_PATH}/change",
    api.change_instance,
    _THIS,
    body=lambda posted: change_of(posted.form),
    refused=show_instance,
)
command(router, f"{_PATH}/override", api.put_instance_override, _THIS, body=override_of, refused=show_instance)
command(router, f"{_PATH}/override/end", api.delete_instance_override, _THIS)
command(router, f"{_PATH}/allow-move", api.allow_instance_move, _THIS)
command(router, f"{_PATH}/cut-off", api.cut_off_instance, _THIS)
command(router, f"{_PATH}/let-in", api.let_in_instance, _THIS)
command(
    router,
    f"{_PATH}/replace",
    api.replace_instance,
    "/fleets/{fleet_id}/collectors/{result.id}",
    body=lambda posted: {"by": posted.form.get("by")},
    refused=show_instance,
)
command(router, f"{_PATH}/delete", api.delete_instance, "/fleets/{fleet_id}/collectors", refused=show_instance)


def _path(caller: Caller, fleet_id: str, instance_id: str) -> str:
    return f"{home(caller)}/fleets/{fleet_id}/collectors/{instance_id}"


def _again(caller: Caller, path: str, csrf: Html, instance: Instance) -> Html:
    shown = _path(caller, instance.fleet_id, instance.id)
    at = second(instance.contact.first_seen_at)
    return html(_AGAIN, action=path, csrf=csrf, path=shown, id=instance.id, at=at)


def _timeline(caller: Caller, path: str, fleet_id: str, instance_id: str, after: str | None, at: str) -> Html:
    def then(time: datetime) -> Html:
        then = history.then(caller, fleet_id, instance_id, time)
        return then_shown(caller, then)

    part = history.events(caller, fleet_id, instance_id, ENTRIES, after)
    entries: list[Entry] = [(listed.event.at, happened(caller, listed)) for listed in part.entries]
    return timeline(path, entries, part.position, at, then)
