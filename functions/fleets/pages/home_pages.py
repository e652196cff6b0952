"""The page that an organization begins with: what needs somebody now, and how to begin where there is nothing yet."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from fastapi import Response

from fleets.api.overview import page_of
from fleets.pages import traffic
from fleets.pages.parts import KINDS
from headgate.foundation.caller import Caller
from headgate.instances.counting.fleets import CountedFleet
from headgate.instances.series.service import Series
from headgate.instances.state.model import INSTANCE_STATES, InstanceState
from headgate.overview import service
from headgate.overview.model import Notice, NoticeKind, Overview
from web import charts
from web.charts import ChartPart
from web.html import NOTHING, Html, html, separated
from web.pages import Here, page_router
from web.parts import home, link, moment, tag
from web.table import Cell, Column, Row, View, Viewed, in_order, table

router = page_router()

# What is older is grey: whoever was to see it has seen it.
_OLD: Final = timedelta(days=1)
_TITLES: Final[dict[NoticeKind, tuple[str, str]]] = {
    "rollback_failed": ("Not rolled back", "bad"),
    "rollout_halted": ("Rollout halted", "bad"),
    "rollout_rolled_back": ("Rolled back", "bad"),
    "apply_failed": ("Not applied", "bad"),
    "hosts_silent": ("Silent", "silent"),
    "rollout_waiting": ("Waits for approval", "warn"),
    "token_expired": ("Token expired", "bad"),
    "draft_invalid": ("Draft not valid", "bad"),
    "run_failed": ("Test failed", "bad"),
    "token_expiring": ("Token expires", "warn"),
    "draft_unchecked": ("Draft not checked", ""),
}
_HOME: Final = """\
<div class="heading"><h1>{name}</h1><a class="button" href="{home}/configurations/try">Try a configuration</a></div>
{begin}<div id="now" data-live="idle" data-again="check=true">{tiles}<div class="card"><h2>Needs you</h2>{notices}
{check}</div>
<div class="card"><h2>Collectors</h2>{fleets}</div></div>
{tokens}"""
_BEGIN: Final = """\
<div class="card" id="begin"><h2>Begin here</h2><ul class="begin">
<li><a href="{home}/configurations/try"><strong>Paste a configuration</strong></a>
and see at once what the collector says of it, and its graph.</li>
<li><a href="{home}/flows"><strong>Take a flow</strong></a>
of the gallery, which is tested, and make it yours.</li>
<li><a href="{home}/fleets"><strong>Connect a host</strong></a>:
create a fleet, and run the command that its page composes.</li>
</ul><p class="soft small last">To look around first, <code>headgate demo</code> fills this organization with
examples, and <code>headgate demo --remove</code> takes them away again.</p></div>"""
_NOTICES: Final = (
    Column("What", "what", lambda notices: _TITLES[notices[0].kind]),
    Column("Where", "where", lambda notices: notices[0].subject.casefold()),
    Column("Reason", kind="reason"),
    Column("Since", "since", lambda notices: _newest(notices), kind="soft small"),
)
_SUBJECT: Final = '<a href="{page}">{subject}</a>'
# Notices of one kind and one reason are one row, with the first of their subjects.
_SUBJECTS: Final = 3
_TILES: Final = """\
<div class="tiles"><a class="tile" href="{collectors}"><span class="soft small">Collectors</span>
<strong>{hosts}</strong>{states}</a>
<a class="tile" href="{rollout}"><span class="soft small">Rollouts under way</span><strong>{rollouts}</strong></a>
<a class="tile" href="{collectors}{by_rate}"><span class="soft small">Records</span>{records}</a>
<a class="tile" href="{collectors}{by_failed}"><span class="soft small">Failed to be sent</span>{failed}</a></div>"""
_NOTHING: Final = Html('<p><span class="tag good">✓ nothing</span></p>')
_TOKENS: Final = """\
<p class="small" id="tokens"><a href="{home}/expiring-tokens">Tokens of service accounts that expire soon</a></p>"""
_CHECK: Final = '<p class="small last"><a href="{home}?check=true">Check the drafts now</a></p>'
_NO_FLEETS: Final = """\
<p class="soft last">No fleet yet: collectors that report to one are shown here by their state.
<a href="{home}/fleets">Create a fleet</a></p>"""
_FLEETS: Final = (
    Column("Fleet", "fleet", lambda counted: counted.fleet.label.casefold()),
    Column("Collectors", "collectors", lambda counted: counted.total),
    Column("Taken in a day"),
)
_STATE: Final = '<a class="tag {kind}" href="{path}/collectors?state={state}">{n} {name}</a> '


@router.get("/organizations/{organization_id}")
def show_home(here: Here, view: Viewed, check: bool = False) -> Response:
    caller = here.caller
    overview = service.overview(caller, check=check)
    day = traffic.day_of(counted.fleet.id for counted in overview.fleets if counted.total)
    unchecked = any(notice.kind == "draft_unchecked" for notice in overview.notices)
    begins = not (overview.has_configurations and overview.fleets)
    content = html(
        _HOME,
        name=caller.organization_name,
        home=home(caller),
        begin=html(_BEGIN, home=home(caller)) if begins else NOTHING,
        notices=_notices(caller, overview, view),
        check=html(_CHECK, home=home(caller)) if unchecked else NOTHING,
        fleets=_fleets(caller, overview, day, view),
        tiles=_tiles(caller, overview, day),
        # The function that serves this page may not read them.
        tokens=html(_TOKENS, home=home(caller)) if caller.is_admin else NOTHING,
    )
    return here.page("home", caller.organization_name, content, script="home")


def _notices(caller: Caller, overview: Overview, view: View) -> Html:
    if not overview.notices:
        return _NOTHING
    grouped: dict[tuple[NoticeKind, str], list[Notice]] = {}
    for notice in overview.notices:
        grouped.setdefault((notice.kind, notice.reason), []).append(notice)
    listed = in_order(view, [*grouped.values()], _NOTICES)
    return table(_NOTICES, [_notice(caller, notices, overview.at) for notices in listed], view=view)


def _newest(notices: Sequence[Notice]) -> float:
    return max(notice.at.timestamp() if notice.at else 0 for notice in notices)


def _notice(caller: Caller, notices: Sequence[Notice], now: datetime) -> Row:
    """Return the row of notices of one kind with one reason, which is as old as the newest of them."""
    title, kind = _TITLES[notices[0].kind]
    newest = _newest(notices)
    old = bool(newest) and now.timestamp() - newest > _OLD.total_seconds()
    subjects = [html(_SUBJECT, page=page_of(caller, notice), subject=notice.subject) for notice in notices[:_SUBJECTS]]
    more = len(notices) - len(subjects)
    return Row(
        (
            tag(title, "" if old else kind),
            separated(", ", [*subjects, f"and {more} more" if more > 0 else ""]),
            notices[0].reason,
            moment(datetime.fromtimestamp(newest, UTC)) if newest else NOTHING,
        ),
        old=old,
    )


def _tiles(caller: Caller, overview: Overview, day: Mapping[str, Series]) -> Html:
    """Collectors by state, rollouts, and what flows; nothing before the first fleet.

    Each leads to the list of what it counts, or to the fleets if several have some.
    """
    if not overview.fleets:
        return NOTHING
    states = Counter[InstanceState]()
    for counted in overview.fleets:
        states.update(counted.instances)
    parts = [ChartPart(state.replace("_", " "), states[state], KINDS.get(state, "")) for state in INSTANCE_STATES]
    records, failed = traffic.together(day)
    fleets = f"{home(caller)}/fleets"
    having = [counted.fleet.id for counted in overview.fleets if counted.total]
    rollouts = [
        f"{fleets}/{counted.fleet.id}/deployments/{group.id}/rollouts/{group.rollout.id}"
        for counted in overview.fleets
        for group in counted.groups
        if group.rollout
    ]
    alone = len(having) == 1
    return html(
        _TILES,
        collectors=f"{fleets}/{having[0]}/collectors" if alone else fleets,
        by_rate="?sort=-rate" if alone else "",
        by_failed="?sort=-failed" if alone else "",
        rollout=rollouts[0] if len(rollouts) == 1 else fleets,
        hosts=f"{states.total():,}",
        states=charts.stacked(parts, "Collectors by state", "states"),
        rollouts=len(rollouts),
        records=records,
        failed=failed,
    )


def _fleets(caller: Caller, overview: Overview, day: Mapping[str, Series], view: View) -> Html:
    if not overview.fleets:
        return html(_NO_FLEETS, home=home(caller))
    lines = traffic.lines_of(day)
    listed = in_order(view, overview.fleets, _FLEETS)
    rows = [_fleet(caller, counted, lines.get(counted.fleet.id, NOTHING)) for counted in listed]
    return table(_FLEETS, rows, view=view)


def _fleet(caller: Caller, counted: CountedFleet, line: Html) -> Sequence[Cell]:
    path = f"{home(caller)}/fleets/{counted.fleet.id}"
    states = [
        html(
            _STATE,
            path=path,
            state=state,
            n=counted.instances[state],
            name=state.replace("_", " "),
            kind=KINDS.get(state, ""),
        )
        for state in INSTANCE_STATES
        if counted.instances.get(state)
    ]
    name = link(path, counted.fleet.label)
    return name, states or Html('<span class="soft">none reports</span>'), line
