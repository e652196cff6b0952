"""The frame of all pages: head, sidebar, and the headers that protect a browser against attacks."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fastapi.responses import HTMLResponse, RedirectResponse

from headgate.foundation.caller import Caller
from web import assets
from web.html import NOTHING, Html, html, joined, with_code
from web.icons import icon
from web.look import DEFAULT, Look

STYLE_PATH: Final = "/style.css"
# Scripts and styles are this site's files; forms and requests go to this site only, and no other site frames a page.
SECURITY_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; "
    "img-src 'self'; connect-src 'self'; "
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
<html lang="en" data-theme="{theme}" data-density="{density}" data-zone="{zone}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Headgate</title>
<link rel="icon" href="/assets/favicon.svg" type="image/svg+xml">
<link rel="preload" href="/assets/inter-5.3.0.woff2" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="/style.css">
{scripts}
</head>
<body{of}{shell}>
<a class="skip" href="#content">Skip to the content</a>
{bar}
<main id="content"{narrow}>
{notice}
{content}
</main>
</body>
</html>
"""
# A popover, so that the drawer of a phone opens and closes without a script; on a desk it stands beside the page.
_BAR: Final = """\
<header class="bar"><button type="button" class="plain small" popovertarget="side" aria-label="Menu">{menu}</button>
<a class="brand" href="/">Headgate</a></header>
<div id="side" class="side" popover>
<a class="brand" href="/">Headgate</a>
{organization}{links}
<div class="who">{keys}{account}{sign_out}</div>
</div>
"""
_STRANGER: Final = '<header class="bar"><a class="brand" href="/">Headgate</a></header>'
_ORGANIZATION: Final = """\
<details class="switch" id="organizations"><summary title="{name}"><span>{name}</span>\
{switch}</summary>
<a href="/account">All organizations</a></details>
"""
# Their scripts show them: without, they do nothing.
_SEEK: Final = """\
<button type="button" class="seek" id="seek" title="Search, Ctrl-K" aria-keyshortcuts="Control+K" hidden>{icon}\
<span>Search</span><kbd>Ctrl K</kbd></button>
"""
_KEYS: Final = """\
<button type="button" class="link" id="keys" title="Keys" aria-keyshortcuts="?" hidden>{icon}<span>Keys</span></button>
"""
_ACCOUNT: Final = """<a href="/account"{current} title="Account of {email}">{icon}<span>{email}</span></a>"""
_GROUP: Final = '<h2 id="nav-{id}">{title}</h2><ul aria-labelledby="nav-{id}">{links}</ul>'
_LINK: Final = '<a href="/organizations/{id}{path}"{current} title="{label}">{icon}<span>{label}</span></a>'
# Each group's pages: path, label, icon, and whether only an Admin sees it.
_HOME: Final = ("", "Home", "house", False)
_GROUPS: Final = (
    (
        "Build",
        (
            ("configurations", "Configurations", "file-cog", False),
            ("runs", "Test runs", "flask-conical", False),
            ("flows", "Flows", "workflow", False),
            ("components", "Components", "blocks", False),
            ("policies", "Policies", "shield-check", False),
        ),
    ),
    ("Run", (("fleets", "Fleets", "server", False), ("changes", "Changes", "history", True))),
    (
        "Administer",
        (
            ("members", "Members", "users", False),
            ("service-accounts", "Service accounts", "key-round", True),
            ("webhooks", "Webhooks", "webhook", True),
            ("settings", "Settings", "settings", False),
        ),
    ),
)
OWN_FIELDS: Final = ("csrf", "form_key")
"""The fields that every form has beside its own."""
# What the page's script asks the API with.
_OF: Final = ' data-person="{person}" data-organization="{organization}" data-csrf="{csrf}"'
_HIDDEN: Final = """\
<input type="hidden" name="csrf" value="{csrf}"><input type="hidden" name="form_key" value="{key}">"""
_SIGN_OUT: Final = """\
<form method="post" action="/sign-out"><input type="hidden" name="csrf" value="{csrf}">\
<button class="link" title="Sign out">{icon}<span>Sign out</span></button></form>"""


