"""The function of configurations: their API, their policies, and their pages."""

from configurations import configuration_pages, editor_pages, list_pages, policies, policy_pages
from configurations.api import router
from headgate.http.app import create_app, lambda_handler
from web import pages

app = create_app(
    "Headgate configurations",
    [router, policies.router, editor_pages.router, list_pages.router, configuration_pages.router, policy_pages.router],
)
pages.install(app)
handler = lambda_handler(app)
