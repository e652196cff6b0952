"""The page of an organization's settings: its name, its id, and a further organization."""

from collections.abc import Mapping
from typing import Final

from fastapi import Response

from application import api
from headgate.http.browser import public_url
from web.commands import command
from web.html import NOTHING, html
from web.pages import Here, MemberPage, page_router
from web.parts import Fields

router = page_router()

_PATH: Final = "/organizations/{organization_id}"
_FORMS: Final = ("rename", "create")
_SETTINGS: Final = """\
<h1>Settings</h1>
<div class="card"><h2>{name}</h2><p class="soft">Organization <code data-copy="the id">{id}</code> · you are {role}</p>
<p class="last">The command line and the API do what these pages do, and more. Sign in from a terminal with
<code data-copy="the command">headgate login --url {url}</code>.</p></div>
{manage}"""
_MANAGE: Final = """\
<div class="card"><h2>Rename this organization</h2>
<form method="post" action="/organizations/{id}/rename" class="row">{csrf}{name}<button>Rename</button></form></div>
<div class="card"><h2>Create another organization</h2>
<form method="post" action="/organizations/{id}/create" class="row">{csrf}{other}
<button class="plain">Create</button></form></div>"""


@router.get("/organizations/{organization_id}/settings")
def show_settings(here: Here) -> Response:
    """The settings; after a refusal, with the name as typed."""
    caller, fields = here.caller, here.fields()
    renames, creates = (fields if here.request.url.path.endswith(f"/{form}") else Fields() for form in _FORMS)
    manage = html(
        _MANAGE,
        id=caller.organization_id,
        csrf=here.csrf,
        name=renames.text("name", "Name", caller.organization_name, most=200),
        other=creates.text("name", "Name", most=200, as_id="other"),
    )
    content = html(
        _SETTINGS,
        name=caller.organization_name,
        id=caller.organization_id,
        role="an Admin" if caller.is_admin else "a Contributor",
        url=public_url(here.request),
        manage=manage if caller.is_admin else NOTHING,
    )
    return here.page("settings", "Settings", content, problem=fields.problem(here.refused, ""))


def _name(posted: MemberPage) -> Mapping[str, object]:
    return {"name": posted.form.get("name", "")}


command(router, f"{_PATH}/rename", api.patch_organization, "/settings", body=_name, refused=show_settings)
command(
    router,
    f"{_PATH}/create",
    api.create_organization,
    "/organizations/{result.id}",
    body=_name,
    refused=show_settings,
)
