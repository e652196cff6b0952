"""The page of an organization's settings: its name, its id, and a further organization."""

from typing import Final

from fastapi import Request, Response

from application.name_forms import BadName, name_field, name_of, status
from headgate.foundation import errors
from headgate.foundation.caller import Caller
from headgate.http.browser import public_url
from headgate.identity import members
from web.html import NOTHING, html
from web.layout import csrf_field, page, redirect
from web.pages import Form, Member, Visit, frame, page_router
from web.parts import home
from web.visitor import Visitor

router = page_router()

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
def show_settings(request: Request, who: Visit, caller: Member) -> Response:
    return _settings(request, who, caller)


@router.post("/organizations/{organization_id}/rename")
def rename(request: Request, who: Visit, caller: Member, form: Form) -> Response:
    try:
        members.rename_organization(caller, name_of(form))
    except errors.Invalid as error:
        return _settings(request, who, caller, renamed=BadName(form, error))
    return redirect(f"{home(caller)}/settings")


@router.post("/organizations/{organization_id}/create")
def create_organization(request: Request, who: Visit, caller: Member, form: Form) -> Response:
    try:
        created = members.create_organization(caller, name_of(form))
    except errors.Invalid as error:
        return _settings(request, who, caller, created=BadName(form, error))
    return redirect(f"/organizations/{created.organization_id}")


def _settings(
    request: Request,
    who: Visitor,
    caller: Caller,
    renamed: BadName | None = None,
    created: BadName | None = None,
) -> Response:
    """The settings; after an error, with the name as typed."""
    shown = frame(who, caller, "settings")
    manage = html(
        _MANAGE,
        id=caller.organization_id,
        csrf=csrf_field(shown),
        name=name_field(renamed, caller.organization_name),
        other=name_field(created, as_id="other"),
    )
    content = html(
        _SETTINGS,
        name=caller.organization_name,
        id=caller.organization_id,
        role="an Admin" if caller.is_admin else "a Contributor",
        url=public_url(request),
        manage=manage if caller.is_admin else NOTHING,
    )
    return page(shown, "Settings", content, status=status(renamed or created))
