"""The function of webhooks: their API and their pages, each imported at its first request."""

from headgate.http.app import create_app, lambda_handler
from web import pages
from web.routes import part

router = part("webhooks.api")
app = create_app("Headgate webhooks", [router, part("webhooks.webhook_pages")])
pages.install(app)
handler = lambda_handler(app)
