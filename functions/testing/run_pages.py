"""The page on which a version's pipelines are run with a sample; its script is console/src/pages/test_run.ts."""

import json
from typing import Final

from fastapi import Response

from headgate.configurations import service as configurations
from headgate.configurations.pipelines import pipelines
from headgate.http.parameters import ConfigurationId, VersionNumber
from web.html import html
from web.pages import Here, page_router
from web.workspace import NO_PIPELINES

router = page_router()

_PAGE: Final = """\
<p class="small"><a href="{home}/configurations">Configurations</a> / <a href="{path}">{name}</a> /
<a href="{path}/versions/{n}">version {n}</a></p><h1>Test version {n} of {name}</h1>
<div id="test" data-configuration="{id}" data-version="{n}" data-pipelines="{pipelines}">
<noscript><p>This page needs JavaScript. From a terminal: <code>headgate test run</code>.</p></noscript></div>
<details class="card" id="text"><summary>Configuration</summary>
<pre tabindex="0" aria-label="YAML"><code>{yaml}</code></pre></details>"""


@router.get("/organizations/{organization_id}/configurations/{configuration_id}/versions/{n}/run")
def show_run_form(here: Here, configuration_id: ConfigurationId, n: VersionNumber) -> Response:
    configuration, version = configurations.snapshot(here.caller, configuration_id, n)
    named = pipelines(version.yaml or "")
    content = html(
        _PAGE,
        home=here.home,
        path=f"{here.home}/configurations/{configuration_id}",
        name=configuration.name,
        id=configuration.id,
        n=n,
        pipelines=json.dumps(named),
        yaml=version.yaml,
    )
    title, problem = f"Test {configuration.name}, version {n}", "" if named else NO_PIPELINES
    return here.page("configurations", title, content, script="test_run", wide=True, problem=problem)
