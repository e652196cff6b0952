"""The settings of a configuration: its name, and the forms that archive, restore and delete it."""

from collections.abc import Mapping
from typing import Final

from fastapi import Response

from configurations import api
from headgate.configurations import service as configurations
from headgate.configurations.model import Configuration, NotTheOwner
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.parameters import ConfigurationId
from headgate.http.statuses import status_of
from web.commands import Posted, command
from web.forms import by_field
from web.html import NOTHING, Html, html
from web.layout import csrf_field, page
from web.pages import Member, Visit, frame, page_router
from web.parts import action, area, confirmed, text
from web.visitor import Visitor
from web.workspace import heading, path_of

router = page_router()

_PATH: Final = "/organizations/{organization_id}/configurations/{configuration_id}"
_THIS: Final = "/configurations/{configuration_id}/settings"
_SETTINGS: Final = """\
{heading}<div class="card"><h2>Name and description</h2>
<form method="post" action="{path}/settings">{csrf}{name}{description}<button class="plain">Save</button></form></div>
{keeping}"""
_KEEPING: Final = '<div class="card"><h2>{heading}</h2><p class="soft">{about}</p>{form}</div>'
_ARCHIVE: Final = (
    "An archived configuration is read and restored only: it leaves the list, and is not edited, published or assigned."
)
_RESTORE: Final = "It is archived: it can be read, and is not edited, published or assigned until it is restored."
_DELETE: Final = "All its versions, rules and tests are gone for good. It was never published, so nothing runs it."


@router.get(f"{_PATH}/settings")
def show_settings(who: Visit, caller: Member, configuration_id: ConfigurationId) -> Response:
    return _settings(who, caller, configuration_id)


def _refused(posted: Posted, error: errors.HeadgateError) -> Response:
    typed = posted.form if "name" in posted.form else None
    return _settings(posted.who, posted.caller, problem=error, typed=typed, **posted.ids)


command(
    router,
    f"{_PATH}/settings",
    api.change_configuration,
    _THIS,
    body=lambda posted: {
        "name": posted.form.get("name", ""),
        "description": posted.form.get("description", "").strip() or None,
    },
    refused=_refused,
)
command(router, f"{_PATH}/archive", api.archive_configuration, _THIS, refused=_refused)
command(router, f"{_PATH}/restore", api.restore_configuration, _THIS)
command(router, f"{_PATH}/delete", api.delete_configuration, "/configurations", refused=_refused)


def _settings(
    who: Visitor,
    caller: Caller,
    configuration_id: str,
    problem: errors.HeadgateError | None = None,
    typed: Mapping[str, str] | None = None,
) -> Response:
    """The page; after a refusal, with its reason and what was typed. Raises NotTheOwner."""
    configuration = configurations.summary(caller, configuration_id)
    if not configuration.changeable_by(caller):
        raise NotTheOwner
    shown, path = frame(who, caller, "configurations"), path_of(caller, configuration_id)
    typed = typed or {"name": configuration.name, "description": configuration.description or ""}
    fields = by_field(problem)
    content = html(
        _SETTINGS,
        heading=heading(caller, configuration, "settings"),
        path=path,
        csrf=csrf_field(shown),
        name=text("name", "Name", typed.get("name", ""), most=200, error=fields.get("name", "")),
        description=area(
            "description",
            "Description",
            typed.get("description", ""),
            most=2_000,
            rows=3,
            required=False,
            error=fields.get("description", ""),
        ),
        keeping=_keeping(csrf_field(shown), path, configuration),
    )
    detail = problem.detail if problem and not {*fields} & {"name", "description"} else ""
    return page(
        shown,
        f"Settings of {configuration.name}",
        content,
        problem=detail,
        status=status_of(problem) if problem else 200,
    )


def _keeping(csrf: Html, path: str, configuration: Configuration) -> list[Html]:
    """The forms that archive or restore it, and delete it if it was never published."""
    if configuration.archived_at:
        form = action(f"{path}/restore", csrf, "Restore", "plain", subject=configuration.name)
        cards = [html(_KEEPING, heading="Restore this configuration", about=_RESTORE, form=form)]
    else:
        form = action(f"{path}/archive", csrf, "Archive", "plain", subject=configuration.name)
        cards = [html(_KEEPING, heading="Archive this configuration", about=_ARCHIVE, form=form)]
    if configuration.published_version is None:
        form = confirmed(f"{path}/delete", csrf, "Delete", _DELETE, subject=configuration.name)
        cards.append(html(_KEEPING, heading="Delete this configuration", about=NOTHING, form=form))
    return cards
