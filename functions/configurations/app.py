"""The function of configurations: their API and policies, and their pages, each imported at its first request."""

from typing import Final

from headgate.http.app import create_app, lambda_handler
from web import pages
from web.routes import part

_PAGES: Final = ("editor", "list", "change", "configuration", "keeping", "policy")
router: Final = part("configurations.api")
app = create_app(
    "Headgate configurations",
    [
        router,
        part("configurations.policies"),
        *(part(f"configurations.{name}_pages") for name in _PAGES),
    ],
)
pages.install(app)
handler = lambda_handler(app)
