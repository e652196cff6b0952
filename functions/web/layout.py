"""What all pages share: head, bar, tabs, and the headers that protect a browser against attacks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fastapi.responses import HTMLResponse, RedirectResponse

from headgate.foundation.caller import Caller
from web import assets
from web.html import NOTHING, Html, html, joined

STYLE_PATH: Final = "/style.css"
# Scripts and styles are this site's files; forms and requests go to this site only, and no other site frames a page.
SECURITY_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    # With `no-referrer`, browsers would send `Origin: null` with this site's own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Strict-Transport-Security": "max-age=31536000",
}

_PAGE: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Headgate</title>
<link rel="stylesheet" href="/style.css">
{scripts}
</head>
<body{of}>
<a class="skip" href="#content">Skip to the content</a>
{bar}
<main id="content"{narrow}>
{notice}
{content}
</main>
</body>
</html>
"""
_BAR: Final = """\
<header class="bar">
<div><a class="brand" href="/">Headgate</a>{organization}<div class="who"><span>{email}</span>{sign_out}</div></div>
{tabs}
</header>
"""
# What the page's script asks the API with.
_OF: Final = ' data-person="{person}" data-organization="{organization}" data-csrf="{csrf}"'
_SIGN_OUT: Final = """\
<form method="post" action="/sign-out"><input type="hidden" name="csrf" value="{csrf}">\
<button class="link">Sign out</button></form>"""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a page shows around its content: the person and the organization. `csrf` goes into every form.

    `person` is the user's id, empty like `email` if nobody is signed in.
    """

    csrf: str
    person: str = ""
    email: str = ""
    caller: Caller | None = None
    tab: str = ""


def page(
    frame: Frame,
    title: str,
    content: Html,
    *,
    notice: str = "",
    problem: str = "",
    status: int = 200,
    script: str = "",
    wide: bool = False,
) -> HTMLResponse:
    """A page. It is narrow unless it belongs to an organization, and takes the whole window if it is `wide`.

    `script` is the console's for what is on it.
    """
    notices = joined(
        html('<div class="notice{bad}" role="{role}">{text}</div>', bad=bad, role=role, text=text)
        for text, bad, role in ((problem, " bad", "alert"), (notice, "", "status"))
        if text
    )
    body = html(
        _PAGE,
        title=title,
        scripts=[assets.script(name) for name in ("shell", script) if name],
        of=_of(frame) if frame.person else NOTHING,
        bar=_bar(frame),
        narrow=Html(' class="wide"') if wide else NOTHING if frame.caller else Html(' class="narrow"'),
        notice=notices,
        content=content,
    )
    return HTMLResponse(body, status, headers=SECURITY_HEADERS)


def redirect(path: str) -> RedirectResponse:
    """Redirect to another page of this site, with GET."""
    return RedirectResponse(path, 303, headers=SECURITY_HEADERS)


def csrf_field(frame: Frame) -> Html:
    return html('<input type="hidden" name="csrf" value="{csrf}">', csrf=frame.csrf)


def options(values: Sequence[tuple[str, str]], selected: str) -> Html:
    return joined(
        html(
            '<option value="{value}"{selected}>{label}</option>',
            value=value,
            label=label,
            selected=Html(" selected") if value == selected else NOTHING,
        )
        for value, label in values
    )


def _of(frame: Frame) -> Html:
    organization = frame.caller.organization_id if frame.caller else ""
    return html(_OF, person=frame.person, organization=organization, csrf=frame.csrf)


def _bar(frame: Frame) -> Html:
    caller = frame.caller
    return html(
        _BAR,
        organization=html('<span class="soft">{name}</span>', name=caller.organization_name) if caller else NOTHING,
        email=frame.email,
        sign_out=html(_SIGN_OUT, csrf=frame.csrf) if frame.email else NOTHING,
        tabs=_tabs(frame, caller) if caller else NOTHING,
    )


def _tabs(frame: Frame, caller: Caller) -> Html:
    tabs = [
        ("", "Home"),
        ("configurations", "Configurations"),
        ("runs", "Test runs"),
        ("fleets", "Fleets"),
        ("flows", "Flows"),
        ("components", "Components"),
        ("policies", "Policies"),
        ("members", "Members"),
    ]
    if caller.is_admin:
        tabs += [("service-accounts", "Service accounts"), ("webhooks", "Webhooks"), ("changes", "Changes")]
    links = [
        html(
            '<a href="/organizations/{id}{path}"{current}>{label}</a>',
            id=caller.organization_id,
            path=f"/{path}" if path else "",
            current=Html(' aria-current="page"') if path == frame.tab else NOTHING,
            label=label,
        )
        for path, label in tabs
    ]
    return html('<nav class="tabs" aria-label="Organization">{links}</nav>', links=links)
