"""The pages of what observed collectors run: findings of one and of a fleet, and the draft that adopts one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import Query, Response

from fleets.api import reported_findings
from fleets.api.observed_wire import FleetFindingOut
from headgate.checker import Asker, collector_versions
from headgate.fleets import service as fleets
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.parameters import FleetId, InstanceId
from headgate.http.statuses import status_of
from headgate.instances import adopting
from headgate_engine.validation.findings import ListedFinding
from web.html import NOTHING, Html, html
from web.pages import Here, MemberPage, page_router
from web.parts import Fields, empty, hidden, tag

router = page_router()

_FLEET: Final = "/organizations/{organization_id}/fleets/{fleet_id}"
_HOST: Final = f"{_FLEET}/collectors/{{instance_id}}"
To = Annotated[str, Query(max_length=40)]
Collector = Annotated[str, Query(max_length=255, description="One of the collectors that a bridge reports")]

_PAGE: Final = """\
<p class="small"><a href="{home}/fleets">Fleets</a> / <a href="{fleet_path}">{label}</a>{where}</p>
<h1>{title}</h1>{content}"""
_WHERE: Final = ' / <a href="{path}">{host}</a>'
_TO: Final = """\
<form method="get" action="{path}" class="row card">{choice}{collector}<button class="plain">Check</button></form>"""
_CHOICE: Final = '<div class="card"><p>The bridge reports several collectors:</p><ul>{rows}</ul></div>'
_COLLECTOR: Final = '<li><a href="{path}?collector={query}">{name}</a></li>'
_CHOSEN: Final = '<p><strong>{name}</strong> · <a href="{path}">Another collector</a></p>'
_FINDINGS: Final = '<div class="card"><p class="soft">{verdict}</p><ul class="plain">{rows}</ul></div>'
_FINDING: Final = """\
<li><div>{severity} <strong>{message}</strong>
<div class="small soft">{place} {hosts}</div>{way_out}</div></li>"""
_ADOPT: Final = """\
<div class="card"><ul>{notes}</ul>{variables}
<form method="post" action="{home}/configurations/new">{csrf}{yaml}{name}<button>Create the draft</button></form></div>
{difference}<div class="card"><h2>The draft</h2><pre tabindex="0" aria-label="The draft">{text}</pre></div>"""
_VARIABLES: Final = "<h2>Variables to set</h2><ul>{rows}</ul>"
_DIFFERENCE: Final = """\
<div class="card"><h2>Difference to what it runs</h2>
<pre tabindex="0" aria-label="Difference">{difference}</pre></div>"""
_SEVERITIES: Final = {"error": "bad", "warning": "warn"}


@router.get(f"{_FLEET}/findings")
def show_fleet_findings(here: Here, fleet_id: FleetId, to: To = "") -> Response:
    """Show what is wrong with the configurations of a fleet, with the number of hosts that have it."""
    findings = reported_findings.of_fleet(here.caller, fleet_id, to or None)
    verdict = f"{findings.checked} configurations checked; {findings.without_findings} collectors have no finding"
    if findings.not_checked:
        verdict += f"; configurations of {findings.not_checked} collectors were not checked"
    rows = [_finding(each, _hosts(each)) for each in findings.items]
    content = [_target(here.caller, f"{here.home}/fleets/{fleet_id}/findings", to), _listed(verdict, rows)]
    return _shown(here, fleet_id, "What is wrong in this fleet", content)


@router.get(f"{_HOST}/findings")
def show_findings(
    here: Here, fleet_id: FleetId, instance_id: InstanceId, to: To = "", collector: Collector = ""
) -> Response:
    """Show what is wrong with what a collector runs, on its version and on another one."""
    path, title = f"{here.home}/fleets/{fleet_id}/collectors/{instance_id}", "What is wrong with it"
    about = f"{path}/findings"
    try:
        findings = reported_findings.of_host(here.caller, fleet_id, instance_id, to or None, collector or None)
    except (errors.NotFound, errors.Invalid) as error:
        return _refused(here, fleet_id, title, path, about, error)
    result = findings.result
    nearest = "" if findings.exact else f", the nearest to {findings.reported_version or 'its own'} here"
    works = result.valid or result.valid_on_host
    verdict = f"It {'works' if works else 'is refused'} on collector {findings.version}{nearest}"
    if findings.upgrade:
        changed = sum(kind.source == "upgrade" for kind in reported_findings.kinds(findings))
        new = len(findings.upgrade.new_errors)
        breaks = (
            f"breaks with {new} new errors"
            if new
            else "works"
            if findings.upgrade.verdict.target.accepts
            else "is refused"
        )
        verdict += f". It {breaks} on {findings.upgrade.target}, where {changed} things are otherwise"
    rows = [_finding(each) for each in reported_findings.kinds(findings)]
    content = [_chosen(about, collector), _target(here.caller, about, to, collector), _listed(verdict, rows)]
    return _shown(here, fleet_id, title, content, path)


@router.get(f"{_HOST}/adopt")
def show_adoption(here: Here, fleet_id: FleetId, instance_id: InstanceId, collector: Collector = "") -> Response:
    """Show the draft that adopts what a collector runs, with the form that creates it."""
    path, title = f"{here.home}/fleets/{fleet_id}/collectors/{instance_id}", "Adopt its configuration"
    about = f"{path}/adopt"
    try:
        adoption = reported_findings.adoption(here.caller, fleet_id, instance_id, collector or None)
    except (errors.NotFound, errors.Invalid) as error:
        return _refused(here, fleet_id, title, path, about, error)
    rows = [
        html("<li><code>{name}</code> at <code>{path}</code></li>", name=each.name, path=each.component_path)
        for each in adoption.variables
    ]
    content = html(
        _ADOPT,
        notes=[html("<li>{note}</li>", note=note) for note in adoption.notes],
        variables=html(_VARIABLES, rows=rows) if rows else NOTHING,
        home=here.home,
        csrf=here.csrf,
        yaml=hidden("yaml", adoption.yaml),
        name=Fields().text("name", "Name of the configuration", adoption.name, most=200),
        difference=html(_DIFFERENCE, difference=adoption.difference) if adoption.difference else NOTHING,
        text=adoption.yaml,
    )
    return _shown(here, fleet_id, title, [_chosen(about, collector), content], path)


def _refused(
    here: MemberPage, fleet_id: str, title: str, path: str, about: str, error: errors.HeadgateError
) -> Response:
    """The reason; for a bridge of several collectors, a link for each of them instead."""
    if not isinstance(error, adopting.CollectorNotNamed):
        return _shown(here, fleet_id, title, [empty(error.detail)], path, status_of(error))
    rows = [html(_COLLECTOR, path=about, query=quote(name, safe=""), name=name) for name in error.collectors]
    return _shown(here, fleet_id, title, [html(_CHOICE, rows=rows)], path)


def _chosen(path: str, collector: str) -> Html:
    return html(_CHOSEN, name=collector, path=path) if collector else NOTHING


def _target(caller: Caller, path: str, to: str, collector: str = "") -> Html:
    """The choice of another collector version."""
    installed = collector_versions.listed(20, None, asker=Asker.of(caller)).entries
    versions = [("", "Only its own version"), *((each.version, f"Also {each.version}") for each in installed)]
    return html(
        _TO,
        path=path,
        choice=Fields().choice("to", "Collector version", versions, to),
        collector=hidden("collector", collector) if collector else NOTHING,
    )


def _listed(verdict: str, rows: Sequence[Html]) -> Html:
    return html(_FINDINGS, verdict=verdict, rows=rows or [empty("Nothing was found.")])


def _finding(each: FleetFindingOut | ListedFinding | reported_findings.FindingKind, hosts: str = "") -> Html:
    return html(
        _FINDING,
        severity=tag(each.severity, _SEVERITIES.get(each.severity, "")),
        message=each.message,
        place=each.component_path,
        hosts=hosts,
        way_out=html('<div class="small">{words}</div>', words=each.way_out) if each.way_out else NOTHING,
    )


def _hosts(each: FleetFindingOut) -> str:
    named = ", ".join(each.hosts) + (", …" if each.count > len(each.hosts) else "")
    return f"{each.count} {'host has' if each.count == 1 else 'hosts have'} this: {named}"


def _shown(
    here: MemberPage, fleet_id: str, title: str, content: Sequence[Html], host: str = "", status: int = 200
) -> Response:
    shown = html(
        _PAGE,
        home=here.home,
        fleet_path=f"{here.home}/fleets/{fleet_id}",
        label=fleets.get(here.caller, fleet_id).label,
        where=html(_WHERE, path=host, host="Collector") if host else NOTHING,
        title=title,
        content=content,
    )
    return here.page("fleets", title, shown, status=status)
