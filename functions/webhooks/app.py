"""The function of webhooks: their API and their pages."""

from headgate.http.app import create_app, lambda_handler
from web import pages
from webhooks import webhook_pages
from webhooks.api import router

app = create_app("Headgate webhooks", [router, webhook_pages.router])
pages.install(app)
handler = lambda_handler(app)
