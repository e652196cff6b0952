"""The pages of configurations: the list, and the versions of one."""

from typing import Final

from fastapi import Response

from headgate.configurations import service as configurations
from headgate.configurations.model import Configuration, Version
from headgate.foundation.caller import Caller
from headgate.http.parameters import ConfigurationId
from web.html import NOTHING, Html, html
from web.layout import page
from web.pages import Member, Visit, frame, page_router
from web.parts import ENTRIES, After, home, moment, more, tag

router = page_router()

_CONFIGURATIONS: Final = '<h1>Configurations</h1><div class="card">{list}</div>{more}'
_TABLE: Final = """\
<table><thead><tr><th>Configuration</th><th>Owner</th><th>Version</th><th>Updated</th></tr></thead><tbody>{rows}</tbody>
</table>"""
_ROW: Final = """\
<tr><td><a href="{path}"><strong>{name}</strong></a>{description}</td><td data-label="Owner">{owner}</td>
<td data-label="Version">{latest} {published}</td><td class="soft small" data-label="Updated">{at}</td></tr>"""
_NO_CONFIGURATIONS: Final = """\
<p class="soft">No configurations yet. You see your own, and those that others have published. Create one with
<code>headgate config create FILE</code>.</p>"""
_DESCRIPTION: Final = '<div class="soft small">{text}</div>'
_CONFIGURATION: Final = """\
<p class="small"><a href="{home}/configurations">Configurations</a></p>
<h1>{name}</h1>{description}
<p class="soft"><code>{id}</code> · {distribution} · owned by {owner}</p>
<div class="card"><h2>Versions</h2><table><thead><tr><th>Version</th><th>Status</th><th>Collector</th>
<th>Created by</th><th>Created</th></tr></thead><tbody>{rows}</tbody></table></div>{more}"""
_VERSION: Final = """\
<tr><td><a href="{path}"><strong>Version {n}</strong></a>{description}</td><td>{status}</td>
<td data-label="Collector">{collector}</td><td data-label="Created by">{by}</td>
<td class="soft small" data-label="Created">{at}</td></tr>"""


@router.get("/organizations/{organization_id}/configurations")
def list_configurations(who: Visit, caller: Member, after: After) -> Response:
    part = configurations.visible(caller, ENTRIES, after)
    rows = [_row(caller, configuration) for configuration in part.entries]
    content = html(
        _CONFIGURATIONS,
        list=html(_TABLE, rows=rows) if rows else Html(_NO_CONFIGURATIONS),
        more=more(f"{home(caller)}/configurations", part.position),
    )
    return page(frame(who, caller, "configurations"), "Configurations", content)


@router.get("/organizations/{organization_id}/configurations/{configuration_id}")
def show_configuration(who: Visit, caller: Member, configuration_id: ConfigurationId, after: After) -> Response:
    configuration = configurations.summary(caller, configuration_id)
    part = configurations.versions(caller, configuration_id, ENTRIES, after)
    path = f"{home(caller)}/configurations/{configuration_id}"
    content = html(
        _CONFIGURATION,
        home=home(caller),
        id=configuration.id,
        name=configuration.name,
        description=html("<p>{text}</p>", text=configuration.description) if configuration.description else NOTHING,
        distribution=configuration.collector_distribution,
        owner=_owner(caller, configuration),
        rows=[_version(path, version) for version in part.entries],
        more=more(path, part.position),
    )
    return page(frame(who, caller, "configurations"), configuration.name, content)


def _row(caller: Caller, configuration: Configuration) -> Html:
    latest, published = configuration.latest_version, configuration.published_version
    if published is None:
        status = tag("draft")
    elif published == latest:
        status = tag("published", "good")
    else:
        status = html("{tag}", tag=tag(f"version {published} published", "good"))
    return html(
        _ROW,
        path=f"{home(caller)}/configurations/{configuration.id}",
        name=configuration.name,
        description=_described(configuration.description),
        owner=_owner(caller, configuration),
        latest=latest,
        published=status,
        at=moment(configuration.updated_at),
    )


def _version(path: str, version: Version) -> Html:
    return html(
        _VERSION,
        path=f"{path}/versions/{version.n}",
        n=version.n,
        description=_described(version.description),
        status=tag("published", "good") if version.status == "published" else tag("draft"),
        collector=version.collector_version,
        by=version.created_by.name,
        at=moment(version.created_at),
    )


def _described(text: str | None) -> Html:
    return html(_DESCRIPTION, text=text) if text else NOTHING


def _owner(caller: Caller, configuration: Configuration) -> str:
    return "you" if configuration.owned_by(caller) else configuration.owner.name
