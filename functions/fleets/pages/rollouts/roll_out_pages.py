"""Rolling a version out from where it is: the groups of all fleets as checkboxes, and what became of each."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Query, Request, Response

from fleets.api import rollouts as api
from fleets.api.rollouts_wire import RolloutStarted
from fleets.pages.rollouts.parts import status_tag
from headgate.configurations import service as configurations
from headgate.configurations.model import Configuration, VersionNotFound
from headgate.fleets.model import Fleet
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.instances.counting import fleets as counting
from headgate.instances.counting.fleets import CountedGroup
from headgate.instances.first_version import DiffersFromRunning
from headgate.rollouts import service as rollouts
from headgate.rollouts.model import Rollout
from web.commands import carry_out
from web.forms import filled, number_of
from web.html import NOTHING, Html, html
from web.layout import Frame, csrf_field, page, redirect
from web.pages import Form, Member, Visit, frame, page_router
from web.parts import Fields, hidden, home, tag
from web.table import CHOOSE_ALL, END, Column, Row, View, Viewed, in_order, table
from web.visitor import Visitor

router = page_router()

_PATH: Final = "/organizations/{organization_id}/fleets/roll-out"
# Fleets whose groups are listed, and groups of each.
_FLEETS: Final = 20
_GROUPS: Final = 50
_SILENT: Final = ("silent", "stale")
_WAYS: Final = (
    ("canary", "In steps: a canary first"),
    ("careful", "In steps: carefully"),
    ("fast", "In steps: fast"),
    ("all_at_once", "To all at once, and judged by the gates"),
)
_PAGE: Final = """\
<p class="small"><a href="{home}/configurations">Configurations</a> / <a href="{path}">{name}</a> /
<a href="{path}/versions/{n}">Version {n}</a></p><h1>Roll out {name} version {n}</h1>
{content}"""
_FORM: Final = """\
<form method="post" action="{home}/fleets/roll-out" id="chosen">{csrf}{ids}
<div class="card"><h2>Groups</h2>{groups}</div>
<div class="card"><h2>How</h2><div class="buttons">{all}</div><div class="two">{way}{message}</div>
<button>Start in the chosen groups</button></div></form>"""
_FIRST_FLEET: Final = """\
<div class="card"><h2>A fleet for your first host</h2><p class="soft">There is no group of hosts yet that could run this
version. Create a fleet of servers, whose page has the command that connects a host, or
<a href="{home}/fleets#new-fleet">a fleet of another type</a>.</p>
<form method="post" action="{home}/fleets">{csrf}{type}{label}<button>Create</button></form></div>"""
_COLUMNS: Final = (
    Column("Group", "group", lambda listed: listed.counted.group.name.casefold()),
    Column("Fleet", "fleet", lambda listed: listed.fleet.label.casefold()),
    Column("Runs now", "runs", lambda listed: listed.counted.configuration_name or ""),
    Column("Hosts", "hosts", lambda listed: sum(listed.counted.instances.values()), kind="number"),
    Column("Rollout"),
    END,
)
_REVIEW: Final = '<a href="{review}" aria-label="Review for {name} of {fleet}">Review</a>'
_ROLLOUT: Final = '<a href="{path}/rollouts/{id}">{status}</a>'
_STARTED: Final = """\
<h1>Roll out {name} version {n}</h1><div class="card">{table}</div>
<p><a href="{again}">Choose other groups</a></p>"""
_ASKED: Final = ("configuration_id", "version_number", "way", "message")
_CHOSEN: Final = re.compile(r"group\.flt_[0-9a-z]{26}\.dep_[0-9a-z]{26}")
_OUTCOME: Final = '<a href="{path}">{group}</a>'
_NOT_STARTED: Final = "{tag} {why}{places}{accept}"
_PLACES: Final = '<ul class="names">{places}</ul>'
_ACCEPT: Final = """\
<form method="post" action="{home}/fleets/roll-out">{csrf}{fields}<button class="danger">Start all the same</button>\
</form>"""


@dataclass(frozen=True, slots=True)
class _Listed:
    """A group of a fleet, with its collectors by state."""

    fleet: Fleet
    counted: CountedGroup


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The result for one group: the page of its rollout, or the reason why none was started."""

    path: str
    group: str
    refused: errors.HeadgateError | None = None
    choice: str = ""


