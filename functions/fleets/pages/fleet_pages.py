"""The pages of fleets: the list, and one fleet with its groups, what their collectors run, and its token."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Final

from fastapi import Query, Response

from fleets.api import fleets as api
from fleets.pages import standing, traffic
from fleets.pages.parts import (
    bars,
    by_version,
    named,
    no_collectors,
    part_for_shares,
    shares_at_once,
    state_tags,
    version,
)
from fleets.pages.renewal_card import renewal, renewal_card
from fleets.pages.rollouts.parts import status_tag
from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment
from headgate.fleets.model import ExpiresIn, FleetsNotConfigured, LabelTaken
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.parameters import FleetId
from headgate.instances import details
from headgate.instances.counting import fleets as counting
from headgate.instances.counting.fleets import CountedFleet
from headgate.instances.counting.shares import Shares
from headgate.rollouts import service as rollouts
from headgate.rollouts.model import Rollout
from web.commands import command
from web.forms import filled
from web.html import NOTHING, Html, html
from web.pages import Here, page_router
from web.parts import confirmed, home, link, managed, moment, nothing_yet, tag, tags
from web.table import Cell, Column, Listed, View, Viewed, listing, read

router = page_router()

_FLEET_PATH: Final = "/organizations/{organization_id}/fleets/{fleet_id}"
_TYPES: Final = {"server-supervisor": "Servers", "kubernetes-supervisor": "Kubernetes"}

_FLEETS: Final = """\
<h1>Fleets</h1><div class="card" id="now" data-live="idle">{list}</div>
<div class="card" id="new-fleet"><h2>New fleet</h2>
<form method="post" action="{home}/fleets">{csrf}{label}<div class="two">{type}{expires}</div><button>Create</button>
</form></div>
<p class="small soft"><a href="{home}/fleets/capture-redaction">What hosts take out of samples</a> ·
<a href="{home}/fleets/prices">Prices of destinations</a></p>"""
_EXPIRIES: Final[tuple[tuple[ExpiresIn, str], ...]] = (
    ("never", "Never"),
    ("180d", "In 180 days"),
    ("1y", "In a year"),
    ("2y", "In two years"),
)
_FLEET_COLUMNS: Final = (
    Column("Fleet", "label", lambda counted: counted.fleet.label.casefold()),
    Column("Type", "type", lambda counted: counted.fleet.type),
    Column("Collectors", "collectors", lambda counted: counted.total),
    Column("Taken in a day"),
    Column("Created", "created", lambda counted: counted.fleet.created_at),
)
_FLEET: Final = """\
<p class="small"><a href="{home}/fleets">Fleets</a></p>
<h1>{label}</h1>
<p class="soft">{type} · <code data-copy="the id">{id}</code> · {token}{managed}</p>
<div id="now" data-live="idle" data-again="count=yes">
<div class="card"><h2>Deployment groups</h2>{groups}
<p class="last"><a href="{path}/new-group">New group</a></p></div>
<div class="card"><h2>Collectors</h2>{instances}</div></div>{traffic}{standing}
<div id="install" data-fleet="{id}" data-type="{kind}"><noscript><p class="card">Installing needs JavaScript.
From a terminal: <code>headgate fleet install {id}</code>.</p></noscript></div>{renewal}
<div class="card"><h2>Delete this fleet</h2>{delete}</div>"""
_FLEETS_FOR: Final = "A fleet is a set of collectors that report here and get their configuration from here."
_FIRST_FLEET: Final = """\
None yet: create one below, or with <code>headgate fleet create LABEL</code>. Its page then has the command that
connects a host."""
_GROUPS_FOR: Final = "The collectors of a group run the same version of a configuration."
_FIRST_GROUP: Final = """\
None yet: <a href="{path}/new-group">create one</a>, or use
<code>headgate deployment create {id} NAME CONFIGURATION --role ROLE</code>."""
_COLLECTORS: Final = """\
<p class="last">{counts} <a href="{path}/collectors">Show each collector</a> ·{findings}
<a href="{path}/captures">Captures</a></p>"""
_WRONG: Final = ' <a href="{path}/findings">What is wrong with what they run</a> ·'
_LOSS: Final = """\
Its tokens, its Default group and what is known of its collectors are deleted. Delete its other groups first; no
collector may report any longer."""
_GROUP_COLUMNS: Final = (
    Column("Group", "name", lambda group: group.name.casefold()),
    Column("Assigned", "assigned", lambda group: by_version(group.assignment)),
    Column("Running"),
)
_GROUP: Final = '<a href="{path}"><strong>{name}</strong></a> {tags}{rollout}'
_ROLLING: Final = '<div class="small"><a href="{path}/rollouts/{id}">Rollout of {version}</a> {status}</div>'


@router.get("/organizations/{organization_id}/fleets")
def list_fleets(here: Here, view: Viewed) -> Response:
    caller, fields = here.caller, here.fields(label=LabelTaken)
    listed = read(view, partial(counting.fleets, caller), _FLEET_COLUMNS)
    lines = traffic.lines_of(traffic.day_of(counted.fleet.id for counted in listed.entries if counted.total))
    rows = [_fleet_row(caller, counted, lines.get(counted.fleet.id, NOTHING)) for counted in listed.entries]
    hint = "That of a Kubernetes fleet never does"
    content = html(
        _FLEETS,
        list=listing(view, listed, _FLEET_COLUMNS, rows, "fleet", nothing_yet(_FLEETS_FOR, Html(_FIRST_FLEET))),
        home=here.home,
        csrf=here.csrf,
        label=fields.text("label", "Label", most=200),
        type=fields.choice("type", "Type", [*_TYPES.items()]),
        expires=fields.choice("expires_in", "Its token expires", _EXPIRIES, hint=hint),
    )
    return here.page("fleets", "Fleets", content, problem=fields.problem(here.refused, "The fleet was not created"))


command(
    router,
    "/organizations/{organization_id}/fleets",
    api.create_fleet,
    "/fleets/{result.id}#install",
    body=lambda posted: filled(posted.form, "label", "type", "expires_in"),
    refused=list_fleets,
    refusals=(errors.Invalid, errors.Conflict, errors.Forbidden, FleetsNotConfigured),
)


def _fleet_row(caller: Caller, counted: CountedFleet, line: Html) -> Sequence[Cell]:
    fleet = counted.fleet
    return (
        link(f"{home(caller)}/fleets/{fleet.id}", fleet.label),
        _TYPES[fleet.type],
        _instances(counted),
        line,
        html('{at} <span class="soft small">by {by}</span>', at=moment(fleet.created_at), by=fleet.created_by.name),
    )


@router.get("/organizations/{organization_id}/fleets/{fleet_id}")
def show_fleet(
    here: Here,
    fleet_id: FleetId,
    view: Viewed,
    count: Annotated[str, Query(max_length=10)] = "",
    day: Annotated[str, Query(max_length=10)] = "",
) -> Response:
    """The fleet's page; after a refused deletion, with the reason."""
    caller, csrf = here.caller, here.csrf
    counted = counting.fleet(caller, fleet_id)
    fleet = counted.fleet
    path = f"{here.home}/fleets/{fleet_id}"
    listed = read(view, partial(deployments.deployments, caller, fleet_id), _GROUP_COLUMNS)
    # The groups behind the first page of them are counted with it, or not at all.
    counts = shares_at_once(fleet_id, counted.total, asked=count == "yes" or not view.is_first)
    running = (version for share in counts.by_group.values() for version in share) if counts else ()
    names = details.names(caller, [*(group.assignment for group in listed.entries), *running])
    content = html(
        _FLEET,
        home=home(caller),
        id=fleet.id,
        label=fleet.label,
        type=_TYPES[fleet.type],
        kind=fleet.type,
        managed=managed(fleet.managed_by),
        token=html("token expires at {at}", at=moment(fleet.token_expires_at))
        if fleet.token_expires_at
        else "token never expires",
        groups=_groups(caller, view, listed, counts, names, html(_FIRST_GROUP, path=path, id=fleet.id)),
        path=path,
        instances=html(
            _COLLECTORS,
            counts=_instances(counted),
            path=path,
            findings=html(_WRONG, path=path)
            if fleet.observed or any(group.adopted for group in listed.entries)
            else NOTHING,
        )
        if counted.total
        else no_collectors(path, fleet.id),
        traffic=traffic.of_fleet(caller, fleet_id) if counted.total else NOTHING,
        standing=standing.card(caller, path, fleet_id, asked=day == "yes") if counted.total else NOTHING,
        renewal=renewal_card(f"{path}/token", csrf, "Every collector of this fleet") if caller.is_admin else NOTHING,
        delete=confirmed(f"{path}/delete", csrf, "Delete", _LOSS, subject=fleet.label),
    )
    return here.page("fleets", fleet.label, content, script="fleet")


