"""The page of a rollout: its steps, how each collector of the group fares, the gates, and what can be done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from fastapi import Response

from fleets.api import rollouts as api
from fleets.pages.parts import named
from fleets.pages.rollouts import cockpit
from fleets.pages.rollouts.parts import acts, gate_words, notice, reach_of, status_tag, step_size, step_wait
from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment
from headgate.fleets import service as fleets
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.parameters import DeploymentId, FleetId, RolloutId
from headgate.instances.counting import fleets as counting
from headgate.rollouts import service as rollouts
from headgate.rollouts.hosts import Phase, RolloutHost
from headgate.rollouts.model import Rollout
from headgate.rollouts.strategy import Strategy
from web.commands import command
from web.html import NOTHING, Html, html
from web.pages import Here, page_router
from web.parts import empty, link, reason, second, tag
from web.table import Column, Row, View, Viewed, in_order, table

router = page_router()

_PATH: Final = "/organizations/{organization_id}/fleets/{fleet_id}/deployments/{deployment_id}/rollouts/{rollout_id}"
# The worst first.
_PHASE_TAGS: Final[Mapping[Phase, tuple[str, str]]] = {
    "failed": ("failed", "bad"),
    "silent": ("silent", "silent"),
    "left": ("left", "bad"),
    "going_back": ("goes back", "warn"),
    "not_moved": ("a person has to upgrade it", ""),
    "leaving": ("stopped, may be back", ""),
    "pending": ("changing", "busy"),
    "applied": ("runs it", "good"),
    "waiting": ("waiting", ""),
    "absent": ("not counted", ""),
}
_PHASES: Final = tuple(_PHASE_TAGS)
_BACK: Final[frozenset[Phase]] = frozenset({"waiting", "going_back", "absent"})
_MOVING: Final = ("in_progress", "rolling_back")
_SHOWN: Final = 100
_PAGE: Final = """\
<p class="small"><a href="{home}/fleets">Fleets</a> / <a href="{fleet_path}">{label}</a> /
<a href="{group_path}">{group}</a></p>
<div id="live" data-live="{live}"><h1>{version} {status}</h1>
<p class="soft">Instead of {before} · {by}, {at}{ended}</p>{upgrade}{variables}{message}
{reason}{acts}{progress}{failures}{gates}{notes}{not_moved}{hosts}{steps}</div>"""
_STEPS: Final = '<div class="card"><h2>Steps</h2>{table}</div>'
_STEP_COLUMNS: Final = ("Step", "Up to", "Then wait", "")
_HOSTS: Final = '<div class="card" id="hosts"><h2>Collectors</h2><p class="soft small">{count}</p>{table}</div>'
_VARIABLES: Final = "<p>It moves hosts to variables revision {revision}, from {before}. {names}</p>"
_UPGRADE: Final = "<p>It moves collectors to {version}, from {before}.</p>"
_NOT_MOVED: Final = """\
<div class="card"><h2>Collectors that a person has to upgrade</h2><p class="soft small">{count} of them</p>
<ul>{rows}</ul></div>"""
_HAS_TO_BE_MOVED: Final = '<li><a href="{path}/{id}">{name}</a>{message}</li>'
_NOTES: Final = '<div class="card"><h2>What happened</h2><ul>{notes}</ul></div>'
_FAILURES: Final = '<div class="card"><h2>Failing collectors</h2>{table}</div>'
_FAILURE_COLUMNS: Final = ("Host", "Gate", Column("Reason", kind="reason"))


@router.get(_PATH)
def show_rollout(
    here: Here, fleet_id: FleetId, deployment_id: DeploymentId, rollout_id: RolloutId, view: Viewed
) -> Response:
    """The rollout's page; after a refusal, with the reason."""
    caller = here.caller
    rollout, hosts = rollouts.hosts(caller, fleet_id, deployment_id, rollout_id)
    group = deployments.of_fleet(fleet_id, deployment_id)
    fleet_path = f"{here.home}/fleets/{fleet_id}"
    group_path = f"{fleet_path}/deployments/{deployment_id}"
    path, collectors = f"{group_path}/rollouts/{rollout_id}", f"{fleet_path}/collectors"
    title = named(rollout.to)
    content = html(
        _PAGE,
        home=here.home,
        fleet_path=fleet_path,
        label=fleets.get(caller, fleet_id).label,
        group_path=group_path,
        group=group.name,
        live="no"
        if rollout.is_final and rollout.strategy
        else "idle"
        if rollout.is_final
        else "yes"
        if rollout.status in _MOVING
        else "idle",
        version=title,
        status=_status(caller, group, rollout),
        before=named(rollout.before),
        by=rollout.created_by.name,
        at=second(rollout.created_at),
        ended=html(" · ended {at}", at=second(rollout.finished_at)) if rollout.finished_at else "",
        upgrade=html(
            _UPGRADE,
            version=rollout.upgrade.version,
            before=rollout.upgrade.before or "what was installed on each host",
        )
        if rollout.upgrade
        else NOTHING,
        variables=html(
            _VARIABLES,
            revision=rollout.variables.revision,
            before=rollout.variables.before or "those of each install",
            names=", ".join(rollout.variables.names),
        )
        if rollout.variables
        else NOTHING,
        not_moved=_not_moved(rollout, collectors),
        message=html("<p>{message}</p>", message=rollout.message) if rollout.message else NOTHING,
        reason=notice(rollout),
        progress=cockpit.progress(rollout, hosts),
        notes=html(_NOTES, notes=[html("<li>{note}</li>", note=note) for note in rollout.notes])
        if rollout.notes
        else NOTHING,
        failures=_failures(rollout, hosts, collectors),
        steps=_steps(rollout, rollout.strategy) if rollout.strategy else empty("It was assigned at once."),
        hosts=_hosts(rollout, hosts, collectors, view) if hosts else NOTHING,
        acts=acts(caller, path, here.csrf, rollout),
        gates=cockpit.gates(rollout, hosts, collectors),
    )
    return here.page("fleets", f"Rollout of {title}", content, script="live")


