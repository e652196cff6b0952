"""The overview of a configuration and the list of its versions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Final

from fastapi import Response

from configurations.use_parts import validity
from headgate.checker import verdicts
from headgate.configurations import service as configurations
from headgate.configurations.model import Version
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.http.parameters import ConfigurationId
from headgate.instances.series import costs
from headgate.instances.series import service as series
from headgate.instances.series.model import ACCEPTED, HOUR
from headgate.instances.series.service import Range, Series
from headgate.usage import service as usage
from headgate.usage.model import CountedUse
from headgate.version_tests import service as version_tests
from web import charts, cost_card
from web.html import NOTHING, Html, html
from web.pages import Here, page_router
from web.parts import counted, empty, home, link, moment, tag
from web.rates import per_minute, summed
from web.table import Cell, Column, View, Viewed, pages, read, table
from web.workspace import heading, path_of

router = page_router()

_PATH: Final = "/organizations/{organization_id}/configurations/{configuration_id}"
_DAY: Final = timedelta(days=1)
# Each group's numbers are a query.
_MOST_RATES: Final = 20
_OVERVIEW: Final = """\
{heading}<div class="tiles" id="now" data-live="idle">
<a class="tile" href="{path}/edit"><span class="soft small">Version {n}</span><span id="validity">{validity}</span></a>
<a class="tile" href="{path}/tests"><span class="soft small">Tests</span>{tests}</a>
<a class="tile" href="#where"><span class="soft small">Collectors that run it</span>{hosts}</a>
<div class="tile"><span class="soft small">Records taken</span>{rate}</div></div>
<div class="card" id="graph" data-configuration="{id}" data-version="{n}" data-path="{path}" hidden>
<h2>Pipelines of version {n}</h2></div>
<div class="card" id="where" data-live="idle"><h2>Where it runs</h2>{uses}</div>{costs}
<div class="card"><div class="heading"><h2>Text of version {n}</h2>
<a class="button small" href="{path}/versions/{n}">Open version {n}</a></div>
<pre id="yaml" tabindex="0" aria-label="YAML"><code>{yaml}</code></pre></div>"""
_HOSTS: Final = '<strong>{running}</strong><span class="soft small">of {total} in {groups}</span>'
_TESTS: Final = "<strong>{n}</strong><span>{state}</span>"
_FLEET: Final = '<a href="{path}">{fleet}</a>'
_VERSIONS: Final = """\
{heading}<div class="card">{pages}{table}{compare}</div>"""
_COMPARE: Final = '<p class="small last"><a href="{path}/compare">Compare versions</a></p>'
_VERSION: Final = """\
<a href="{path}"><strong>Version {n}</strong></a> <span class="soft small">{description}</span>"""
_USE_COLUMNS: Final = ("Group", "Fleet", "Version", "Collectors that run it", "Records taken")
_VERSION_COLUMNS: Final = (
    Column("Version", "n", lambda version: version.n),
    Column("Status", "status", lambda version: (version.status, version.n)),
    Column("Collector", "collector", lambda version: [int(part) for part in version.collector_version.split(".")]),
    Column("Created by", "by", lambda version: version.created_by.name.casefold()),
    Column("Created"),
)


@router.get(_PATH)
def show_configuration(here: Here, configuration_id: ConfigurationId, view: Viewed) -> Response:
    caller = here.caller
    configuration, version = configurations.get(caller, configuration_id)
    uses = usage.by_groups(caller, [configuration_id])[configuration_id]
    day = _day_of(uses)
    content = html(
        _OVERVIEW,
        heading=heading(caller, configuration, ""),
        path=path_of(caller, configuration_id),
        id=configuration_id,
        n=version.n,
        validity=_validity(caller, version),
        tests=_tests(configuration_id, version),
        hosts=_hosts(uses),
        rate=_line([*day.values()]),
        uses=_uses(caller, uses, day),
        costs=_costs(caller, uses, view),
        yaml=version.yaml,
    )
    return here.page("configurations", configuration.name, content, script="configuration")


@router.get(f"{_PATH}/versions")
def list_versions(here: Here, configuration_id: ConfigurationId, view: Viewed) -> Response:
    caller = here.caller
    configuration = configurations.summary(caller, configuration_id)
    source = partial(configurations.versions, caller, configuration_id)
    listed = read(view, source, _VERSION_COLUMNS)
    path = path_of(caller, configuration_id)
    content = html(
        _VERSIONS,
        heading=heading(caller, configuration, "versions"),
        compare=html(_COMPARE, path=path) if configuration.latest_version > 1 else NOTHING,
        pages=pages(view, listed, {}, "version"),
        table=table(_VERSION_COLUMNS, [_version(path, version) for version in listed.entries], view=view),
    )
    return here.page("configurations", f"Versions of {configuration.name}", content)


def _validity(caller: Caller, version: Version) -> Html:
    """The last verdict on this text."""
    text = (verdicts.digest(version.yaml or ""), version.collector_version)
    return validity(verdicts.remembered(caller.organization_id, {version.n: text}).get(version.n))


def _tests(configuration_id: str, version: Version) -> Html:
    """The number of the version's tests, and the result of its last suite."""
    tests, recorded = version_tests.with_evidence(configuration_id, version.n)
    if not tests.tests:
        return html('<span class="soft small">none yet</span>')
    subject = version_tests.subject(version.yaml or "", version.collector_version, version.feature_gates)
    current = next((entry for entry in recorded.entries if version_tests.is_current(entry, tests, subject)), None)
    if current is None:
        state = tag("not run since the last change", "warn")
    else:
        state = tag("passed", "good") if current.passed else tag("failed", "bad")
    return html(_TESTS, n=len(tests.tests), state=state)


