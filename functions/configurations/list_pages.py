"""The page with the list of configurations: a search, what the collector last said of each, and where it runs."""

from collections.abc import Mapping
from typing import Annotated, Final

from fastapi import Query, Response

from configurations.use_parts import uses_in_short, validity
from headgate.configurations import search
from headgate.configurations.model import Archived, Configuration
from headgate.configurations.search import ConfigurationFilter
from headgate.foundation.caller import Caller
from headgate.usage.listing import DescribedUse, described
from headgate_engine.setting import LONGEST_PATH, LONGEST_VALUE
from web.html import NOTHING, Html, html
from web.pages import Here, page_router
from web.parts import Fields, hidden, home, moment, nothing_yet, tag
from web.table import CHOOSE_ALL, Column, Row, Viewed, chips, listing, read

router = page_router()

# What stands beside each costs three batch reads and a query for each fleet.
_ENTRIES: Final = 50
_LONGEST: Final = 200
_ARCHIVED: Final[Mapping[Archived, str]] = {"false": "In use", "true": "Archived", "all": "Both"}
_PAGE: Final = """\
<div class="heading"><h1>Configurations</h1><div class="buttons"><a class="button" href="{path}/try">Try one</a>
<a class="button main" href="{path}/new">New configuration</a></div></div>
<form method="get" action="{path}" class="card" id="filters" role="search" aria-label="Search the configurations">
<div class="row">{text}{component}{archived}{sort}<button class="plain">Search</button></div></form>
<div class="card" id="results" data-live="idle">{chips}{list}{drafts}</div>"""
_NAME: Final = '<a href="{path}"><strong>{name}</strong></a> {archived} <span class="soft small">{description}</span>'
_LABELS: Final[Mapping[str, str]] = {"text": "Text", "component": "Component", "archived": "State"}
_COLUMNS: Final = (
    Column("Configuration", "name", lambda configuration: configuration.name.casefold()),
    Column("Owner", "owner", lambda configuration: configuration.owner.name.casefold()),
    Column("Versions", "versions", lambda configuration: configuration.latest_version),
    Column("Latest version"),
    Column("Where it runs"),
    Column("Updated", "updated", lambda configuration: configuration.updated_at),
)
_CHANGE: Final = """\
<form method="post" action="{path}/change" id="chosen" class="chosen">{csrf}{all}
<details><summary class="small">Set a value in them</summary>
<div class="row">{setting}{value}<button class="plain">Show what changes</button></div></details></form>"""
_DRAFTS: Final = '<p class="soft small last">Drafts that other members have not published are not listed.</p>'
_WHAT_FOR: Final = (
    "A configuration is the text that collectors run, kept in numbered versions. Here you see your own, and those that "
    "others have published."
)
_FIRST: Final = """\
None yet: <a href="{home}/configurations/new">create one</a> from a flow of the gallery, a file or nothing, or
<a href="{home}/configurations/try">paste one</a> and see first what the collector says of it."""
_NO_MATCH: Final = "No configuration matches: remove a filter."


@router.get("/organizations/{organization_id}/configurations")
def list_configurations(
    here: Here,
    view: Viewed,
    words: Annotated[str, Query(alias="text", max_length=_LONGEST)] = "",
    component: Annotated[str, Query(max_length=_LONGEST)] = "",
    archived: Annotated[str, Query(max_length=5)] = "false",
) -> Response:
    caller, path = here.caller, f"{here.home}/configurations"
    kind: Archived = next((each for each in _ARCHIVED if each == archived), "false")
    typed = {"text": words.strip(), "component": component.strip(), "archived": "" if kind == "false" else kind}
    filters = ConfigurationFilter(None, typed["text"] or None, typed["component"] or None, kind)
    listed = read(view, lambda limit, after: search.find(caller, filters, limit, after), _COLUMNS, _ENTRIES)
    rows = [_row(caller, each) for each in described(caller, listed.entries)]
    fields = Fields(typed)
    content = html(
        _PAGE,
        path=path,
        text=fields.text("text", "Name, owner or text", most=_LONGEST, required=False, kind="search"),
        component=fields.text("component", "Component", most=_LONGEST, required=False, kind="search"),
        archived=Fields().choice("archived", "State", [*_ARCHIVED.items()], kind),
        sort=hidden("sort", view.sort) if view.sort else NOTHING,
        chips=chips(path, typed, _LABELS, {"archived": _ARCHIVED[kind]}),
        list=listing(
            view,
            listed,
            _COLUMNS,
            rows,
            "configuration",
            nothing_yet(_WHAT_FOR, html(_FIRST, home=here.home)),
            filters=typed,
            no_match=_NO_MATCH,
            above=_change(path, here.csrf) if any(row.choice for row in rows) else NOTHING,
            most=_ENTRIES,
        ),
        drafts=Html(_DRAFTS) if caller.is_admin else NOTHING,
    )
    return here.page("configurations", "Configurations", content, script="search")


def _row(caller: Caller, listed: DescribedUse) -> Row:
    configuration = listed.configuration
    return Row(
        (
            html(
                _NAME,
                path=f"{home(caller)}/configurations/{configuration.id}",
                name=configuration.name,
                archived=tag("archived") if configuration.archived_at else NOTHING,
                description=configuration.description,
            ),
            "you" if configuration.owned_by(caller) else configuration.owner.name,
            _versions(configuration),
            validity(listed.verdict),
            uses_in_short(caller, listed.uses),
            moment(configuration.updated_at),
        ),
        choice=configuration.id if _can_choose(caller, configuration) else "",
        label=configuration.name,
    )


def _can_choose(caller: Caller, configuration: Configuration) -> bool:
    return caller.can_write and configuration.changeable_by(caller) and not configuration.archived_at


def _change(path: str, csrf: Html) -> Html:
    """The form that sets a value in those that are chosen."""
    fields = Fields()
    return html(
        _CHANGE,
        path=path,
        csrf=csrf,
        all=CHOOSE_ALL,
        setting=fields.text("setting", "Setting", most=LONGEST_PATH, hint="such as exporters.otlphttp.endpoint"),
        value=fields.text("value", "Value", most=LONGEST_VALUE, required=False, hint="as YAML, on one line"),
    )


def _versions(configuration: Configuration) -> Html:
    latest, published = configuration.latest_version, configuration.published_version
    if published is None:
        status = tag("draft")
    else:
        status = tag("published" if published == latest else f"version {published} published", "good")
    return html("{latest} {status}", latest=latest, status=status)