for _act, _operation in (
    ("pause", api.pause_rollout),
    ("resume", api.resume_rollout),
    ("promote", api.promote_rollout),
    ("approve", api.approve_rollout),
    ("retry", api.retry_rollout),
    ("abort", api.abort_rollout),
):
    command(
        router,
        f"{_PATH}/{_act}",
        _operation,
        "/fleets/{fleet_id}/deployments/{deployment_id}/rollouts/{rollout_id}",
        refused=show_rollout,
        refusals=(errors.Conflict, errors.Forbidden),
    )


def _status(caller: Caller, group: Deployment, rollout: Rollout) -> Html:
    if rollout.strategy is not None:
        return status_tag(rollout.status)
    counters = counting.counters(caller, group.fleet_id, [group])
    return reach_of(rollout, group, counters.counted(group).instances)


def _not_moved(rollout: Rollout, collectors: str) -> Html:
    rows = [
        html(
            _HAS_TO_BE_MOVED,
            path=collectors,
            id=each.instance_id,
            name=each.name,
            message=reason(each.message),
        )
        for each in rollout.not_moved
    ]
    count = rollout.hosts.not_moved if rollout.hosts else len(rows)
    return html(_NOT_MOVED, count=count, rows=rows) if rows else NOTHING


def _failures(rollout: Rollout, hosts: Sequence[RolloutHost], collectors: str) -> Html:
    """The collectors that the last judgement named, by the names of their hosts where these are still known."""
    names = {host.instance.id: host.instance.called for host in hosts}
    rows = [
        (
            link(f"{collectors}/{failure.instance_id}", names.get(failure.instance_id, failure.instance_id)),
            gate_words(failure.gate),
            failure.message,
        )
        for failure in rollout.failures
    ]
    return html(_FAILURES, table=table(_FAILURE_COLUMNS, rows)) if rows else NOTHING


def _steps(rollout: Rollout, strategy: Strategy) -> Html:
    rows = [
        (
            number,
            step_size(step),
            step_wait(step),
            _step_state(rollout, number),
        )
        for number, step in enumerate(strategy.steps, start=1)
    ]
    return html(_STEPS, table=table(_STEP_COLUMNS, rows))


def _step_state(rollout: Rollout, number: int) -> Html:
    current = rollout.progress.step
    if number > current:
        return tag("waiting") if not rollout.is_final else NOTHING
    if number < current or rollout.status == "completed":
        return tag("done", "good")
    if rollout.status == "halted":
        return tag("halted here", "bad")
    return tag("stopped here" if rollout.is_final or rollout.status == "rolling_back" else "under way")


def _hosts(rollout: Rollout, hosts: Sequence[RolloutHost], collectors: str, view: View) -> Html:
    """Those of the step under way and the worst first if no column sorts them, up to a page of them."""
    step, named = rollout.progress.step, cockpit.failed_before(rollout)

    def rank(host: RolloutHost) -> tuple[bool, int, bool]:
        return (
            host.instance.id not in named,
            _PHASES.index(host.phase),
            rollout.progress.step_of(host.place) != step,
        )

    def phase(host: RolloutHost) -> tuple[str, str]:
        """Return the tag of a host. One that went back keeps its failure, which shows why the rollout halted."""
        if host.instance.id in named and host.phase in _BACK:
            return "failed, went back", "bad"
        return _PHASE_TAGS[host.phase]

    def step_of(host: RolloutHost) -> int | None:
        return rollout.progress.step_of(host.place) if host.due else None

    columns = (
        Column("Host", "host", lambda host: host.instance.called.casefold()),
        Column("Step", "step", lambda host: step_of(host) or 0),
        Column("Status", "status", lambda host: _PHASES.index(host.phase)),
    )
    rows = [
        Row(
            (
                link(f"{collectors}/{host.instance.id}", host.instance.called),
                step_of(host) or "",
                tag(*phase(host)),
            ),
            below=reason(host.message or ""),
        )
        for host in in_order(view, sorted(hosts, key=rank), columns)[:_SHOWN]
    ]
    count = f"{len(hosts):,} of the group" + (f"; the first {_SHOWN} of them" if len(hosts) > _SHOWN else "")
    return html(_HOSTS, count=count, table=table(columns, rows, view=view, anchor="hosts"))
