"""The function of webhooks: their API and their pages, each imported at its first request."""

from headgate.http.app import create_app, lambda_handler
from headgate.http.parts import Part
from headgate.http.paths import PUBLIC
from web import pages

router = Part("webhooks.api", f"{PUBLIC}/webhooks/**")
app = create_app("Headgate webhooks", [router, Part("webhooks.webhook_pages", "/organizations/*/webhooks/**")])
pages.install(app)
handler = lambda_handler(app)