@dataclass(frozen=True, slots=True)
class Frame:
    """The surroundings of a page's content: the person and the organization. `csrf` goes into every form.

    `person` is the user's id, empty like `email` if nobody is signed in.
    """

    csrf: str
    person: str = ""
    email: str = ""
    caller: Caller | None = None
    tab: str = ""
    look: Look = DEFAULT


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
    """A page. It is narrow unless somebody is signed in, and takes the whole window if it is `wide`.

    `script` is the console's for what is on it.
    """
    notices = joined(
        html('<div class="notice{bad}" role="{role}">{text}</div>', bad=bad, role=role, text=with_code(text))
        for text, bad, role in ((problem, " bad", "alert"), (notice, "", "status"))
        if text
    )
    body = html(
        _PAGE,
        title=title,
        theme=frame.look.theme,
        density=frame.look.density,
        zone=frame.look.zone,
        shell=_shell(frame, wide=wide),
        scripts=[assets.script(name) for name in ("shell", script) if name],
        of=_of(frame) if frame.person else NOTHING,
        bar=_bar(frame),
        narrow=Html(' class="wide"') if wide else NOTHING if frame.person else Html(' class="narrow"'),
        notice=notices,
        content=content,
    )
    return HTMLResponse(body, status, headers=SECURITY_HEADERS)


def redirect(path: str) -> RedirectResponse:
    """Redirect to another page of this site, with GET."""
    return RedirectResponse(path, 303, headers=SECURITY_HEADERS)


def csrf_field(frame: Frame) -> Html:
    """The hidden fields of a form: the token of its visitor, and a key by which it is carried out once."""
    return html(_HIDDEN, csrf=frame.csrf, key=secrets.token_hex(8))


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


def _shell(frame: Frame, *, wide: bool) -> Html:
    """The body's class: beside a `wide` page, the sidebar has icons only."""
    return NOTHING if not frame.person else Html(' class="shell rail"') if wide else Html(' class="shell"')


def _bar(frame: Frame) -> Html:
    if not frame.person:
        return Html(_STRANGER)
    caller = frame.caller
    account = html(
        _ACCOUNT,
        email=frame.email,
        icon=icon("user"),
        current=_current(frame.tab == "account"),
    )
    return html(
        _BAR,
        menu=icon("menu"),
        organization=_switch(caller) if caller else NOTHING,
        links=_links(frame, caller) if caller else NOTHING,
        keys=html(_KEYS, icon=icon("keyboard")),
        account=account,
        sign_out=html(_SIGN_OUT, csrf=frame.csrf, icon=icon("log-out")),
    )


def _switch(caller: Caller) -> Html:
    """The organization, with the way to others, and the search over it."""
    switch = html(_ORGANIZATION, name=caller.organization_name, switch=icon("chevrons-up-down"))
    return html("{switch}{seek}", switch=switch, seek=html(_SEEK, icon=icon("search")))


def _links(frame: Frame, caller: Caller) -> Html:
    groups = [
        html(
            _GROUP,
            id=title.lower(),
            title=title,
            links=[
                html("<li>{link}</li>", link=_link(frame, caller, path, label, drawing))
                for path, label, drawing, admins in links
                if caller.is_admin or not admins
            ],
        )
        for title, links in _GROUPS
    ]
    home = _link(frame, caller, *_HOME[:3])
    return html('<nav class="places" aria-label="Organization">{home}{groups}</nav>', home=home, groups=groups)


def _link(frame: Frame, caller: Caller, path: str, label: str, drawing: str) -> Html:
    return html(
        _LINK,
        id=caller.organization_id,
        path=f"/{path}" if path else "",
        current=_current((path or "home") == frame.tab),
        label=label,
        icon=icon(drawing),
    )


def _current(is_current: bool) -> Html:
    return Html(' aria-current="page"') if is_current else NOTHING
