"""The pages for signing in and out, and for passwords."""

from typing import Final

from fastapi import Request, Response

from headgate.foundation import clock, errors
from headgate.http.browser import public_url
from headgate.http.statuses import status_of
from headgate.identity import passwords, people, proofs, sessions
from headgate.identity.model import Session
from web import visitor
from web.addresses import client_address
from web.html import NOTHING, Html, html
from web.layout import csrf_field, page, redirect
from web.pages import Form, Visit, frame, own_path_or_root, page_router, with_retry_after

router = page_router()

_SIGN_IN: Final = """\
<div class="card"><h1>Sign in</h1>
<form method="post" action="/sign-in">{csrf}<input type="hidden" name="next" value="{next}">
<label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="{email}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="256">
<button>Sign in</button></form></div>
<p class="small"><a href="/forgot-password">Forgot your password?</a></p>
"""
_CHOOSE: Final = """\
<div class="card"><h1>Choose your password</h1>
<p class="soft">Your temporary password is correct. Choose your own: from now on you sign in with it.</p>
<form method="post" action="/sign-in/new-password">{csrf}<input type="hidden" name="next" value="{next}">
<input type="hidden" name="challenge" value="{challenge}">
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="12" maxlength="256"
 aria-describedby="rule"{invalid}>
<p class="small soft" id="rule">At least 12 characters. Several random words make a good password.</p>
<button>Set password and sign in</button></form></div>
"""
_FORGOT: Final = """\
<div class="card"><h1>Forgot your password?</h1>
<p class="soft">We send a code to your email address. With it you can set a new password.</p>
<form method="post" action="/forgot-password">{csrf}
<label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="254">
<button>Send the code</button></form></div>
<p class="small"><a href="/sign-in">Back to the sign-in</a></p>
"""
_RESET: Final = """\
<div class="card"><h1>Set a new password</h1>
<form method="post" action="/reset-password">{csrf}<input type="hidden" name="request" value="{request}">
<label for="email">Email address</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="{email}">
<label for="code">Code from the mail</label>
<input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" required maxlength="20"
 value="{code}"{wrong_code}>
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="12" maxlength="256"
 aria-describedby="rule"{weak}>
<p class="small soft" id="rule">At least 12 characters. A new password signs you out everywhere.</p>
<button>Set password</button></form></div>
<p class="small"><a href="/forgot-password">Send another code</a></p>
"""
_SENT: Final = """\
<div class="card"><h1>Check your mail</h1>
<p>If that address has an account, a mail with a code is on its way, or was sent in the last 15 minutes. Follow the link
in it within an hour, and enter the code there.</p>
<p class="soft last">If no mail arrives, ask again after 15 minutes.</p></div>
<p class="small"><a href="/forgot-password">Send another mail</a></p>
"""


@router.get("/sign-in")
def sign_in_page(who: Visit, next: str = "/", notice: str = "") -> Response:
    if who.session is not None:
        return redirect(own_path_or_root(next))
    return page(frame(who), "Sign in", _sign_in(who, own_path_or_root(next), ""), notice=_NOTICES.get(notice, ""))


@router.post("/sign-in")
def sign_in(request: Request, who: Visit, form: Form) -> Response:
    after = own_path_or_root(form.get("next", "/"))
    email = form.get("email", "")
    try:
        session, value = people.sign_in(
            email, form.get("password", ""), client_address(request), clock.now(), visitor.known_at(request)
        )
    except people.NewPasswordNeeded as needed:
        return page(frame(who), "Choose your password", _new_password(who, after, needed.challenge))
    except (passwords.WrongPassword, errors.TooManyRequests) as error:
        content = _sign_in(who, after, email)
        return with_retry_after(
            page(frame(who), "Sign in", content, problem=error.detail, status=status_of(error)), error
        )
    return _signed_in(who, session, value, after)


@router.post("/sign-in/new-password")
def new_password(who: Visit, form: Form) -> Response:
    after = own_path_or_root(form.get("next", "/"))
    challenge = form.get("challenge", "")
    try:
        session, value = people.replace_temporary(challenge, form.get("password", ""), clock.now())
    except passwords.WeakPassword as error:
        content = _new_password(who, after, challenge, weak=True)
        return page(frame(who), "Choose your password", content, problem=error.detail, status=422)
    except passwords.WrongPassword:
        problem = "That took too long: sign in with the temporary password again"
        return page(frame(who), "Sign in", _sign_in(who, after, ""), problem=problem, status=403)
    return _signed_in(who, session, value, after)


@router.post("/sign-out")
def sign_out(who: Visit, form: Form) -> Response:
    """End the session, also for copies of its cookie."""
    if who.session is not None:
        sessions.end(who.session)
    return visitor.sign_out(redirect("/sign-in?notice=signed-out"))


@router.get("/forgot-password")
def forgot_password_page(who: Visit) -> Response:
    return page(frame(who), "Forgot your password?", html(_FORGOT, csrf=csrf_field(frame(who))))


@router.post("/forgot-password")
def forgot_password(request: Request, who: Visit, form: Form) -> Response:
    email = form.get("email", "")
    people.forgot_password(email, client_address(request), public_url(request), clock.now())
    return redirect("/reset-password")


@router.get("/reset-password")
def reset_password_page(who: Visit, email: str = "", request: str = "") -> Response:
    if not request:
        return page(frame(who), "Check your mail", html(_SENT))
    return page(frame(who), "Set a new password", _reset(who, email[:254], request[:100]))


@router.post("/reset-password")
def reset_password(who: Visit, form: Form) -> Response:
    email, mailed = form.get("email", ""), form.get("request", "")
    try:
        proof = people.reset_password(email, mailed, form.get("code", ""), form.get("password", ""), clock.now())
    except (passwords.WrongCode, passwords.WeakPassword) as error:
        content = _reset(who, email, mailed, form.get("code", ""), error)
        return page(frame(who), "Set a new password", content, problem=error.detail, status=422)
    return visitor.know(redirect("/sign-in?notice=password-set"), proof)


# Marks the wrong field; browsers put the cursor there.
_INVALID: Final = Html(' aria-invalid="true" autofocus')
_NOTICES: Final = {
    "signed-out": "You are signed out.",
    "password-set": "Your password is set. Sign in with it.",
    "ended": "Your session has ended, and the form was not saved. Sign in and send it again: going back in the browser "
    "brings back what you typed.",
}


def _signed_in(who: visitor.Visitor, session: Session, value: str, after: str) -> Response:
    if who.session is not None:
        sessions.end(who.session)
    return visitor.know(visitor.sign_in(redirect(after), value), proofs.of_browser(session.user.email))


def _sign_in(who: visitor.Visitor, after: str, email: str) -> Html:
    return html(_SIGN_IN, csrf=csrf_field(frame(who)), next=after, email=email)


def _new_password(who: visitor.Visitor, after: str, challenge: str, *, weak: bool = False) -> Html:
    return html(
        _CHOOSE, csrf=csrf_field(frame(who)), next=after, challenge=challenge, invalid=_INVALID if weak else NOTHING
    )


def _reset(
    who: visitor.Visitor,
    email: str,
    request: str,
    code: str = "",
    wrong: passwords.WrongCode | passwords.WeakPassword | None = None,
) -> Html:
    return html(
        _RESET,
        csrf=csrf_field(frame(who)),
        email=email,
        request=request,
        code=code,
        wrong_code=_INVALID if isinstance(wrong, passwords.WrongCode) else NOTHING,
        weak=_INVALID if isinstance(wrong, passwords.WeakPassword) else NOTHING,
    )
