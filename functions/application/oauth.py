"""Sessions of command lines: the endpoints of RFC 8628 and RFC 6749, which take forms and answer JSON."""

from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from headgate.foundation import clock, errors
from headgate.http.browser import public_url
from headgate.http.paths import APPLICATION
from headgate.http.threads import in_thread
from headgate.identity import logins
from web.addresses import client_address
from web.forms import read_form

router = APIRouter(prefix=APPLICATION, tags=["Login"])

_DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


@router.post("/device_authorization")
async def begin(request: Request) -> JSONResponse:
    """Begin a login that a browser approves (RFC 8628, 3.1)."""
    device = await in_thread(logins.begin_device, client_address(request), clock.now())
    page = f"{public_url(request)}/device"
    return JSONResponse(
        {
            "device_code": device.device_code,
            "user_code": device.user_code,
            "verification_uri": page,
            "verification_uri_complete": f"{page}?{urlencode({'user_code': device.user_code})}",
            "expires_in": int(logins.LIFETIME.total_seconds()),
            "interval": logins.POLL_SECONDS,
        }
    )


@router.post("/token")
async def redeem(request: Request) -> JSONResponse:
    """Exchange an approved device code, or a pasted code with its verifier, for a session; each works once."""
    form = await read_form(request)
    try:
        match form.get("grant_type"):
            case "urn:ietf:params:oauth:grant-type:device_code":
                granted = await in_thread(logins.redeem_device, form.get("device_code", ""), clock.now())
            case "authorization_code":
                granted = await in_thread(
                    logins.redeem_code, form.get("code", ""), form.get("code_verifier", ""), clock.now()
                )
            case _:
                return _refused("unsupported_grant_type", "Use authorization_code or " + _DEVICE_GRANT)
    except (logins.Pending, logins.Denied, logins.Expired, logins.InvalidGrant) as error:
        return _refused(error.code, error.detail)
    except errors.Invalid as error:
        return _refused("invalid_request", error.detail)
    return JSONResponse(
        {
            "access_token": granted.value,
            "token_type": "Bearer",
            "expires_in": int((granted.session.expires_at - clock.now()).total_seconds()),
            "expires_at": clock.rfc3339(granted.session.expires_at),
            "email": granted.session.user.email,
            "organization_id": granted.organization_id,
            "organization_name": granted.organization_name,
        }
    )


def _refused(error: str, description: str) -> JSONResponse:
    """RFC 6749, 5.2."""
    return JSONResponse({"error": error, "error_description": description}, 400)
