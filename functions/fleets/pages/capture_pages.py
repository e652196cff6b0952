"""The page of a fleet's captures: ask a host for a sample of what passes a component, follow it, and use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import Query, Response

from fleets.api import captures as api
from headgate.captures import service as captures
from headgate.captures.model import LONGEST_CONDITION, LONGEST_SECONDS, MOST_RECORDS, Status
from headgate.captures.service import KnownCapture
from headgate.configurations import service as configurations
from headgate.configurations.pipelines import members, pipelines
from headgate.deployments import service as deployments
from headgate.deployments.model import Deployment
from headgate.fleets import service as fleets
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.foundation.ids import is_id
from headgate.http.parameters import FleetId
from web.commands import command
from web.forms import filled, number_of
from web.html import NOTHING, Html, html, joined
from web.pages import Here, MemberPage, page_router
from web.parts import ENTRIES, Fields, action, confirmed, home, link, nothing_yet, second, tag
from web.table import END, Column, Row, Viewed, listing, read

router = page_router()

_LIST_PATH: Final = "/fleets/{fleet_id}/captures"
_FLEET: Final = "/organizations/{organization_id}/fleets/{fleet_id}"
_PATH: Final = f"{_FLEET}/captures"
_KINDS: Final[Mapping[Status, str]] = {"completed": "good", "failed": "bad", "expired": "bad"}
_PAGE: Final = """\
<p class="small"><a href="{home}/fleets">Fleets</a> / <a href="{home}/fleets/{fleet}">{label}</a></p>
<h1>Captures</h1>
<div class="card" id="live" data-live="{live}">{list}</div>
<div class="card"><h2>Take a sample</h2>
<p class="soft">The host's collector restarts twice for it, and refuses telemetry for some 50 to 250 ms
each time. <a href="{home}/fleets/capture-redaction">Secrets are taken out</a> on the host. Captures are off in a group
until an Admin allows them on the group's page.</p>{form}</div>"""
_FORM: Final = """\
<form method="post" action="{path}">{csrf}{where}<div class="two">{pipeline}{component}</div>{condition}
<div class="two">{records}{seconds}</div><button>Take it</button></form>{graphs}"""
_GRAPH: Final = """\
<details data-fleet="{fleet}" data-deployment="{group}" data-configuration="{configuration}" data-version="{version}">
<summary>Choose in the graph of {name}</summary></details>"""
_OFF: Final = """\
<p class="last">No group of this fleet allows captures. <a href="{fleet}">Choose a group</a>, on whose page an Admin
allows them.</p>"""
# The texts that are read for what can be chosen.
_MOST_TEXTS: Final = 10
_FOR: Final = "A capture is a sample of up to 100 records that pass a component of a host's collector."
_FIRST: Final = "None yet: take one below. It can then be run through a version, or kept as a test."
_COLUMNS: Final = (
    Column("Host", "host", lambda known: known.capture.host_name or known.capture.instance_id),
    Column("Pipeline", "pipeline", lambda known: known.capture.target.pipeline),
    Column("After", "component", lambda known: known.capture.target.component),
    Column("Status"),
    Column("By", "by", lambda known: known.capture.created_by.name.casefold()),
    Column("Taken", "at", lambda known: known.capture.created_at),
    END,
)
_SAMPLE: Final = """\
<a class="button small" href="{home}/configurations/{configuration}/versions/{n}/run?{query}">Run it through the
version</a>"""


@router.get(_PATH)
def list_captures(
    here: Here, fleet_id: FleetId, view: Viewed, instance_id: Annotated[str, Query(max_length=40)] = ""
) -> Response:
    caller, fields = here.caller, here.fields()
    fleet = fleets.get(caller, fleet_id)
    path = f"{here.home}/fleets/{fleet_id}/captures"
    listed = read(view, partial(captures.captures, caller, fleet_id), _COLUMNS)
    rows = [_row(caller, path, here.csrf, known) for known in listed.entries]
    groups = deployments.deployments(caller, fleet_id, ENTRIES, None).entries
    allowing = [group for group in groups if group.captures_allowed]
    content = html(
        _PAGE,
        home=here.home,
        fleet=fleet.id,
        label=fleet.label,
        form=html(
            _FORM,
            path=path,
            csrf=here.csrf,
            **_fields(caller, allowing, fields, here.form.get("where", instance_id)),
            graphs=_graphs(allowing),
        )
        if allowing
        else html(_OFF, fleet=path.removesuffix("/captures")),
        live="yes" if any(known.capture.is_open(known.at) for known in listed.entries) else "idle",
        list=listing(view, listed, _COLUMNS, rows, "capture", nothing_yet(_FOR, _FIRST)),
    )
    problem = fields.problem(here.refused, "No sample is taken")
    script = "captures" if allowing else "live"
    return here.page("fleets", f"Captures of {fleet.label}", content, problem=problem, script=script)


def _asked(posted: MemberPage) -> Mapping[str, object]:
    form = posted.form
    where = form.get("where", "")
    place = "instance_id" if is_id("ins", where) else "deployment_id"
    numbers = {name: number_of(form.get(name, "").strip()) for name in ("max_records", "duration_seconds")}
    return {place: where, **filled(form, "pipeline", "component", "condition"), **numbers}