command(router, f"{_FLEET_PATH}/token", api.renew_fleet_token, "/fleets/{fleet_id}", body=renewal)
command(router, f"{_FLEET_PATH}/delete", api.delete_fleet, "/fleets", refused=show_fleet)


def _groups(
    caller: Caller,
    view: View,
    listed: Listed[Deployment],
    counts: Shares | None,
    names: Mapping[str, str],
    first: Html,
) -> Html:
    if not listed.entries and view.is_first:
        return nothing_yet(_GROUPS_FOR, first)
    rolling = {rollout.deployment_id: rollout for rollout in rollouts.open_in(listed.entries)}
    rows = [_group_row(caller, view.path, group, rolling.get(group.id), counts, names) for group in listed.entries]
    groups = listing(view, listed, _GROUP_COLUMNS, rows, "group", NOTHING)
    return part_for_shares("groups", groups, view.path, counts)


def _group_row(
    caller: Caller,
    path: str,
    group: Deployment,
    rollout: Rollout | None,
    counts: Shares | None,
    names: Mapping[str, str],
) -> Sequence[Cell]:
    own = f"{path}/deployments/{group.id}"
    link = html(
        _GROUP,
        path=own,
        name=group.name,
        tags=group_tags(group),
        rollout=html(_ROLLING, path=own, id=rollout.id, version=named(rollout.to), status=status_tag(rollout.status))
        if rollout
        else NOTHING,
    )
    return (
        link,
        version(caller, group.assignment, names, "nothing assigned"),
        bars(caller, path, group, counts, names),
    )


def group_tags(group: Deployment) -> list[Html]:
    # The group that every server fleet begins with is named Default: its tag would say it twice.
    words = ["default"] if group.is_default and group.name.lower() != "default" else []
    words += [group.role] if group.role else []
    words += [f"{group.replicas} replicas"] if group.replicas else []
    words += [f"namespace {group.namespace}"] if group.namespace else []
    return tags(words)


def _instances(counted: CountedFleet) -> Html:
    if not counted.total:
        return html('<span class="soft">none yet</span>')
    keyless = tag(f"{counted.without_key} without a host's key") if counted.without_key else NOTHING
    return html(
        "{total} {counts} {keyless}", total=counted.total, counts=state_tags(counted.instances), keyless=keyless
    )
