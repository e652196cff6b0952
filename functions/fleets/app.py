"""The function of fleets: their API, and their pages."""

from typing import Final

from fleets.api import captures, env, fleets, groups, instances, overview, rollouts
from fleets.api.routing import by_hand, router
from fleets.pages import capture_pages, fleet_pages, home_pages, redaction_pages
from fleets.pages.groups import group_pages, new_pages, review_pages, settings_pages
from fleets.pages.instances import instance_pages, list_pages
from fleets.pages.rollouts import roll_out_pages, rollout_pages
from headgate.http.app import create_app, lambda_handler
from web import pages

# They add their routes when they are imported.
__all__ = ["captures", "env", "fleets", "groups", "instances", "rollouts", "router"]

_PAGES: Final = (
    home_pages,
    redaction_pages,
    # Its address would be a fleet's id.
    roll_out_pages,
    fleet_pages,
    new_pages,
    group_pages,
    review_pages,
    settings_pages,
    rollout_pages,
    list_pages,
    instance_pages,
    capture_pages,
)
app = create_app("Headgate fleets", [router, overview.router, by_hand, *(module.router for module in _PAGES)])
pages.install(app)
handler = lambda_handler(app)
