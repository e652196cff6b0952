"""The function of fleets: their API, and their pages, each imported at its first request."""

from typing import Final

from headgate.http.app import create_app, lambda_handler
from web import pages
from web.routes import part

_BOTH: Final = ("router", "by_hand")

routers: Final = (
    part("fleets.api.captures"),
    part("fleets.api.prices"),
    part("fleets.api.env", _BOTH),
    part("fleets.api.rollouts"),
    part("fleets.api.observed"),
    part("fleets.api.instances"),
    part("fleets.api.groups", _BOTH),
    part("fleets.api.fleets", _BOTH),
    part("fleets.api.overview"),
    part("fleets.api.series"),
)
_PAGES: Final = (
    part("fleets.pages.home_pages"),
    part("fleets.pages.redaction_pages"),
    part("fleets.pages.price_pages"),
    # Its address would be a fleet's id.
    part("fleets.pages.rollouts.roll_out_pages"),
    part("fleets.pages.fleet_pages"),
    part("fleets.pages.groups.new_pages"),
    part("fleets.pages.groups.group_pages"),
    part("fleets.pages.groups.review_pages"),
    part("fleets.pages.groups.settings_pages"),
    part("fleets.pages.rollouts.rollout_pages"),
    part("fleets.pages.instances.list_pages"),
    # Before the page of one collector, which takes all paths below it.
    part("fleets.pages.observed_pages"),
    part("fleets.pages.instances.instance_pages"),
    part("fleets.pages.capture_pages"),
)
app = create_app("Headgate fleets", [*routers, *_PAGES])
pages.install(app)
handler = lambda_handler(app)
