"""The function of fleets: their API, and their pages, each imported at its first request."""

from typing import Final

from headgate.http.app import create_app, lambda_handler
from web import pages
from web.routes import part

_API: Final = ("captures", "prices", "rollouts", "observed", "instances", "overview", "series")
_ALSO_FOR_THE_APPLICATION: Final = ("env", "groups", "fleets")
_PAGES: Final = (
    "home_pages",
    "redaction_pages",
    "price_pages",
    # Its address would be a fleet's id.
    "rollouts.roll_out_pages",
    "fleet_pages",
    *(f"groups.{name}" for name in ("new_pages", "group_pages", "review_pages", "settings_pages")),
    "rollouts.rollout_pages",
    "instances.list_pages",
    # Before the page of one collector, which takes all paths below it.
    "observed_pages",
    "instances.instance_pages",
    "capture_pages",
)
routers: Final = (
    *(part(f"fleets.api.{name}") for name in _API),
    *(part(f"fleets.api.{name}", ("router", "by_hand")) for name in _ALSO_FOR_THE_APPLICATION),
)
app = create_app("Headgate fleets", [*routers, *(part(f"fleets.pages.{name}") for name in _PAGES)])
pages.install(app)
handler = lambda_handler(app)
