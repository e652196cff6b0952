"""The texts of the mails that the user pool sends (Cognito's custom message trigger)."""

import re
from collections.abc import Mapping
from html import escape
from typing import Final, TypedDict, cast

from headgate.foundation.settings import settings

Texts = Mapping[str, str]


class MailRequest(TypedDict, total=False):
    usernameParameter: str
    codeParameter: str
    clientMetadata: Mapping[str, str]


class Response(TypedDict, total=False):
    emailSubject: str
    emailMessage: str


class MailEvent(TypedDict):
    triggerSource: str
    request: MailRequest
    response: Response


_INVITATION: Final = """\
<p>You were invited to Headgate, which keeps the configurations of your OpenTelemetry Collectors.</p>
<p>Sign in at <a href="{url}/sign-in">{url}/sign-in</a> within seven days, and accept the invitation there:</p>
<p>Email address: {name}<br>Temporary password: {code}</p>
<p>You choose a password of your own when you first sign in.</p>
"""
_RESET: Final = """\
<p>Somebody asked for a new password for your Headgate account. If it was not you, there is nothing to do.</p>
<p>Your code is <strong>{code}</strong>. Enter it within an hour at <a href="{link}">{link}</a>.</p>
"""
# What our own addresses consist of: nothing that could end an attribute or a tag.
_ADDRESS: Final = re.compile(r"https?://[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?")
_LINK: Final = re.compile(_ADDRESS.pattern + r"/reset-password\?[A-Za-z0-9_.~%=&+-]{1,3000}")
# What Cognito replaces by its own values, and nothing else.
_PLACEHOLDER: Final = re.compile(r"\{[a-z#]{1,16}\}")


def handler(event: MailEvent, _context: object) -> MailEvent:
    """Fill in subject and message. For other mails, or if our own address is not known, Cognito's own text stays.

    Everything that is filled in is checked for its form and escaped, whoever set it.
    """
    request = event["request"]
    metadata = request.get("clientMetadata") or {}
    # It is not documented that AdminCreateUser passes its metadata on.
    urls = (metadata.get("url", ""), settings().public_url)
    url = next((url for url in urls if _ADDRESS.fullmatch(url)), "")
    link, code = metadata.get("link", ""), _placeholder(request.get("codeParameter"), "{####}")
    match event["triggerSource"]:
        case "CustomMessage_AdminCreateUser" if url:
            name = _placeholder(request.get("usernameParameter"), "{username}")
            response = Response(
                emailSubject="Your invitation to Headgate",
                emailMessage=_INVITATION.format(url=escape(url), name=name, code=code),
            )
        case "CustomMessage_ForgotPassword" if _LINK.fullmatch(link):
            response = Response(
                emailSubject="Your code for a new Headgate password",
                emailMessage=_RESET.format(link=escape(link), code=code),
            )
        case _:
            response = Response()
    event["response"] = cast(Response, {**event["response"], **response})
    return event


def _placeholder(placeholder: str | None, usual: str) -> str:
    return placeholder if placeholder and _PLACEHOLDER.fullmatch(placeholder) else usual
