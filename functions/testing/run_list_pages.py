"""The pages with earlier test runs, of all configurations and of one: what became of each, and the way to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal, get_args

from fastapi import Query, Response

from headgate.configurations import search
from headgate.configurations import service as configurations
from headgate.foundation.caller import Caller
from headgate.foundation.ids import is_id
from headgate.http.parameters import ConfigurationId
from headgate.runs import service as runs
from headgate.runs.model import ListedRun, RunFilter, Status
from web.html import Html, html
from web.pages import Here, page_router
from web.parts import Fields, home, nothing_yet, second, tag
from web.table import Cell, Column, Listed, View, Viewed, chips, listing, read
from web.workspace import heading, path_of

router = page_router()

_PAGE: Final = """\
{heading}
<form method="get" action="{path}" class="card" id="filters" role="search" aria-label="Filter the test runs">
<div class="row">{configuration}{pipeline}{status}<button class="plain">Filter</button></div></form>
<div class="card" id="results" data-live="idle">{chips}{list}</div>"""
_LINK: Final = '<a href="{path}/run?run={id}"><strong>{at}</strong></a>'
_VERSION: Final = '<a href="{path}">{name}</a> <span class="soft">version {n}</span>'
_RESULT: Final = '{status} {rules} <span class="soft small">{reason}</span>'
_RUNS_FOR: Final = (
    "A test run sends a sample through a pipeline of a real collector and checks what comes out. Runs are kept for 30 "
    "days."
)
_FIRST: Final = """\
None yet: open a version of a <a href="{home}/configurations">configuration</a> and test it, or use
<code>headgate test run</code>."""
_NO_MATCH: Final = "No test run matches: remove a filter."
_KINDS: Final[Mapping[str, str]] = {"Success": "good", "Fail": "bad", "Error": "bad"}
_LABELS: Final[Mapping[str, str]] = {"configuration": "Configuration", "pipeline": "Pipeline", "status": "Status"}
_COLUMNS: Final = (
    Column("Started", "started", lambda run: run.created_at),
    Column("Result", "result", lambda run: (run.status, run.created_at)),
    Column("Configuration", "configuration", lambda run: (run.configuration_id or "", run.version_number or 0)),
    Column("Pipeline", "pipeline", lambda run: run.target_pipeline),
    Column("By", "by", lambda run: run.created_by.name.casefold()),
)
Pipeline = Annotated[str, Query(max_length=1_024)]
WithStatus = Annotated[str, Query(max_length=10)]


@router.get("/organizations/{organization_id}/runs")
def list_runs(
    here: Here,
    view: Viewed,
    configuration: Annotated[str, Query(max_length=200)] = "",
    configuration_id: Annotated[str, Query(max_length=200)] = "",
    pipeline: Pipeline = "",
    status: WithStatus = "",
) -> Response:
    caller = here.caller
    # Earlier links name it `configuration_id`.
    name = configuration.strip() or configuration_id.strip()
    configuration_id, problem = _called(caller, name)
    filters = {"configuration": name, "pipeline": pipeline.strip(), "status": _status(status)}
    listed: Listed[ListedRun] = Listed([]) if problem else _read(caller, view, configuration_id, filters)
    suggestions = [entry.name for entry in configurations.visible(caller, 100, None, "all").entries]
    field = Fields(filters, {"configuration": problem}).suggested(
        "configuration",
        "Configuration",
        [*dict.fromkeys(suggestions)],
        most=200,
        required=False,
        hint="Its name, or its id",
    )
    content = _content(caller, view, listed, filters, html("<h1>Test runs</h1>"), field)
    return here.page("runs", "Test runs", content, status=422 if problem else 200, script="search")


@router.get("/organizations/{organization_id}/configurations/{configuration_id}/runs")
def list_runs_of_configuration(
    here: Here, configuration_id: ConfigurationId, view: Viewed, pipeline: Pipeline = "", status: WithStatus = ""
) -> Response:
    caller = here.caller
    configuration = configurations.summary(caller, configuration_id)
    filters = {"pipeline": pipeline.strip(), "status": _status(status)}
    listed = _read(caller, view, configuration_id, filters)
    content = _content(caller, view, listed, filters, heading(caller, configuration, "runs"))
    return here.page("configurations", f"Test runs of {configuration.name}", content, script="search")


def _status(word: str) -> Status | Literal[""]:
    return next((status for status in get_args(Status) if status == word), "")


def _read(caller: Caller, view: View, configuration_id: str, filters: Mapping[str, str]) -> Listed[ListedRun]:
    query = RunFilter(configuration_id or None, filters["pipeline"] or None, _status(filters["status"]) or None)
    return read(view, lambda limit, after: runs.listed(caller, query, limit, after), _COLUMNS)


def _content(
    caller: Caller,
    view: View,
    listed: Listed[ListedRun],
    filters: Mapping[str, str],
    title: Html,
    configuration: Html | str = "",
) -> Html:
    """The list under its filters; `configuration` is the field that filters by one."""
    ids = {run.configuration_id for run in listed.entries if run.configuration_id}
    names = configurations.names(caller.organization_id, ids) if ids else {}
    fields, first = Fields(filters), nothing_yet(_RUNS_FOR, html(_FIRST, home=home(caller)))
    rows = [_row(caller, run, names) for run in listed.entries]
    statuses = [("", "Any"), *((status, status) for status in get_args(Status))]
    return html(
        _PAGE,
        heading=title,
        path=view.path,
        configuration=configuration,
        pipeline=fields.text("pipeline", "Pipeline", most=1_024, required=False, kind="search"),
        status=fields.choice("status", "Status", statuses),
        chips=chips(view.path, filters, _LABELS),
        list=listing(view, listed, _COLUMNS, rows, "run", first, filters=filters, no_match=_NO_MATCH),
    )


def _called(caller: Caller, name: str) -> tuple[str, str]:
    """The id of the configuration of that name, empty for no name; or what is wrong with the name.

    An id is taken as it is: runs of a configuration that was deleted are listed until they are.
    """
    if not name or is_id("cfg", name):
        return name, ""
    try:
        return search.called(caller, name, "configuration").id, ""
    except search.NotFoundByName as error:
        return "", error.detail


def _row(caller: Caller, run: ListedRun, names: Mapping[str, str]) -> Sequence[Cell]:
    """A run; its time opens it, unless it ran a text, or a version that the caller does not see."""
    path = f"{path_of(caller, run.configuration_id or '')}/versions/{run.version_number}"
    is_seen = run.is_of_version_seen_by(caller.principal)
    name = names.get(run.configuration_id or "") if is_seen else None
    rules = f"{run.rules_passed} of {run.rules} rules passed" if run.rules and run.rules_passed is not None else ""
    at = second(run.created_at)
    return (
        html(_LINK, path=path, id=run.id, at=at) if name else at,
        html(_RESULT, status=tag(run.status, _KINDS.get(run.status, "")), rules=rules, reason=run.reason),
        html(_VERSION, path=path, name=name, n=run.version_number)
        if name
        else html('<span class="soft">{what}</span>', what=_without_page(run, is_seen)),
        html("<code>{pipeline}</code>", pipeline=run.target_pipeline),
        run.created_by.name,
    )


def _without_page(run: ListedRun, is_seen: bool) -> str:
    if not run.configuration_id:
        return "a text"
    return "deleted" if is_seen else "another member's draft when it ran"
