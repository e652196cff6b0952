"""The function of tests: runs, suites, rules and tests of versions, and their pages, each imported when needed."""

from typing import Final

from headgate.http.app import create_app, lambda_handler
from web import pages
from web.routes import part

_PAGES: Final = ("rule", "run_list", "run")
router: Final = part("testing.api")
rules_router: Final = part("testing.rules", ("router", "by_hand"))
app = create_app(
    "Headgate testing",
    [
        router,
        rules_router,
        part("testing.comparisons"),
        part("testing.coverages"),
        part("testing.version_tests"),
        *(part(f"testing.{name}_pages") for name in _PAGES),
    ],
)
pages.install(app)
handler = lambda_handler(app)
