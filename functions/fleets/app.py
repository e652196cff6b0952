"""The function of fleets: their API, and their pages, each imported at its first request."""

from typing import Final

from headgate.http.app import create_app, lambda_handler
from headgate.http.parts import Part
from headgate.http.paths import APPLICATION, PUBLIC
from web import pages

_FLEETS: Final = f"{PUBLIC}/fleets"
_GROUP: Final = f"{_FLEETS}/*/deployments/*"
_GROUP_BY_HAND: Final = f"{APPLICATION}/fleets/*/deployments/*"
_HOME: Final = "/organizations/*"
_FLEET_PAGE: Final = f"{_HOME}/fleets/*"
_GROUP_PAGE: Final = f"{_FLEET_PAGE}/deployments/*"

routers: Final = (
    Part("fleets.api.captures", f"{_FLEETS}/capture-redaction", f"{_FLEETS}/*/captures/**", f"{_GROUP}/captures"),
    Part("fleets.api.prices", f"{_FLEETS}/prices", f"{_FLEETS}/*/costs", f"{_GROUP}/costs"),
    Part("fleets.api.env", f"{_GROUP}/env", f"{_GROUP_BY_HAND}/token", routers=("router", "by_hand")),
    Part("fleets.api.rollouts", f"{_GROUP}/rollouts/**"),
    Part(
        "fleets.api.observed",
        f"{_FLEETS}/*/inventory",
        f"{_FLEETS}/*/inventory.csv",
        f"{_FLEETS}/*/configurations",
        f"{_FLEETS}/*/instances/*/configuration",
        f"{_FLEETS}/*/instances/*/findings",
        f"{_FLEETS}/*/instances/*/adoption",
    ),
    Part("fleets.api.instances", f"{_FLEETS}/*/instances/**"),
    Part(
        "fleets.api.groups",
        f"{_FLEETS}/*/deployments",
        _GROUP,
        f"{_GROUP}/selector",
        f"{_GROUP}/upgrade-check",
        f"{_GROUP}/assignment-check",
        f"{_GROUP}/history",
        f"{_GROUP_BY_HAND}/volume-mounts",
        routers=("router", "by_hand"),
    ),
    Part(
        "fleets.api.fleets",
        _FLEETS,
        f"{_FLEETS}/*",
        f"{_FLEETS}/*/install",
        f"{_FLEETS}/*/observe",
        f"{APPLICATION}/fleets/*/token",
        routers=("router", "by_hand"),
    ),
    Part("fleets.api.overview", f"{PUBLIC}/overview"),
    Part(
        "fleets.api.series",
        f"{_FLEETS}/*/series",
        f"{_GROUP}/series",
        f"{_FLEETS}/*/instances/*/series",
        f"{_FLEETS}/*/states",
        f"{_GROUP}/states",
    ),
)
_PAGES: Final = (
    Part("fleets.pages.home_pages", _HOME),
    Part("fleets.pages.redaction_pages", f"{_HOME}/fleets/capture-redaction"),
    Part("fleets.pages.price_pages", f"{_HOME}/fleets/prices"),
    # Its address would be a fleet's id.
    Part("fleets.pages.rollouts.roll_out_pages", f"{_HOME}/fleets/roll-out"),
    Part("fleets.pages.fleet_pages", f"{_HOME}/fleets", _FLEET_PAGE, f"{_FLEET_PAGE}/token", f"{_FLEET_PAGE}/delete"),
    Part("fleets.pages.groups.new_pages", f"{_FLEET_PAGE}/new-group"),
    Part("fleets.pages.groups.group_pages", _GROUP_PAGE, f"{_GROUP_PAGE}/delete", f"{_GROUP_PAGE}/volume-mounts/**"),
    Part("fleets.pages.groups.review_pages", f"{_GROUP_PAGE}/review"),
    Part("fleets.pages.groups.settings_pages", f"{_GROUP_PAGE}/settings/**"),
    Part("fleets.pages.rollouts.rollout_pages", f"{_GROUP_PAGE}/rollouts/**"),
    Part("fleets.pages.instances.list_pages", f"{_FLEET_PAGE}/collectors", f"{_FLEET_PAGE}/collectors/orders"),
    Part("fleets.pages.instances.instance_pages", f"{_FLEET_PAGE}/collectors/*/**"),
    Part("fleets.pages.capture_pages", f"{_FLEET_PAGE}/captures/**", f"{_GROUP_PAGE}/captures"),
)
app = create_app("Headgate fleets", [*routers, *_PAGES])
pages.install(app)
handler = lambda_handler(app)
