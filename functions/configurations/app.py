"""The function of configurations: their API and policies, and their pages, each imported at its first request."""

from typing import Final

from headgate.http.app import create_app, lambda_handler
from headgate.http.parts import Part
from headgate.http.paths import PUBLIC
from web import pages

_PAGES: Final = "/organizations/*/configurations"

router: Final = Part("configurations.api", f"{PUBLIC}/configurations/**")
app = create_app(
    "Headgate configurations",
    [
        router,
        Part("configurations.policies", f"{PUBLIC}/policies"),
        Part(
            "configurations.editor_pages", f"{_PAGES}/new", f"{_PAGES}/try", f"{_PAGES}/*/edit", f"{_PAGES}/*/compare"
        ),
        Part("configurations.list_pages", _PAGES),
        Part("configurations.change_pages", f"{_PAGES}/change"),
        Part(
            "configurations.configuration_pages",
            f"{_PAGES}/*",
            f"{_PAGES}/*/versions",
        ),
        Part(
            "configurations.keeping_pages",
            f"{_PAGES}/*/settings",
            f"{_PAGES}/*/archive",
            f"{_PAGES}/*/restore",
            f"{_PAGES}/*/delete",
        ),
        Part("configurations.policy_pages", "/organizations/*/policies"),
    ],
)
pages.install(app)
handler = lambda_handler(app)
