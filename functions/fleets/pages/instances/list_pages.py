"""The page of a fleet's collectors: filters, what each runs, counted and reported, and orders to several at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, cast
from urllib.parse import urlencode

from fastapi import Depends, Query, Response

from fleets.api import instances as api
from fleets.pages import traffic
from fleets.pages.instances.changing import change_of, group_field, label_field
from fleets.pages.parts import by_version, no_collectors, state_tag, version
from headgate.deployments import service as deployments
from headgate.fleets import service as fleets
from headgate.foundation import clock, errors
from headgate.foundation.caller import Caller
from headgate.foundation.ids import is_id
from headgate.http.parameters import FleetId
from headgate.instances import details
from headgate.instances import service as instances
from headgate.instances.reported.host import HostCounters
from headgate.instances.service import InstanceFilter, SeenInstance
from headgate.instances.state.model import INSTANCE_STATES, InstanceState
from web import charts
from web.commands import Operation, carry_out
from web.forms import Filters
from web.html import NOTHING, Html, html
from web.pages import Form, Here, MemberPage, page_router
from web.parts import ENTRIES, Fields, ago, counted, hidden, home, reason, tag
from web.table import CHOOSE_ALL, Cell, Column, Columns, Listed, Row, View, Viewed, chips, listing, read, table

router = page_router()

_NUMBER: Final = r"[1-9][0-9]{0,8}"
_LABEL: Final = r"[^=]+=.*"
_PAGE: Final = """\
<p class="small"><a href="{home}/fleets">Fleets</a> / <a href="{home}/fleets/{fleet}">{label}</a></p>
<h1>Collectors</h1>
<form method="get" action="{path}" class="card" id="filters" role="search" aria-label="Filter the collectors">
<div class="row">
{state}{group}{host}{version}{with_label}{sort}<button class="plain">Filter</button></div></form>
<div class="card" id="results" data-live="idle">{chips}{list}</div>"""
_HOST: Final = '<a href="{path}/{id}" title="{platform}"><strong>{host}</strong></a>'
_GROUP: Final = '<a href="{home}/fleets/{fleet}/deployments/{deployment}">{group}</a>'
# Enter in the field sends the first button, which therefore is the one that labels.
_CHOSEN: Final = """\
<form method="post" action="{path}/orders" id="chosen" class="chosen"><div class="buttons">{csrf}{all}{buttons}</div>
<details><summary class="small">Label them, or move them to another group</summary>
<div class="row">{label}<button class="plain" name="order" value="label">Label</button>
{group}<button class="plain" name="order" value="move">Move</button></div></details></form>"""
_ORDER: Final = '<button class="plain small" name="order" value="{order}">{label}</button>'
_SET: Final = '<a class="tag" href="{path}?{query}" title="Collectors with this label">{label}</a>'
# Labels of a host that its row shows.
_MOST_LABELS: Final = 2
_OUTCOMES: Final = """\
<p class="small"><a href="{path}">Collectors</a></p><h1>{title}</h1><div class="card">{table}</div>"""
_ORDERS: Final[Mapping[str, tuple[str, Operation]]] = {
    "restart": ("Restart", api.restart_instance),
    "retry": ("Try the failed version again", api.retry_instance),
    "upgrade": ("Upgrade the supervisor", api.upgrade_supervisor),
}
# What changes hosts here, by the field that says how, and what the outcome is called.
_CHANGES: Final[Mapping[str, tuple[str, str, str]]] = {
    "label": ("Label", "set_label", "labelled"),
    "move": ("Move", "group", "moves with its next message"),
}
_REFUSED: Final[Mapping[str, str]] = {**dict.fromkeys(_ORDERS, "ordered"), "label": "labelled", "move": "moved"}
_CHOICE: Final = re.compile(r"ins_[0-9a-z]{26}")
_LABELS: Final[Mapping[str, str]] = {
    "state": "State",
    "deployment_id": "Group",
    "host": "Host",
    "version": "Version",
    "label": "Label",
}
_NONE_FOUND: Final = "No collector matches: remove a filter."


async def _filters(
    state: Annotated[str, Query(max_length=40)] = "",
    deployment_id: Annotated[str, Query(max_length=40)] = "",
    host: Annotated[str, Query(max_length=255)] = "",
    version: Annotated[str, Query(max_length=20)] = "",
    label: Annotated[str, Query(max_length=319)] = "",
) -> Filters[InstanceFilter]:
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
        return Filters(typed, InstanceFilter(), problems)
    filters = InstanceFilter(
        state=cast("InstanceState | None", state or None),
        deployment_id=deployment_id or None,
        version=int(typed["version"]) if typed["version"] else None,
        host=typed["host"] or None,
        label=cast("tuple[str, str] | None", tuple(typed["label"].split("=", 1)) if typed["label"] else None),
    )
    return Filters(typed, filters, {})


WithFilters = Annotated[Filters[InstanceFilter], Depends(_filters)]


@router.get("/organizations/{organization_id}/fleets/{fleet_id}/collectors")
def list_collectors(here: Here, fleet_id: FleetId, view: Viewed, filters: WithFilters) -> Response:
    caller = here.caller
    fleet = fleets.get(caller, fleet_id)
    path = f"{home(caller)}/fleets/{fleet_id}/collectors"
    groups = {group.id: group.name for group in deployments.deployments(caller, fleet_id, ENTRIES, None).entries}
    columns = _columns(groups)
    listed: Listed[SeenInstance] = Listed([])
    if not filters.problems:
        listed = read(
            view,
            lambda limit, after: instances.instances(caller, fleet_id, limit, after, filters.chosen),
            columns,
            ENTRIES,
        )
    content = html(
        _PAGE,
        home=home(caller),
        fleet=fleet.id,
        label=fleet.label,
        path=path,
        **_fields(filters, groups),
        sort=hidden("sort", view.sort) if view.sort else NOTHING,
        chips=chips(path, filters.typed, _LABELS, {"deployment_id": groups.get(filters.typed["deployment_id"], "")}),
        list=_list(here, view, listed, columns, filters.typed, groups),
    )
    status = 422 if filters.problems else 200
    return here.page("fleets", f"Collectors of {fleet.label}", content, status=status, script="search")


@router.post("/organizations/{organization_id}/fleets/{fleet_id}/collectors/orders")
def order_collectors(here: Here, fleet_id: FleetId, form: Form) -> Response:
    """Give an order to each chosen collector. What is refused for one does not stop the others, and is shown."""
    caller = here.caller
    fleet = fleets.get(caller, fleet_id)
    path = f"{home(caller)}/fleets/{fleet_id}/collectors"
    chosen = [name for name in form if _CHOICE.fullmatch(name)][:ENTRIES]
    order = form.get("order", "")
    if order not in _REFUSED or not chosen:
        raise errors.Invalid("Choose collectors in the list, then what to do with them")
    label, operation = _ORDERS.get(order, ("", api.change_instance))
    outcome, body = tag("ordered", "busy"), dict[str, object]()
    if order in _CHANGES:
        label, field, words = _CHANGES[order]
        outcome, body = tag(words, "good"), {**change_of({field: form.get(field, "")})}
        if not body:
            raise errors.Invalid("Say which label to set, or choose the group to move to")
    rows: list[Sequence[Cell]] = []
    for instance_id in chosen:
        host = html('<a href="{path}/{id}">{id}</a>', path=path, id=instance_id)
        try:
            seen = instances.seen(fleet, instance_id, clock.now())
            host = html('<a href="{path}/{id}">{host}</a>', path=path, id=instance_id, host=seen.instance.called)
            carry_out(here.request, operation, caller, {"fleet_id": fleet_id, "instance_id": instance_id}, lambda: body)
        except errors.Forbidden:
            raise
        except errors.HeadgateError as error:
            rows.append((host, html("{tag} {why}", tag=tag(f"not {_REFUSED[order]}", "bad"), why=error.detail)))
            continue
        rows.append((host, outcome))
    title = f"{label}: {counted(len(rows), 'collector')} of {fleet.label}"
    content = html(_OUTCOMES, path=path, title=title, table=table(("Host", "Outcome"), rows))
    ordered = any(said is outcome for _, said in rows)
    return here.page("fleets", title, content, outcome=path if ordered else "")


def _columns(groups: Mapping[str, str]) -> Columns:
    """The columns; what a host does not report comes first."""
    return (
        Column("Host", "host", lambda seen: seen.instance.called.casefold()),
        Column("Group", "group", lambda seen: groups.get(seen.instance.deployment_id, "")),
        Column("State", "state", lambda seen: INSTANCE_STATES.index(seen.state), kind="tight"),
        Column("Running", "running", lambda seen: by_version(seen.running)),
        Column("Assigned", "assigned", lambda seen: by_version(seen.assigned)),
        Column(
            "Collector",
            "collector",
            lambda seen: seen.instance.reported.description.collector_version or "",
            kind="tight",
        ),
        Column("Records/min", "rate", lambda seen: _rate(seen.instance.reported.host.counters), kind="number"),
        Column("Failed", "failed", lambda seen: _failed(seen.instance.reported.host.counters), kind="number"),
        Column("Last seen", "seen", lambda seen: seen.instance.contact.last_seen_at, kind="tight"),
    )


def _rate(counters: HostCounters | None) -> float:
    return counters.accepted * 60 / counters.seconds if counters and counters.seconds else -1


def _failed(counters: HostCounters | None) -> float:
    """The share of what exporters tried to send and could not."""
    return counters.failed / (counters.sent + counters.failed) if counters and counters.sent + counters.failed else -1


def _fields(filters: Filters[InstanceFilter], groups: Mapping[str, str]) -> dict[str, Html]:
    fields, numbers = filters.fields, "a whole number"
    states = [("", "Any"), *((state, state.replace("_", " ")) for state in INSTANCE_STATES)]
    return {
        "state": fields.choice("state", "State", states),
        "group": fields.choice("deployment_id", "Group", [("", "Any"), *groups.items()]),
        "host": fields.text("host", "Host", most=255, required=False, kind="search"),
        "version": fields.text("version", "Version", most=9, required=False, hint=numbers, pattern=_NUMBER),
        "with_label": fields.text(
            "label", "Label", most=319, required=False, kind="search", hint="key=value", pattern=_LABEL
        ),
    }


def _list(
    here: MemberPage,
    view: View,
    listed: Listed[SeenInstance],
    columns: Columns,
    typed: Mapping[str, str],
    groups: Mapping[str, str],
) -> Html:
    caller, fleet_path = here.caller, view.path.removesuffix("/collectors")
    names = details.names(caller, (version for seen in listed.entries for version in (seen.assigned, seen.running)))
    lines = traffic.lines_of_hosts([seen.instance for seen in listed.entries])
    rows = [
        _row(caller, view.path, seen, groups, names, lines.get(seen.instance.id, NOTHING)) for seen in listed.entries
    ]
    orders = html(
        _CHOSEN,
        path=view.path,
        csrf=here.csrf,
        all=CHOOSE_ALL,
        label=label_field(Fields()),
        group=group_field(Fields(), groups),
        buttons=[html(_ORDER, order=order, label=label) for order, (label, _) in _ORDERS.items()],
    )
    return listing(
        view,
        listed,
        columns,
        rows,
        "collector",
        no_collectors(fleet_path, fleet_path.rpartition("/")[2]),
        filters=typed,
        no_match=_NONE_FOUND,
        above=orders if caller.can_write else NOTHING,
        most=ENTRIES,
    )


def _labels(path: str, labels: Mapping[str, str]) -> list[Html]:
    """The first labels that people set on a host, each as a link to the hosts that have it."""
    shown = [f"{key}={value}" for key, value in sorted(labels.items())]
    tags = [html(_SET, path=path, query=urlencode({"label": label}), label=label) for label in shown[:_MOST_LABELS]]
    more = len(shown) - len(tags)
    return [html(" {tag}", tag=each) for each in tags] + ([html(" {n} more", n=more)] if more > 0 else [])


def _row(
    caller: Caller, path: str, seen: SeenInstance, groups: Mapping[str, str], names: Mapping[str, str], line: Html
) -> Row:
    instance = seen.instance
    described, counters = instance.reported.description, instance.reported.host.counters
    rate, failed = _rate(counters), _failed(counters)
    return Row(
        (
            html(
                "{host}{labels}",
                labels=_labels(path, instance.orders.labels),
                host=html(
                    _HOST,
                    path=path,
                    id=instance.id,
                    host=instance.called,
                    platform="/".join(part for part in (described.os, described.arch) if part),
                ),
            ),
            html(
                _GROUP,
                home=home(caller),
                fleet=instance.fleet_id,
                deployment=instance.deployment_id,
                group=groups.get(instance.deployment_id, instance.deployment_id),
            ),
            state_tag(seen.state),
            version(caller, seen.running, names),
            version(caller, seen.assigned, names)
            if seen.assigned != seen.running
            else html('<span class="soft">the same</span>'),
            described.collector_version or "",
            html("{rate} {line}", line=line, rate=charts.short(rate)) if rate >= 0 else line,
            f"{100 * failed:.1f} %" if failed > 0 else "0 %" if failed == 0 else "",
            ago(instance.contact.last_seen_at),
        ),
        below=reason(seen.state_message or ""),
        choice=instance.id if caller.can_write else "",
        label=instance.called,
    )
