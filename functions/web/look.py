"""Preferences for pages: theme, density and time zone, in a cookie of the browser."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fastapi import Request
from starlette.responses import Response

LOOK_COOKIE: Final = "__Host-headgate-look"
THEMES: Final = (("system", "As the system"), ("light", "Light"), ("dark", "Dark"))
DENSITIES: Final = (("compact", "Compact: rows of 36 px"), ("comfortable", "Comfortable: rows of 44 px"))
ZONES: Final = (("local", "The time zone of this browser"), ("utc", "UTC"))
_SECONDS: Final = 365 * 86_400


@dataclass(frozen=True, slots=True)
class Look:
    theme: str = "system"
    density: str = "compact"
    zone: str = "local"


DEFAULT: Final = Look()


def read(request: Request) -> Look:
    """The look that the cookie names; the default for each part that is missing or unknown."""
    theme, _, rest = request.cookies.get(LOOK_COOKIE, "").partition(".")
    density, _, zone = rest.partition(".")
    return of_form({"theme": theme, "density": density, "zone": zone})


def of_form(form: Mapping[str, str]) -> Look:
    """The look of a form's fields; the default for each that is missing or unknown."""
    return Look(
        _known(THEMES, form.get("theme", "")),
        _known(DENSITIES, form.get("density", "")),
        _known(ZONES, form.get("zone", "")),
    )


def save(response: Response, look: Look) -> Response:
    value = f"{look.theme}.{look.density}.{look.zone}"
    response.set_cookie(LOOK_COOKIE, value, max_age=_SECONDS, path="/", secure=True, httponly=True, samesite="lax")
    return response


def _known(choices: tuple[tuple[str, str], ...], value: str) -> str:
    """The value, or the first choice if it is not one of them."""
    return value if value in dict(choices) else choices[0][0]
