"""The page with the list of configurations: a search, what the collector last said of each, and where it runs."""

from collections.abc import Mapping
from typing import Annotated, Final

from fastapi import Query, Response

from configurations.use_parts import uses_in_short, validity
from headgate.configurations import search
from headgate.configurations.model import Archived, Configuration
from headgate.configurations.search import Wanted
from headgate.foundation.caller import Caller
from headgate.usage import listing
from headgate.usage.listing import Described
from web.html import NOTHING, Html, html
from web.layout import page
from web.pages import Member, Visit, frame, page_router
from web.parts import After, choice, empty, home, moment, more, nothing_yet, tag, text

router = page_router()

# What stands beside each costs three batch reads and a query for each fleet.
_ENTRIES: Final = 50
_LONGEST: Final = 200
_ARCHIVED: Final[Mapping[Archived, str]] = {"false": "In use", "true": "Archived", "all": "Both"}
_PAGE: Final = """\
<div class="heading"><h1>Configurations</h1>
<a class="button" href="{path}/new">New configuration</a></div>
<form method="get" action="{path}" class="card" id="filters" role="search" aria-label="Search the configurations">
<div class="row">{text}{component}{archived}<button class="plain">Search</button></div></form>
<div class="card" id="results"><p class="soft small" role="status">{count}</p>{list}{more}</div>"""
_TABLE: Final = """\
<table><thead><tr><th>Configuration</th><th>Owner</th><th>Versions</th><th>Latest version</th><th>Where it runs</th>
<th>Updated</th></tr></thead><tbody>{rows}</tbody></table>"""
_ROW: Final = """\
<tr><td><a href="{path}"><strong>{name}</strong></a> {archived}{description}</td><td data-label="Owner">{owner}</td>
<td data-label="Versions">{versions}</td><td data-label="Latest version">{validity}</td>
<td data-label="Where it runs">{uses}</td><td class="soft small" data-label="Updated">{at}</td></tr>"""
_WHAT_FOR: Final = (
    "A configuration is the text that collectors run, kept in numbered versions. Here you see your own, and those that "
    "others have published."
)
_FIRST: Final = """\
None yet: <a href="{home}/configurations/new">create one</a> from a flow of the gallery, a file or nothing, or
<a href="{home}">paste one</a> and see first what the collector says of it."""
_NONE_FOUND: Final = "No configuration is like that: leave something out."


@router.get("/organizations/{organization_id}/configurations")
def list_configurations(
    who: Visit,
    caller: Member,
    after: After,
    words: Annotated[str, Query(alias="text", max_length=_LONGEST)] = "",
    component: Annotated[str, Query(max_length=_LONGEST)] = "",
    archived: Annotated[str, Query(max_length=5)] = "false",
) -> Response:
    path = f"{home(caller)}/configurations"
    kind: Archived = next((one for one in _ARCHIVED if one == archived), "false")
    typed = {"text": words.strip(), "component": component.strip(), "archived": "" if kind == "false" else kind}
    wanted = Wanted(None, typed["text"] or None, typed["component"] or None, kind)
    part = search.find(caller, wanted, _ENTRIES, after)
    rows = [_row(caller, one) for one in listing.described(caller, part.entries)]
    is_filtered = any(typed.values()) or after is not None
    nothing = empty(_NONE_FOUND) if is_filtered else nothing_yet(_WHAT_FOR, html(_FIRST, home=home(caller)))
    more_may_follow = "; there may be more on the next page" if part.position else ""
    content = html(
        _PAGE,
        path=path,
        text=text("text", "Name, owner or text", typed["text"], most=_LONGEST, required=False, kind="search"),
        component=text("component", "Component", typed["component"], most=_LONGEST, required=False, kind="search"),
        archived=choice("archived", "State", [*_ARCHIVED.items()], kind),
        count=f"{len(rows)} shown{more_may_follow}",
        list=html(_TABLE, rows=rows) if rows else nothing,
        more=more(path, part.position, typed),
    )
    return page(frame(who, caller, "configurations"), "Configurations", content, script="search")


def _row(caller: Caller, described: Described) -> Html:
    configuration = described.configuration
    return html(
        _ROW,
        path=f"{home(caller)}/configurations/{configuration.id}",
        name=configuration.name,
        archived=tag("archived") if configuration.archived_at else NOTHING,
        description=html('<div class="soft small">{text}</div>', text=configuration.description)
        if configuration.description
        else NOTHING,
        owner="you" if configuration.owned_by(caller) else configuration.owner.name,
        versions=_versions(configuration),
        validity=validity(described.verdict),
        uses=uses_in_short(caller, described.uses),
        at=moment(configuration.updated_at),
    )


def _versions(configuration: Configuration) -> Html:
    latest, published = configuration.latest_version, configuration.published_version
    if published is None:
        status = tag("draft")
    else:
        status = tag("published" if published == latest else f"version {published} published", "good")
    return html("{latest} {status}", latest=latest, status=status)