@router.get(_PATH)
def show_roll_out(
    who: Visit,
    caller: Member,
    view: Viewed,
    configuration_id: Annotated[str, Query(max_length=100)] = "",
    version_number: Annotated[int, Query(ge=0, le=99_999_999)] = 0,
) -> Response:
    """The groups for the version that is named, or the newest published one; without one, the configurations."""
    if not configuration_id:
        return redirect(f"{home(caller)}/configurations")
    n = version_number or configurations.newest_published(caller, configuration_id)
    if n is None:
        raise VersionNotFound
    return _form_page(who, caller, configuration_id, n, view)


@router.post(_PATH)
def start_rollouts(request: Request, who: Visit, caller: Member, form: Form) -> Response:
    """Start a rollout in each chosen group. What is refused in one does not stop the others, and is shown."""
    configuration_id, n = form.get("configuration_id", ""), number_of(form.get("version_number", ""))
    if not isinstance(n, int):
        raise VersionNotFound
    body = {
        "configuration_id": configuration_id,
        "version_number": n,
        "strategy": {"preset": form.get("way", "canary")},
        **filled(form, "message"),
        "accept_differences": "accept_differences" in form,
    }
    chosen = [name.split(".")[1:] for name in form if _CHOSEN.fullmatch(name)]
    if not chosen:
        view = View(f"{home(caller)}/fleets/roll-out")
        return _form_page(who, caller, configuration_id, n, view, "Choose at least one group")
    outcomes: list[_Outcome] = []
    for fleet_id, deployment_id in chosen:
        arguments = {"fleet_id": fleet_id, "deployment_id": deployment_id}
        target = f"{home(caller)}/fleets/{fleet_id}/deployments/{deployment_id}"
        name = deployment_id
        try:
            name = counting.group(caller, fleet_id, deployment_id).group.name
            started = carry_out(request, api.start_rollout, caller, arguments, lambda: body)
        except errors.HeadgateError as error:
            outcomes.append(_Outcome(target, name, error, f"group.{fleet_id}.{deployment_id}"))
            continue
        assert isinstance(started, RolloutStarted)
        outcomes.append(_Outcome(f"{target}/rollouts/{started.id}", name))
    if len(outcomes) == 1 and not outcomes[0].refused:
        return redirect(outcomes[0].path)
    return _outcomes(who, caller, configurations.summary(caller, configuration_id), n, outcomes, form)


def _form_page(who: Visitor, caller: Caller, configuration_id: str, n: int, view: View, problem: str = "") -> Response:
    configuration, _ = configurations.snapshot(caller, configuration_id, n)
    listed = in_order(view, [*_listed(caller)], _COLUMNS)
    shown = frame(who, caller, "configurations")
    review = f"review?configuration_id={configuration_id}&version_number={n}"
    open_rollouts = {each.deployment_id: each for each in rollouts.open_in([each.counted.group for each in listed])}
    rows = [_row(caller, each, configuration, n, open_rollouts.get(each.counted.group.id), review) for each in listed]
    csrf, fields = csrf_field(shown), Fields()
    if rows:
        ways = html(
            _FORM,
            home=home(caller),
            csrf=csrf,
            ids=[hidden("configuration_id", configuration_id), hidden("version_number", str(n))],
            all=CHOOSE_ALL,
            groups=table(
                _COLUMNS,
                rows,
                view=view,
                filters={"configuration_id": configuration_id, "version_number": str(n)},
            ),
            way=fields.choice("way", "How", _WAYS, "canary"),
            message=fields.text("message", "Why", most=500, required=False, hint="Stands in the groups' history"),
        )
    else:
        label = fields.text("label", "Label", most=200)
        ways = html(_FIRST_FLEET, home=home(caller), csrf=csrf, type=hidden("type", "server-supervisor"), label=label)
    content = html(
        _PAGE,
        home=home(caller),
        path=f"{home(caller)}/configurations/{configuration_id}",
        name=configuration.name,
        n=n,
        content=ways,
    )
    status = 422 if problem else 200
    return page(shown, f"Roll out {configuration.name}", content, problem=problem, status=status)


