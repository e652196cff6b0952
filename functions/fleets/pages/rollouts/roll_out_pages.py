"""Rolling a version out from where it is: the groups of all fleets as checkboxes, and what became of each."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Final

from fastapi import Query, Response

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
from web.layout import redirect
from web.pages import Form, Here, MemberPage, page_router
from web.parts import Fields, hidden, home, tag
from web.table import CHOOSE_ALL, END, Column, Row, View, Viewed, in_order, table

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


@router.get(_PATH)
def show_roll_out(
    here: Here,
    view: Viewed,
    configuration_id: Annotated[str, Query(max_length=100)] = "",
    version_number: Annotated[int, Query(ge=0, le=99_999_999)] = 0,
) -> Response:
    """The groups for the version that is named, or the newest published one; without one, the configurations."""
    if not configuration_id:
        return redirect(f"{here.home}/configurations")
    n = version_number or configurations.newest_published(here.caller, configuration_id)
    if n is None:
        raise VersionNotFound
    return _form_page(here, configuration_id, n, view)


@router.post(_PATH)
def start_rollouts(here: Here, form: Form) -> Response:
    """Start a rollout in each chosen group. What is refused in one does not stop the others, and is shown."""
    caller = here.caller
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
        view = View(f"{here.home}/fleets/roll-out")
        return _form_page(replace(here, form=form), configuration_id, n, view, "Choose at least one group")
    rows: list[tuple[Html, Html]] = []
    started: list[str] = []
    for fleet_id, deployment_id in chosen:
        arguments = {"fleet_id": fleet_id, "deployment_id": deployment_id}
        path, name = f"{here.home}/fleets/{fleet_id}/deployments/{deployment_id}", deployment_id
        try:
            name = counting.group(caller, fleet_id, deployment_id).group.name
            rollout = carry_out(here.request, api.start_rollout, caller, arguments, lambda: body)
        except errors.HeadgateError as error:
            why = _not_started(here, error, f"group.{fleet_id}.{deployment_id}", form)
            rows.append((html(_OUTCOME, path=path, group=name), why))
            continue
        assert isinstance(rollout, RolloutStarted)
        started.append(f"{path}/rollouts/{rollout.id}")
        rows.append((html(_OUTCOME, path=started[-1], group=name), status_tag("in_progress")))
    if len(rows) == len(started) == 1:
        return redirect(started[0])
    configuration = configurations.summary(caller, configuration_id)
    again = f"{here.home}/fleets/roll-out?configuration_id={configuration_id}&version_number={n}"
    content = html(_STARTED, name=configuration.name, n=n, table=table(("Group", "Outcome"), rows), again=again)
    return here.page("configurations", f"Roll out {configuration.name}", content, outcome=again if started else "")


def _form_page(here: MemberPage, configuration_id: str, n: int, view: View, problem: str = "") -> Response:
    caller = here.caller
    configuration, _ = configurations.snapshot(caller, configuration_id, n)
    listed = in_order(view, [*_listed(caller)], _COLUMNS)
    review = f"review?configuration_id={configuration_id}&version_number={n}"
    open_rollouts = {each.deployment_id: each for each in rollouts.open_in([each.counted.group for each in listed])}
    rows = [_row(caller, each, configuration, n, open_rollouts.get(each.counted.group.id), review) for each in listed]
    csrf, fields = here.csrf, Fields(here.form)
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
    return here.page("configurations", f"Roll out {configuration.name}", content, problem=problem, status=status)


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


def _not_started(here: MemberPage, refused: errors.HeadgateError, choice: str, form: Mapping[str, str]) -> Html:
    """The reason; for a first version that differs from what hosts run also those hosts, and a button to accept it."""
    places, accept = NOTHING, NOTHING
    if isinstance(refused, DiffersFromRunning):
        places = html(_PLACES, places=[html("<li>{message}</li>", message=each.message) for each in refused.errors])
        fields = {name: form[name] for name in _ASKED if name in form} | {choice: "yes", "accept_differences": "yes"}
        entered = [hidden(name, value) for name, value in fields.items()]
        accept = html(_ACCEPT, home=here.home, csrf=here.csrf, fields=entered)
    return html(_NOT_STARTED, tag=tag("not started", "bad"), why=refused.detail, places=places, accept=accept)