def _hosts(uses: Sequence[CountedUse]) -> Html:
    if not uses:
        return html('<span class="soft small">in use nowhere</span>')
    groups = len({use.use.deployment_id for use in uses})
    return html(
        _HOSTS,
        running=f"{sum(use.instances.get('applied', 0) for use in uses):,}",
        total=f"{sum(sum(use.instances.values()) for use in uses):,}",
        groups=counted(groups, "group"),
    )


def _day_of(uses: Sequence[CountedUse]) -> dict[str, Series]:
    """Traffic of each group that uses it, in each hour of the last day."""
    now = clock.now()
    groups = [*dict.fromkeys(counted.use.deployment_id for counted in uses)][:_MOST_RATES]
    known = series.of_groups(groups, Range.of(now - _DAY, now, HOUR))
    return {id: numbers for id, numbers in known.items() if numbers.lines}


def _line(groups: Sequence[Series]) -> Html:
    """A line of what these groups took together."""
    values = summed(per_minute(numbers, numbers.lines[0], ACCEPTED) for numbers in groups)
    return charts.sparkline(values, "Records a minute", "/min")


def _uses(caller: Caller, uses: Sequence[CountedUse], day: dict[str, Series]) -> Html:
    if not uses:
        return empty("No deployment group is assigned a version of it.")
    return table(_USE_COLUMNS, [_use(caller, counted, day.get(counted.use.deployment_id)) for counted in uses])


def _use(caller: Caller, counted: CountedUse, numbers: Series | None) -> Sequence[Cell]:
    use = counted.use
    total, running = sum(counted.instances.values()), counted.instances.get("applied", 0)
    fleet = f"{home(caller)}/fleets/{use.fleet_id}"
    return (
        link(f"{fleet}/deployments/{use.deployment_id}", use.deployment_name),
        html(_FLEET, path=fleet, fleet=use.fleet_label),
        html(
            "version {n} {rollout}",
            n=use.version_number,
            rollout=tag("rolling out", "busy") if use.kind == "rollout" else NOTHING,
        ),
        f"{running:,} of {total:,}" if total else "none reports",
        _line([numbers]) if numbers and use.kind != "rollout" else NOTHING,
    )


def _costs(caller: Caller, uses: Sequence[CountedUse], view: View) -> Html:
    """Exports of the groups that are assigned it, or that a rollout takes to it."""
    groups = dict.fromkeys((counted.use.fleet_id, counted.use.deployment_id) for counted in uses)
    if not groups:
        return NOTHING
    known = costs.of_groups(caller, groups, cost_card.DAYS)
    return cost_card.card(caller, known, view, " in these groups together")


def _version(path: str, version: Version) -> Sequence[Cell]:
    return (
        html(_VERSION, path=f"{path}/versions/{version.n}", n=version.n, description=version.description),
        tag("published", "good") if version.status == "published" else tag("draft"),
        version.collector_version,
        version.created_by.name,
        moment(version.created_at),
    )