command(router, _PATH, api.start_capture, _LIST_PATH, body=_asked, refused=list_captures)
command(router, f"{_PATH}/{{capture_id}}/end", api.end_capture, _LIST_PATH, refused=list_captures)
command(router, f"{_PATH}/{{capture_id}}/delete", api.delete_capture, _LIST_PATH, refused=list_captures)
command(
    router,
    f"{_FLEET}/deployments/{{deployment_id}}/captures",
    api.allow_captures,
    "/fleets/{fleet_id}/deployments/{deployment_id}",
    body=lambda posted: {"allowed": posted.form.get("allowed") == "yes"},
)


def _fields(caller: Caller, groups: Sequence[Deployment], fields: Fields, where: str) -> dict[str, Html]:
    """The fields; pipelines and components are chosen among those of the versions that the groups are assigned."""
    places = [(group.id, f"Any host of {group.name}") for group in groups]
    chosen = [(where, f"The host {where}")] if is_id("ins", where) else []
    named, components = _graph(caller, groups)
    of_pipeline, of_component = "One that the host runs, such as logs", "A receiver or processor of the pipeline"
    return {
        "where": fields.choice("where", "Where", [*chosen, *places], where, placed="deployment_id"),
        "pipeline": fields.suggested("pipeline", "Pipeline", named, most=1_024, hint=of_pipeline),
        "component": fields.suggested("component", "After the component", components, most=1_024, hint=of_component),
        "condition": fields.text(
            *("condition", "Only records for which"),
            most=LONGEST_CONDITION,
            required=False,
            hint="A condition of OTTL",
        ),
        "records": fields.text("max_records", "Records, at most", str(MOST_RECORDS), most=3),
        "seconds": fields.text("duration_seconds", f"Seconds, {LONGEST_SECONDS} at most", "120", most=3),
    }


def _graphs(groups: Sequence[Deployment]) -> list[Html]:
    """The place of the graphs of the groups' assigned versions, which a script draws."""
    return [
        html(
            _GRAPH,
            fleet=group.fleet_id,
            group=group.id,
            configuration=group.assignment.configuration_id,
            version=group.assignment.version_number,
            name=group.name,
        )
        for group in groups
        if group.assignment
    ][:_MOST_TEXTS]


def _graph(caller: Caller, groups: Sequence[Deployment]) -> tuple[list[str], list[str]]:
    """The pipelines of what the groups are assigned, and the receivers and processors in them; one read each."""
    assigned = dict.fromkeys(group.assignment for group in groups if group.assignment)
    named: dict[str, None] = {}
    components: dict[str, None] = {}
    for version in [*assigned][:_MOST_TEXTS]:
        try:
            yaml = configurations.get_version(caller, version.configuration_id, version.version_number).yaml or ""
        except errors.NotFound:
            continue
        for pipeline in pipelines(yaml):
            named[pipeline] = None
            receivers, processors = members(yaml, pipeline) or ([], [])
            components.update(dict.fromkeys([*receivers, *processors]))
    return [*named], [*components]


def _row(caller: Caller, path: str, csrf: Html, known: KnownCapture) -> Row:
    capture = known.capture
    target, status, own = capture.target, capture.status(known.at), f"{path}/{capture.id}"
    lines = [
        f"{capture.records} records" if capture.ended_at else "",
        f"{capture.left_out} too large" if capture.left_out else "",
        f"secrets taken out of {capture.redacted} texts" if capture.redacted else "",
        f"ended by: {capture.reason.replace('_', ' ')}" if capture.reason else "",
    ]
    end = (
        action(f"{own}/end", csrf, "End it", "plain", subject=capture.id)
        if capture.is_open(known.at)
        else confirmed(f"{own}/delete", csrf, "Delete", "The sample is deleted for good.", subject=capture.id)
    )
    host = capture.host_name or capture.instance_id
    more = [html("<code>{condition}</code>", condition=target.condition)] if target.condition != "true" else []
    more += [html('<p class="error">{error}</p>', error=capture.error)] if capture.error else []
    return Row(
        (
            link(f"{path.removesuffix('/captures')}/collectors/{capture.instance_id}", host),
            html("<code>{pipeline}</code>", pipeline=target.pipeline),
            html("<code>{component}</code>", component=target.component),
            html("{tag} {told}", tag=tag(status, _KINDS.get(status, "")), told="; ".join(filter(None, lines))),
            capture.created_by.name,
            second(capture.created_at),
            html("{sample} {end}", sample=_sample(caller, known) if capture.records else NOTHING, end=end),
        ),
        below=joined(more),
    )


def _sample(caller: Caller, known: KnownCapture) -> Html:
    """A link to the page that runs the sample through the version that the host ran."""
    capture = known.capture
    sample = f"/fleets/{capture.fleet_id}/captures/{capture.id}/sample"
    return html(
        _SAMPLE,
        home=home(caller),
        configuration=capture.version.configuration_id,
        n=capture.version.version_number,
        query=urlencode({"pipeline": capture.target.pipeline, "sample": sample}, safe="/"),
    )
