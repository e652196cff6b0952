"""The function of configurations: their API and policies, and their pages, each imported at its first request."""

from typing import Final

from headgate.http.app import create_app, lambda_handler
from web import pages
from web.routes import part

router: Final = part("configurations.api")
app = create_app(
    "Headgate configurations",
    [
        router,
        part("configurations.policies"),
        part("configurations.editor_pages"),
        part("configurations.list_pages"),
        part("configurations.change_pages"),
        part("configurations.configuration_pages"),
        part("configurations.keeping_pages"),
        part("configurations.policy_pages"),
    ],
)
pages.install(app)
handler = lambda_handler(app)
