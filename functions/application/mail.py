"""The texts of the mails that the user pool sends (Cognito's custom message trigger)."""

from collections.abc import Mapping
from typing import Final, TypedDict, cast

Texts = Mapping[str, str]


class Request(TypedDict, total=False):
    usernameParameter: str
    codeParameter: str
    clientMetadata: Mapping[str, str]


class Response(TypedDict, total=False):
    emailSubject: str
    emailMessage: str


class Event(TypedDict):
    triggerSource: str
    request: Request
    response: Response


_INVITATION: Final = """\
<p>You were invited to Headgate, which keeps the configurations of your OpenTelemetry Collectors.</p>
<p>Sign in at <a href="{url}/sign-in">{url}/sign-in</a> within seven days:</p>
<p>Email address: {name}<br>Temporary password: {code}</p>
<p>You choose a password of your own when you first sign in.</p>
"""
_RESET: Final = """\
<p>Somebody asked for a new password for your Headgate account. If it was not you, there is nothing to do.</p>
<p>Your code is <strong>{code}</strong>. Enter it at <a href="{url}/reset-password">{url}/reset-password</a>.</p>
"""


def handler(event: Event, _context: object) -> Event:
    """Fill in subject and message; for any other mail Cognito's own text stays."""
    request = event["request"]
    # Never somebody's input: the functions set it to the deployment's own address.
    url = (request.get("clientMetadata") or {}).get("url", "")
    code = request.get("codeParameter", "{####}")
    match event["triggerSource"]:
        case "CustomMessage_AdminCreateUser":
            name = request.get("usernameParameter", "{username}")
            response = Response(
                emailSubject="Your invitation to Headgate",
                emailMessage=_INVITATION.format(url=url, name=name, code=code),
            )
        case "CustomMessage_ForgotPassword":
            response = Response(
                emailSubject="Your code for a new Headgate password", emailMessage=_RESET.format(url=url, code=code)
            )
        case _:
            response = Response()
    event["response"] = cast(Response, {**event["response"], **response})
    return event