def _listed(caller: Caller) -> Iterator[_Listed]:
    """The groups of the first fleets that are managed here; three reads for each fleet."""
    for fleet in counting.fleets(caller, _FLEETS, None).entries:
        if fleet.fleet.observed:
            continue
        for counted in counting.groups(caller, fleet.fleet.id, _GROUPS, None).entries:
            yield _Listed(fleet.fleet, counted)


def _row(
    caller: Caller, listed: _Listed, configuration: Configuration, n: int, rollout: Rollout | None, review: str
) -> Row:
    group, instances = listed.counted.group, listed.counted.instances
    path = f"{home(caller)}/fleets/{listed.fleet.id}/deployments/{group.id}"
    assigned = group.assignment
    outdated = assigned is not None and assigned.configuration_id == configuration.id and assigned.version_number != n
    hosts, silent = sum(instances.values()), sum(instances.get(state, 0) for state in _SILENT)
    runs = html('<span class="soft">nothing</span>') if assigned is None else NOTHING
    if assigned is not None:
        runs = html(
            '{name} <span class="soft">version {n}</span>',
            name=listed.counted.configuration_name or assigned.configuration_id,
            n=assigned.version_number,
        )
    return Row(
        (
            html("<strong>{name}</strong>", name=group.name),
            listed.fleet.label,
            runs,
            html("{hosts} {silent}", hosts=hosts, silent=tag(f"{silent} silent", "silent") if silent else NOTHING),
            html(_ROLLOUT, path=path, id=rollout.id, status=status_tag(rollout.status)) if rollout else NOTHING,
            html(_REVIEW, review=f"{path}/{review}", name=group.name, fleet=listed.fleet.label),
        ),
        choice=f"group.{listed.fleet.id}.{group.id}",
        label=f"{group.name} of {listed.fleet.label}",
        chosen=outdated and rollout is None,
    )


def _outcomes(
    who: Visitor,
    caller: Caller,
    configuration: Configuration,
    n: int,
    outcomes: Sequence[_Outcome],
    form: Mapping[str, str],
) -> Response:
    shown = frame(who, caller, "configurations")
    rows = [
        (
            html(_OUTCOME, path=outcome.path, group=outcome.group),
            _not_started(caller, shown, outcome.refused, outcome.choice, form)
            if outcome.refused
            else status_tag("in_progress"),
        )
        for outcome in outcomes
    ]
    again = f"{home(caller)}/fleets/roll-out?configuration_id={configuration.id}&version_number={n}"
    outcome = table(("Group", "Outcome"), rows)
    content = html(_STARTED, name=configuration.name, n=n, table=outcome, again=again)
    return page(shown, f"Roll out {configuration.name}", content)


def _not_started(
    caller: Caller, shown: Frame, refused: errors.HeadgateError, choice: str, form: Mapping[str, str]
) -> Html:
    """The reason; for a first version that differs from what hosts run also those hosts, and a button to accept it."""
    places, accept = NOTHING, NOTHING
    if isinstance(refused, DiffersFromRunning):
        places = html(_PLACES, places=[html("<li>{message}</li>", message=each.message) for each in refused.errors])
        fields = {name: form[name] for name in _ASKED if name in form} | {choice: "yes", "accept_differences": "yes"}
        accept = html(
            _ACCEPT,
            home=home(caller),
            csrf=csrf_field(shown),
            fields=[hidden(name, value) for name, value in fields.items()],
        )
    return html(_NOT_STARTED, tag=tag("not started", "bad"), why=refused.detail, places=places, accept=accept)
