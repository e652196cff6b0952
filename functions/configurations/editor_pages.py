"""The pages on which a configuration is created, described, edited and compared.

Their scripts are in console/src/pages, and change things by the API; without them, texts can be read here.
"""

import json
from typing import Annotated, Final

from fastapi import Query, Response
from pydantic import BeforeValidator

from configurations import api, differences_card
from headgate.configurations import service as configurations
from headgate.configurations.model import Configuration, Version
from headgate.configurations.pipelines import pipelines
from headgate.foundation.caller import Caller
from headgate.foundation.settings import settings
from headgate.http.parameters import ConfigurationId, whole_number
from web.commands import command
from web.html import Html, html
from web.pages import Here, MemberPage, page_router
from web.parts import tag
from web.workspace import path_of

router = page_router()

N = Annotated[int | None, BeforeValidator(whole_number), Query(ge=1)]

_NEW: Final = """\
<p class="small"><a href="{home}/configurations">Configurations</a></p><h1>New configuration</h1>
<div class="card" id="new" data-home="{home}"><noscript><p class="last">This page needs JavaScript. From a terminal:
<code>headgate config create FILE</code>.</p></noscript></div>"""
_TRY: Final = """\
<p class="small"><a href="{home}/configurations">Configurations</a></p><h1>Try a configuration</h1>
<p class="soft small">Paste one, and the collector says at once whether it would start with it. Nothing is saved, and
nothing of it runs.</p>
<div id="try" data-home="{home}" data-collector="{collector}"><noscript><p>This page needs JavaScript. From a terminal:
<code>headgate validate FILE</code>.</p></noscript></div>"""
_WHERE: Final = """\
<p class="small"><a href="{home}/configurations">Configurations</a> / <a href="{path}">{name}</a></p>"""
_EDIT: Final = """\
{where}<h1>{name} <span id="which">version {n}</span> <span id="status">{status}</span></h1>
<div id="editor" data-path="{path}" data-configuration="{id}" data-version="{n}" data-changeable="{changeable}"
data-quick="{quick}">
<pre tabindex="0" aria-label="YAML"><code>{yaml}</code></pre></div>"""
_COMPARE: Final = """\
{where}<h1>Compare versions of {name}</h1>
<form method="get" action="{path}/compare" class="row card">
<div><label for="from">From version</label>
<input id="from" name="from" type="number" min="1" max="{latest}" required value="{before}"></div>
<div><label for="to">To version</label>
<input id="to" name="to" type="number" min="1" max="{latest}" required value="{after}"></div>
<button>Compare</button></form>
{components}
<div class="card" id="outputs" data-configuration="{id}" data-from="{before}" data-to="{after}"
data-pipelines="{pipelines}" hidden></div>
<div id="compare" data-path="{path}" data-configuration="{id}" data-from="{before}" data-to="{after}">
<div class="two"><section><h2>Version {before}</h2><pre tabindex="0" aria-label="YAML before"><code>{old}</code></pre>
</section><section><h2>Version {after}</h2><pre tabindex="0" aria-label="YAML after"><code>{new}</code></pre>
</section></div></div>"""


@router.get("/organizations/{organization_id}/configurations/new")
def new_configuration(here: Here) -> Response:
    content = html(_NEW, home=here.home)
    return here.page("configurations", "New configuration", content, script="new_configuration")


command(
    router,
    "/organizations/{organization_id}/configurations/new",
    api.create_configuration,
    "/configurations/{result.id}/edit",
    body=lambda posted: {"name": posted.form.get("name", "").strip(), "yaml": posted.form.get("yaml", "")},
)


@router.get("/organizations/{organization_id}/configurations/try")
def try_configuration(here: Here) -> Response:
    content = html(_TRY, home=here.home, collector=settings().collector_version)
    return here.page("configurations", "Try a configuration", content, script="trial", wide=True)


@router.get("/organizations/{organization_id}/configurations/{configuration_id}/edit")
def edit_configuration(here: Here, configuration_id: ConfigurationId, version: N = None) -> Response:
    """The editor of a version; of the latest one without a number."""
    configuration, shown = _version(here.caller, configuration_id, version)
    content = html(
        _EDIT,
        where=_where(here, configuration),
        path=path_of(here.caller, configuration.id),
        name=configuration.name,
        id=configuration.id,
        n=shown.n,
        status=tag("published", "good") if shown.status == "published" else tag("draft"),
        changeable="yes" if configuration.changeable_by(here.caller) else "no",
        # On AWS each run is a task that costs, so that none begins by itself.
        quick="no" if settings().checker_function else "yes",
        yaml=shown.yaml,
    )
    return here.page("configurations", f"{configuration.name}, version {shown.n}", content, script="editor", wide=True)


@router.get("/organizations/{organization_id}/configurations/{configuration_id}/compare")
def compare_versions(
    here: Here,
    configuration_id: ConfigurationId,
    before: Annotated[N, Query(alias="from")] = None,
    after: Annotated[N, Query(alias="to")] = None,
) -> Response:
    """Two versions side by side: without numbers, the latest one and the one before it."""
    configuration, new = _version(here.caller, configuration_id, after)
    old = configurations.get_version(here.caller, configuration_id, before or max(1, new.n - 1))
    content = html(
        _COMPARE,
        where=_where(here, configuration),
        path=path_of(here.caller, configuration.id),
        name=configuration.name,
        id=configuration.id,
        before=old.n,
        after=new.n,
        latest=configuration.latest_version,
        components=differences_card.card(old.yaml or "", new.yaml or ""),
        pipelines=json.dumps(pipelines(new.yaml or "")),
        old=old.yaml,
        new=new.yaml,
    )
    title = f"{configuration.name}, versions {old.n} and {new.n}"
    return here.page("configurations", title, content, script="compare", wide=True)


def _version(caller: Caller, configuration_id: str, n: int | None) -> tuple[Configuration, Version]:
    if n is None:
        return configurations.get(caller, configuration_id)
    return configurations.snapshot(caller, configuration_id, n)


def _where(here: MemberPage, configuration: Configuration) -> Html:
    return html(_WHERE, home=here.home, path=path_of(here.caller, configuration.id), name=configuration.name)
