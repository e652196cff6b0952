"""The heading of a configuration's pages: its name and state, what one does with it, and its pages as tabs."""

from typing import Final

from headgate.configurations.model import Configuration
from headgate.foundation.caller import Caller
from web.html import NOTHING, Html, html
from web.parts import home, managed, tag

_TABS: Final = (
    ("", "Overview"),
    ("versions", "Versions"),
    ("tests", "Tests"),
    ("runs", "Runs"),
    ("settings", "Settings"),
)
_HEADING: Final = """\
<p class="small"><a href="{home}/configurations">Configurations</a></p>
<div class="heading"><div><h1>{name} {tags}</h1>{description}
<p class="soft small last"><code data-copy="the id">{id}</code> · {distribution} · owned by {owner}{managed}</p></div>
<div class="buttons">{roll_out}<a class="button{main}" href="{path}/edit">{edit}</a></div></div>
<nav class="tabs" aria-label="{name}">{tabs}</nav>"""
_TAB: Final = '<a href="{path}"{current}>{label}</a>'
_ROLL_OUT: Final = '<a class="button main" href="{home}/fleets/roll-out?configuration_id={id}">Roll out</a>'
NO_PIPELINES: Final = """\
This version names no pipelines. If its configuration is inside of a ConfigMap or another document, open it in the \
editor, which takes it out."""


def path_of(caller: Caller, configuration_id: str) -> str:
    return f"{home(caller)}/configurations/{configuration_id}"


def heading(caller: Caller, configuration: Configuration, tab: str) -> Html:
    """The heading; `tab` is the last part of the page's address, empty for the overview."""
    path = path_of(caller, configuration.id)
    rolls_out = configuration.published_version is not None and not configuration.archived_at
    return html(
        _HEADING,
        home=home(caller),
        path=path,
        id=configuration.id,
        name=configuration.name,
        tags=_tags(configuration),
        description=html("<p>{text}</p>", text=configuration.description) if configuration.description else NOTHING,
        distribution=configuration.collector_distribution,
        owner="you" if configuration.owned_by(caller) else configuration.owner.name,
        managed=managed(configuration.managed_by),
        roll_out=html(_ROLL_OUT, home=home(caller), id=configuration.id) if rolls_out else NOTHING,
        main=NOTHING if rolls_out else " main",
        edit="Edit" if configuration.changeable_by(caller) else "Open",
        tabs=[
            html(
                _TAB,
                path=f"{path}/{place}" if place else path,
                current=Html(' aria-current="page"') if place == tab else NOTHING,
                label=label,
            )
            for place, label in _TABS
            if place != "settings" or configuration.changeable_by(caller)
        ],
    )


def _tags(configuration: Configuration) -> Html:
    latest, published = configuration.latest_version, configuration.published_version
    return html(
        "{archived} {published} {draft}",
        archived=tag("archived") if configuration.archived_at else NOTHING,
        published=tag(f"version {published} published", "good") if published is not None else NOTHING,
        draft=tag(f"version {latest} draft") if published != latest else NOTHING,
    )
