"""The page of a configuration: its versions, where it runs, and the forms that archive, restore and delete it."""

from collections.abc import Sequence
from typing import Final

from fastapi import Response

from configurations import api
from configurations.use_parts import use_items
from headgate.configurations import service as configurations
from headgate.configurations.model import Configuration, Version
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.parameters import ConfigurationId
from headgate.http.statuses import status_of
from headgate.instances.series import costs
from headgate.usage import service as usage
from headgate.usage.model import CountedUse
from web import cost_card
from web.commands import Posted, command
from web.html import NOTHING, Html, html, joined
from web.layout import csrf_field, page
from web.pages import Member, Visit, frame, page_router
from web.parts import ENTRIES, After, action, confirmed, empty, home, managed, moment, more, tag
from web.visitor import Visitor

router = page_router()

_PATH: Final = "/organizations/{organization_id}/configurations/{configuration_id}"
_THIS: Final = "/configurations/{configuration_id}"
_DESCRIPTION: Final = '<div class="soft small">{text}</div>'
_CONFIGURATION: Final = """\
<p class="small"><a href="{home}/configurations">Configurations</a></p>
<div class="heading"><h1>{name}</h1><div class="buttons">{roll_out}
<a class="button" href="{path}/compare">Compare versions</a>
<a class="button" href="{path}/edit">{edit}</a></div></div>{description}
<p class="soft">{archived}<code data-copy="the id">{id}</code> · {distribution} · owned by {owner}{managed} ·
<a href="{home}/runs?configuration_id={id}">Test runs</a></p>
<div class="card"><h2>Versions</h2><table><thead><tr><th>Version</th><th>Status</th><th>Collector</th>
<th>Created by</th><th>Created</th></tr></thead><tbody>{rows}</tbody></table></div>{more}
<div class="card"><h2>Where it runs</h2>{uses}</div>{costs}{describe}{keeping}"""
_ROLL_OUT: Final = '<a class="button main" href="{home}/fleets/roll-out?configuration_id={id}">Roll out</a>'
_KEEPING: Final = '<div class="card"><h2>{heading}</h2><p class="soft">{about}</p>{form}</div>'
_ARCHIVE: Final = (
    "An archived configuration is read and restored only: it leaves the list, and is not edited, published or assigned."
)
_RESTORE: Final = "It is archived: it can be read, and is not edited, published or assigned until it is restored."
_DELETE: Final = "All its versions, rules and tests are gone for good. It was never published, so nothing runs it."
_DESCRIBE: Final = """\
<div class="card" id="describe" data-configuration="{id}" data-name="{name}" data-description="{description}" hidden>
</div>"""
_VERSION: Final = """\
<tr><td><a href="{path}"><strong>Version {n}</strong></a>{description}</td><td>{status}</td>
<td data-label="Collector">{collector}</td><td data-label="Created by">{by}</td>
<td class="soft small" data-label="Created">{at}</td></tr>"""


@router.get(_PATH)
def show_configuration(who: Visit, caller: Member, configuration_id: ConfigurationId, after: After) -> Response:
    return _configuration_page(who, caller, configuration_id, after)


def _refused(posted: Posted, error: errors.HeadgateError) -> Response:
    return _configuration_page(posted.who, posted.caller, problem=error, **posted.ids)


command(router, f"{_PATH}/archive", api.archive_configuration, _THIS, refused=_refused)
command(router, f"{_PATH}/restore", api.restore_configuration, _THIS)
command(router, f"{_PATH}/delete", api.delete_configuration, "/configurations", refused=_refused)


def _configuration_page(
    who: Visitor,
    caller: Caller,
    configuration_id: str,
    after: str | None = None,
    problem: errors.HeadgateError | None = None,
) -> Response:
    configuration = configurations.summary(caller, configuration_id)
    uses = usage.by_groups(caller, [configuration_id])[configuration_id]
    part = configurations.versions(caller, configuration_id, ENTRIES, after)
    path = f"{home(caller)}/configurations/{configuration_id}"
    content = html(
        _CONFIGURATION,
        home=home(caller),
        id=configuration.id,
        name=configuration.name,
        description=html("<p>{text}</p>", text=configuration.description) if configuration.description else NOTHING,
        archived=html("{tag} · ", tag=tag("archived")) if configuration.archived_at else NOTHING,
        distribution=configuration.collector_distribution,
        owner=_owner(caller, configuration),
        managed=managed(configuration.managed_by),
        rows=[_version(path, version) for version in part.entries],
        more=more(path, part.position),
        path=path,
        roll_out=html(_ROLL_OUT, home=home(caller), id=configuration.id)
        if configuration.published_version is not None and not configuration.archived_at
        else NOTHING,
        edit="Edit" if configuration.changeable_by(caller) else "Open",
        uses=_uses(caller, uses),
        costs=_costs(caller, uses),
        describe=_describe(configuration) if configuration.changeable_by(caller) else NOTHING,
        keeping=_keeping(who, path, configuration) if configuration.changeable_by(caller) else NOTHING,
    )
    return page(
        frame(who, caller, "configurations"),
        configuration.name,
        content,
        problem=problem.detail if problem else "",
        status=status_of(problem) if problem else 200,
        script="configuration",
    )


def _costs(caller: Caller, uses: Sequence[CountedUse]) -> Html:
    """What the groups that are assigned it, or that a rollout takes to it, send."""
    groups = dict.fromkeys((counted.use.fleet_id, counted.use.deployment_id) for counted in uses)
    if not groups:
        return NOTHING
    return cost_card.card(caller, costs.of_groups(caller, groups, cost_card.DAYS), " in these groups together")


def _uses(caller: Caller, uses: Sequence[CountedUse]) -> Html:
    return joined(use_items(caller, uses)) if uses else empty("No deployment group is assigned a version of it.")


def _keeping(who: Visitor, path: str, configuration: Configuration) -> list[Html]:
    """The forms that archive or restore it, and delete it if it was never published."""
    csrf = csrf_field(frame(who))
    if configuration.archived_at:
        form = action(f"{path}/restore", csrf, "Restore", "plain", of=configuration.name)
        cards = [html(_KEEPING, heading="Restore this configuration", about=_RESTORE, form=form)]
    else:
        form = action(f"{path}/archive", csrf, "Archive", "plain", of=configuration.name)
        cards = [html(_KEEPING, heading="Archive this configuration", about=_ARCHIVE, form=form)]
    if configuration.published_version is None:
        form = confirmed(f"{path}/delete", csrf, "Delete", _DELETE, of=configuration.name)
        cards.append(html(_KEEPING, heading="Delete this configuration", about=NOTHING, form=form))
    return cards


def _describe(configuration: Configuration) -> Html:
    return html(_DESCRIBE, id=configuration.id, name=configuration.name, description=configuration.description or "")


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
