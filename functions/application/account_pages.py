"""The page of a person's account: their organizations, how pages look in this browser, and a new password."""

from typing import Final

from fastapi import Response

from headgate.identity import sessions
from web import look
from web.html import Html, html
from web.layout import csrf_field, page, redirect
from web.look import DENSITIES, THEMES, ZONES
from web.pages import Form, Person, Visit, frame, page_router
from web.parts import Fields, tag

router = page_router()

_ACCOUNT: Final = """\
<h1>Account</h1>
<div class="card"><h2>{email}</h2><p class="soft">Account <code data-copy="the id">{id}</code></p>
<p class="last"><a href="/forgot-password">Set a new password</a> · <a href="/invitations">Invitations</a></p></div>
<div class="card"><h2>Organizations</h2><ul class="plain">{organizations}</ul></div>
<div class="card"><h2>How pages look</h2><p class="soft">For this browser.</p>
<form method="post" action="/account/look">{csrf}{theme}{density}{zone}<button>Save</button></form></div>"""
_ORGANIZATION: Final = '<li><a href="/organizations/{id}">{name}</a>{role}</li>'


@router.get("/account")
def show_account(who: Visit, session: Person, notice: str = "") -> Response:
    shown = frame(who, tab="account")
    organizations = [
        html(
            _ORGANIZATION,
            id=membership.organization_id,
            name=membership.organization_name,
            role=tag(membership.role),
        )
        for membership in sessions.organizations(session)
    ]
    fields, hover = Fields(), "The other is shown on hover"
    content = html(
        _ACCOUNT,
        email=session.user.email,
        id=session.user.id,
        organizations=organizations or Html("<li>You are not a member of any organization.</li>"),
        csrf=csrf_field(shown),
        theme=fields.choice("theme", "Theme", THEMES, who.look.theme),
        density=fields.choice("density", "Density of tables", DENSITIES, who.look.density),
        zone=fields.choice("zone", "Times are shown in", ZONES, who.look.zone, hint=hover),
    )
    return page(shown, "Account", content, notice="Saved." if notice == "saved" else "")


@router.post("/account/look")
def change_look(session: Person, form: Form) -> Response:
    return look.save(redirect("/account?notice=saved"), look.of_form(form))
