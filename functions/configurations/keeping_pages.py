"""The settings of a configuration: its name, and the forms that archive, restore and delete it."""

from typing import Final

from fastapi import Response

from configurations import api
from headgate.configurations import service as configurations
from headgate.configurations.model import Configuration, NotTheOwner
from headgate.http.parameters import ConfigurationId
from web.commands import command
from web.forms import by_field
from web.html import NOTHING, Html, html
from web.pages import Here, page_router
from web.parts import Fields, action, confirmed
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
def show_settings(here: Here, configuration_id: ConfigurationId) -> Response:
    """The page; after a refusal, with its reason and what was typed. Raises NotTheOwner."""
    caller = here.caller
    configuration = configurations.summary(caller, configuration_id)
    if not configuration.changeable_by(caller):
        raise NotTheOwner
    path, about = path_of(caller, configuration_id), configuration.description or ""
    fields = here.fields() if "name" in here.form else Fields({}, by_field(here.refused))
    content = html(
        _SETTINGS,
        heading=heading(caller, configuration, "settings"),
        path=path,
        csrf=here.csrf,
        name=fields.text("name", "Name", configuration.name, most=200),
        description=fields.area("description", "Description", about, most=2_000, rows=3, required=False),
        keeping=_keeping(here.csrf, path, configuration),
    )
    problem = "" if {*fields.problems} & {"name", "description"} else None
    return here.page("configurations", f"Settings of {configuration.name}", content, problem=problem)


command(
    router,
    f"{_PATH}/settings",
    api.change_configuration,
    _THIS,
    body=lambda posted: {
        "name": posted.form.get("name", ""),
        "description": posted.form.get("description", "").strip() or None,
    },
    refused=show_settings,
)
command(router, f"{_PATH}/archive", api.archive_configuration, _THIS, refused=show_settings)
command(router, f"{_PATH}/restore", api.restore_configuration, _THIS)
command(router, f"{_PATH}/delete", api.delete_configuration, "/configurations", refused=show_settings)


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
