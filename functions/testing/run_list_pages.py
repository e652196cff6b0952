"""The page with earlier test runs: what became of each, by configuration, pipeline and status."""

from collections.abc import Mapping
from typing import Annotated, Final, get_args

from fastapi import Query, Response

from headgate.configurations import search
from headgate.configurations import service as configurations
from headgate.foundation.caller import Caller
from headgate.foundation.ids import is_id
from headgate.runs import service as runs
from headgate.runs.model import ListedRun, Status, Wanted
from headgate.storage.page import Slice
from web.html import NOTHING, Html, html
from web.layout import page
from web.pages import Member, Visit, frame, page_router
from web.parts import ENTRIES, After, choice, empty, home, more, nothing_yet, second, suggested, tag, text

router = page_router()

_PAGE: Final = """\
<h1>Test runs</h1>
<form method="get" action="{path}" class="card" id="filters" role="search" aria-label="Filter the test runs">
<div class="row">{configuration}{pipeline}{status}<button class="plain">Filter</button></div></form>
<div class="card" id="results"><p class="soft small" role="status">{count}</p>{list}{more}</div>"""
_TABLE: Final = """\
<table><thead><tr><th>Started</th><th>Result</th><th>Configuration</th><th>Pipeline</th><th>By</th><th>Sample</th></tr>
</thead><tbody>{rows}</tbody></table>"""
_ROW: Final = """\
<tr><td class="when">{at}<div class="soft small"><code>{id}</code></div></td>
<td data-label="Result">{status} {rules}<div class="soft small">{reason}</div></td>
<td data-label="Configuration">{configuration}</td><td data-label="Pipeline"><code>{pipeline}</code></td>
<td data-label="By">{by}</td><td data-label="Sample">{again}</td></tr>"""
_VERSION: Final = '<a href="{path}">{name}</a> <span class="soft">version {n}</span>'
_AGAIN: Final = '<a href="{path}/run?run={id}" aria-label="Use it again: the sample of {id}">Use it again</a>'
_RUNS_FOR: Final = (
    "A test run sends a sample through a pipeline of a real collector and checks what comes out. Runs are kept for 30 "
    "days."
)
_FIRST: Final = """\
None yet: open a version of a <a href="{home}/configurations">configuration</a> and test it, or use
<code>headgate test run</code>."""
_NONE_FOUND: Final = "No test run is like that: leave something out."
_KINDS: Final[Mapping[str, str]] = {"Success": "good", "Fail": "bad", "Error": "bad"}


@router.get("/organizations/{organization_id}/runs")
def list_runs(
    who: Visit,
    caller: Member,
    after: After,
    configuration: Annotated[str, Query(max_length=200)] = "",
    configuration_id: Annotated[str, Query(max_length=200)] = "",
    pipeline: Annotated[str, Query(max_length=1_024)] = "",
    status: Annotated[str, Query(max_length=10)] = "",
) -> Response:
    path = f"{home(caller)}/runs"
    wanted_status = next((one for one in get_args(Status) if one == status), None)
    # Earlier links name it `configuration_id`.
    name = configuration.strip() or configuration_id.strip()
    typed = {"configuration": name, "pipeline": pipeline.strip(), "status": wanted_status or ""}
    configuration_id, problem = _called(caller, name)
    wanted = Wanted(configuration_id or None, typed["pipeline"] or None, wanted_status)
    none: Slice[ListedRun] = Slice([], None)
    part = none if problem else runs.listed(caller, wanted, ENTRIES, after)
    suggestions = [one.name for one in configurations.visible(caller, ENTRIES, None, "all").entries]
    found = {run.configuration_id for run in part.entries if run.configuration_id}
    names = configurations.names(caller.organization_id, found) if found else {}
    is_filtered = any(typed.values()) or after is not None
    nothing = empty(_NONE_FOUND) if is_filtered else nothing_yet(_RUNS_FOR, html(_FIRST, home=home(caller)))
    more_may_follow = "; there may be more on the next page" if part.position else ""
    content = html(
        _PAGE,
        path=path,
        configuration=suggested(
            "configuration",
            "Configuration",
            [*dict.fromkeys(suggestions)],
            name,
            most=200,
            required=False,
            hint="Its name, or its id",
            error=problem,
        ),
        pipeline=text("pipeline", "Pipeline", typed["pipeline"], most=1_024, required=False, kind="search"),
        status=choice("status", "Status", [("", "Any"), *((one, one) for one in get_args(Status))], typed["status"]),
        count=f"{len(part.entries)} shown{more_may_follow}",
        list=html(_TABLE, rows=[_row(caller, run, names) for run in part.entries]) if part.entries else nothing,
        more=more(path, part.position, typed),
    )
    return page(frame(who, caller, "runs"), "Test runs", content, status=422 if problem else 200, script="search")


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


def _row(caller: Caller, run: ListedRun, names: Mapping[str, str]) -> Html:
    path = f"{home(caller)}/configurations/{run.configuration_id}/versions/{run.version_number}"
    is_seen = run.is_of_version_seen_by(caller.principal)
    name = names.get(run.configuration_id or "") if is_seen else None
    version = html(_VERSION, path=path, name=name, n=run.version_number) if name else None
    rules = f"{run.rules_passed} of {run.rules} rules passed" if run.rules and run.rules_passed is not None else ""
    return html(
        _ROW,
        at=second(run.created_at),
        id=run.id,
        status=tag(run.status, _KINDS.get(run.status, "")),
        rules=rules,
        reason=run.reason,
        configuration=version or html('<span class="soft">{what}</span>', what=_without_page(run, is_seen)),
        pipeline=run.target_pipeline,
        by=run.created_by.name,
        again=html(_AGAIN, path=path, id=run.id) if name else NOTHING,
    )


def _without_page(run: ListedRun, is_seen: bool) -> str:
    if not run.configuration_id:
        return "a text"
    return "deleted" if is_seen else "another member's draft when it ran"
