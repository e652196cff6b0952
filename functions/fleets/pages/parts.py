"""Parts that the pages of fleets share: states, versions with links, and shares of hosts as bars."""

from collections.abc import Mapping
from typing import Final

from headgate.configurations import service as configurations
from headgate.deployments.model import Deployment
from headgate.deployments.versions import Assignment, NamedVersion
from headgate.foundation.caller import Caller
from headgate.instances.counting import shares
from headgate.instances.counting.shares import MOST, Shares
from headgate.instances.state.model import INSTANCE_STATES, InstanceState
from web.html import NOTHING, Html, html
from web.parts import ENTRIES, Fields, empty, home, nothing_yet, tag
from web.parts import counted as in_words

AT_ONCE: Final = 200
"""Collectors that are counted before a page is answered: some 100 ms."""
# One colour, one meaning: waiting, changing, done, failed, not heard.
KINDS: Final[Mapping[InstanceState, str]] = {
    "pending_pickup": "warn",
    "applying": "busy",
    "applied": "good",
    "apply_failed": "bad",
    "silent": "silent",
    "stale": "silent",
}
_VERSION: Final = '<a href="{home}/configurations/{id}/versions/{n}">{name}</a> <span class="soft">version {n}</span>'
_BARS: Final = '<ul class="bars">{bars}</ul>{note}'
_BAR: Final = "<li><span>{label}</span>{bar}<span>{count}</span></li>"
_SHARE: Final = """\
<svg class="share" aria-hidden="true"><rect class="whole" width="100%" height="100%"></rect>\
<rect class="part {kind}" width="{percent}%" height="100%"></rect></svg>"""
_COLLECTORS_FOR: Final = "Each host of this fleet with what it runs, whether it applied it, and its status."
_FIRST_COLLECTOR: Final = """\
None has reported yet: run the install command on a host. <a href="{path}#install">The fleet's page</a> composes it, as
does <code>headgate fleet install {id}</code>."""
_NOT_COUNTED: Final = '<p class="soft"><a href="{path}?count=yes">Count what its collectors run</a></p>'
_UNHEARD: Final = '<p class="hint">Not heard for over a quarter of an hour, and not counted: {n}.</p>'
_PARTIAL: Final = '<p class="hint">Counted among the first {most} collectors of the fleet.</p>'


def state_tag(state: InstanceState) -> Html:
    return tag(state.replace("_", " "), KINDS.get(state, ""))


def state_tags(counts: Mapping[InstanceState, int]) -> list[Html]:
    """The number of collectors in each state; states without any are left out."""
    return [
        html("{tag} ", tag=tag(f"{counts[state]} {state.replace('_', ' ')}", KINDS.get(state, "")))
        for state in INSTANCE_STATES
        if counts.get(state)
    ]


def version(caller: Caller, assignment: Assignment | None, names: Mapping[str, str], nothing: str = "nothing") -> Html:
    """A link to the version, with its configuration's name, or its id if it is gone."""
    if assignment is None:
        return html('<span class="soft">{nothing}</span>', nothing=nothing)
    name = names.get(assignment.configuration_id, assignment.configuration_id)
    return html(_VERSION, home=home(caller), id=assignment.configuration_id, n=assignment.version_number, name=name)


def by_version(assignment: Assignment | None) -> tuple[str, int]:
    """The order of versions in lists, by configuration and number."""
    return (assignment.configuration_id, assignment.version_number) if assignment else ("", 0)


def shares_at_once(fleet_id: str, collectors: int, *, asked: bool) -> Shares | None:
    """The versions of a fleet's collectors; None for a large fleet, until a page asks behind its first content."""
    return shares.of_fleet(fleet_id) if asked or collectors <= AT_ONCE else None


def part_for_shares(id: str, content: Html, path: str, counted: Shares | None) -> Html:
    """A part of the page at the path that has bars: the page's script asks for what is not counted yet."""
    then = html(' data-then="{path}?count=yes"', path=path) if counted is None else NOTHING
    return html('<div id="{id}"{then}>{content}</div>', id=id, then=then, content=content)


def bars(
    caller: Caller,
    path: str,
    group: Deployment,
    counted: Shares | None,
    names: Mapping[str, str],
) -> Html:
    """The versions of the group's collectors, that of most of them first; a link that counts them, if nobody has.

    `path` is that of the page.
    """
    if counted is None:
        return html(_NOT_COUNTED, path=path)
    shares, assigned = counted.by_group.get(group.id, {}), group.assignment
    unheard = counted.unheard.get(group.id, 0)
    if not shares and not unheard:
        return empty("No collector of this group has reported yet.")
    total = sum(shares.values())
    rows = [
        html(
            _BAR,
            label=version(caller, running, names),
            bar=share_bar(n, total, "good" if running is not None and running == assigned else ""),
            count=f"{n:,} of {in_words(total, 'collector')}, {_percent(n, total)}"
            + (", as assigned" if running is not None and running == assigned else ""),
        )
        for running, n in sorted(shares.items(), key=lambda share: -share[1])
    ]
    notes = [html(_UNHEARD, n=in_words(unheard, "collector"))] if unheard else []
    notes += [html(_PARTIAL, most=f"{MOST:,}")] if counted.partial else []
    return html(_BARS, bars=rows, note=notes)


def no_collectors(path: str, fleet_id: str) -> Html:
    """The text of an empty list of a fleet's collectors; `path` is the fleet's page."""
    return nothing_yet(_COLLECTORS_FOR, html(_FIRST_COLLECTOR, path=path, id=fleet_id))


def share_bar(part: int, total: int, kind: str = "") -> Html:
    """A bar that is filled by `part` of `total`. The numbers stand beside it, for those who do not see it."""
    return html(_SHARE, kind=kind, percent=f"{100 * part / max(total, 1):.2f}")


def named(version: NamedVersion | None) -> str:
    """A version by its configuration's name, for a sentence."""
    if version is None:
        return "nothing"
    name = version.configuration_name or version.assignment.configuration_id
    return f"{name} version {version.assignment.version_number}"


def configuration_field(caller: Caller, fields: Fields) -> Html:
    """The field `configuration_id`: a name or an id, with the newest published ones as suggestions."""
    visible = configurations.visible(caller, ENTRIES, None).entries
    named = [*dict.fromkeys(each.name for each in visible if each.published_version is not None)]
    return fields.suggested("configuration_id", "Configuration", named, most=200, hint="Its name, or its id")


def _percent(n: int, total: int) -> str:
    percent = 100 * n / total
    if 0 < percent < 1:
        return "under 1 %"
    return "over 99 %" if 99 < percent < 100 else f"{percent:.0f} %"
