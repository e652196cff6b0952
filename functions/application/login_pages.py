"""The pages that approve the login of a command line."""

import re
from collections.abc import Sequence
from typing import Final

from fastapi import Response

from headgate.foundation import clock, errors
from headgate.identity import logins, sessions
from headgate.identity.model import Membership, Session
from web.html import Html, html
from web.layout import csrf_field, options, page
from web.pages import Form, Person, Visit, frame, page_router
from web.visitor import Visitor

router = page_router()

# The S256 challenge of RFC 7636: 32 bytes in base64url.
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")

_ENTER: Final = """\
<div class="card"><h1>Connect a command line</h1>
<p class="soft">Enter the code that your terminal shows.</p>
<form method="get" action="/device">
<label for="user_code">Code</label>
<input id="user_code" name="user_code" autocomplete="off" autocapitalize="characters" spellcheck="false" required
 maxlength="20" placeholder="XXXX-XXXX">
<button>Continue</button></form></div>
"""
_CONFIRM: Final = """\
<div class="card"><h1>Allow a command line to act as you?</h1>
<p>The request comes from <strong>{client}</strong>. Continue only if your own terminal shows this code:</p>
<div class="code">{code}</div>
<form method="post" action="/device">{csrf}<input type="hidden" name="user_code" value="{code}">
<label for="organization">Organization</label>
<select id="organization" name="organization_id">{organizations}</select>
<div class="two"><button name="answer" value="approve">Approve</button>
<button class="danger" name="answer" value="deny">Deny</button></div></form></div>
"""
_PASTE: Final = """\
<div class="card"><h1>Allow a command line to act as you?</h1>
<p>You get a code to paste into your terminal. Continue only if you started
<code>headgate login --no-browser</code> yourself.</p>
<form method="post" action="/login">{csrf}<input type="hidden" name="code_challenge" value="{challenge}">
<label for="organization">Organization</label>
<select id="organization" name="organization_id">{organizations}</select>
<button>Show the code</button></form></div>
"""
_CODE: Final = """\
<div class="card"><h1>Paste this into your terminal</h1>
<div class="code long" id="code" data-copy="the code">{code}</div>
<p class="soft">It works once, within five minutes. Anybody who has it can act as you in {organization}: do not share
it.</p></div>
"""
_NO_ORGANIZATION: Final = """\
<div class="card"><h1>No organization</h1>
<p>A command line acts in an organization, and you are not a member of any. Ask an Admin to invite you.</p></div>
"""
_DONE: Final = """\
<div class="card"><h1>{title}</h1><p>{text}</p></div>
"""


@router.get("/device")
def device_page(who: Visit, session: Person, user_code: str = "") -> Response:
    if not user_code:
        return page(frame(who), "Connect a command line", html(_ENTER))
    try:
        client = logins.find_device(session, user_code, clock.now())
    except logins.LoginNotFound as error:
        return page(frame(who), "Connect a command line", html(_ENTER), problem=error.detail, status=404)
    return _approval(who, session, _CONFIRM, client=client, code=logins.written(user_code))


@router.post("/device")
def answer_device(who: Visit, session: Person, form: Form) -> Response:
    code = form.get("user_code", "")
    logins.find_device(session, code, clock.now())
    if form.get("answer") == "approve":
        caller = sessions.caller(session, form.get("organization_id"))
        logins.approve_device(caller, code, clock.now())
        text = f"Your terminal now acts as you in {caller.organization_name}. You can close this page."
        return page(frame(who), "Approved", html(_DONE, title="Approved", text=text))
    logins.deny_device(code, clock.now())
    text = "Nothing was connected. You can close this page."
    return page(frame(who), "Denied", html(_DONE, title="Denied", text=text))


@router.get("/login")
def code_page(who: Visit, session: Person, code_challenge: str = "", code_challenge_method: str = "") -> Response:
    challenge = _challenge(code_challenge if code_challenge_method == "S256" else "")
    return _approval(who, session, _PASTE, challenge=challenge)


@router.post("/login")
def show_code(who: Visit, session: Person, form: Form) -> Response:
    challenge = _challenge(form.get("code_challenge", ""))
    caller = sessions.caller(session, form.get("organization_id"))
    code = logins.begin_code(caller, challenge, clock.now())
    content = html(_CODE, code=code, organization=caller.organization_name)
    return page(frame(who), "Paste this into your terminal", content)


def _approval(who: Visitor, session: Session, template: str, **parts: str) -> Response:
    """The page on which a person approves a login in one of their organizations."""
    organizations = sessions.organizations(session)
    if not organizations:
        return page(frame(who), "No organization", html(_NO_ORGANIZATION))
    content = html(template, csrf=csrf_field(frame(who)), organizations=_choices(organizations), **parts)
    return page(frame(who), "Allow a command line to act as you?", content)


def _challenge(text: str) -> str:
    if not _CHALLENGE.fullmatch(text):
        raise errors.Invalid("This link is incomplete: copy all of it from your terminal")
    return text


def _choices(organizations: Sequence[Membership]) -> Html:
    names = [membership.organization_name for membership in organizations]
    values = [
        (membership.organization_id, _label(membership, unique=names.count(membership.organization_name) == 1))
        for membership in organizations
    ]
    return options(values, values[0][0])


def _label(membership: Membership, *, unique: bool) -> str:
    """The organization's name, with its id if another of the person's organizations has the same name."""
    name = membership.organization_name
    return name if unique else f"{name} ({membership.organization_id})"
