"""The function of tests: runs, suites, rules and tests of versions, and their pages, each imported when needed."""

from typing import Final

from headgate.http.app import create_app, lambda_handler
from headgate.http.parts import Part
from headgate.http.paths import APPLICATION, PUBLIC
from web import pages

_TESTING: Final = f"{PUBLIC}/testing"
_VERSION: Final = "configurations/*/versions/*"
_CONFIGURATION_PAGE: Final = "/organizations/*/configurations/*"
_VERSION_PAGE: Final = f"/organizations/*/{_VERSION}"

router: Final = Part("testing.api", f"{_TESTING}/runs/**", f"{_TESTING}/suites/**")
rules_router: Final = Part("testing.rules", f"{PUBLIC}/{_VERSION}/validation-pipelines/**")
app = create_app(
    "Headgate testing",
    [
        router,
        rules_router,
        Part("testing.comparisons", f"{_TESTING}/comparisons/**"),
        Part("testing.coverages", f"{_TESTING}/coverage/**"),
        Part("testing.version_tests", f"{PUBLIC}/{_VERSION}/tests/**"),
        Part("testing.rules", f"{APPLICATION}/{_VERSION}/validation-pipelines/**", routers=("by_hand",)),
        Part("testing.rule_pages", _VERSION_PAGE, f"{_VERSION_PAGE}/rules", f"{_CONFIGURATION_PAGE}/tests"),
        Part("testing.run_list_pages", "/organizations/*/runs", f"{_CONFIGURATION_PAGE}/runs"),
        Part("testing.run_pages", f"{_VERSION_PAGE}/run"),
    ],
)
pages.install(app)
handler = lambda_handler(app)
