"""The validation endpoints: whole configurations, and the OTTL in them."""

from typing import Annotated

from fastapi import Query
from pydantic import BeforeValidator

from headgate.checker import Asker
from headgate.collectors import service as collectors
from headgate.configurations.model import UnknownDistribution
from headgate.foundation.collector import DISTRIBUTION
from headgate.http.app import create_app, lambda_handler
from headgate.http.credentials import Reader
from headgate.http.pagination import Page, Paging
from headgate.http.parameters import true_or_false
from headgate.http.routing import EXTENSION
from headgate.http.routing import router as group
from headgate.http.upgrade_wire import UpgradeReport
from headgate.identity import checks
from headgate.policies import checking
from headgate.upgrades import service as upgrades
from headgate.validation import service as validation
from headgate.validation.model import LintResult
from validation.check_wire import ValidationResult
from validation.wire import CheckTextUpgrade, InstalledVersionOut, Lint, Validate

router = group("", "Validation and linting")


WithLint = Annotated[bool, BeforeValidator(true_or_false), Query(description="Also check the OTTL expressions")]
WithPolicies = Annotated[
    bool, BeforeValidator(true_or_false), Query(description="Also check the organization's policies")
]


@router.post("/validate", response_model_exclude_unset=True)
def validate(
    body: Validate,
    caller: Reader,
    with_lint: Annotated[WithLint, Query(alias="lint")] = False,
    with_policies: Annotated[WithPolicies, Query(alias="policies")] = False,
) -> ValidationResult:
    """Validate a configuration on a real collector. 503 means that it was not checked: it may be valid or not.

    With `lint=true` and `policies=true` the answer also has these parts; all are one request of the limit and one check
    under way. A part that could not be checked has a `problem`, and the verdict stands.

    A component that only a reduced build of the collector lacks is 503 `component_not_in_build`, without `Retry-After`.
    A text that would take the collector too long is 422 `yaml_too_costly`. A credential may have a few checks
    under way at once; another one is 429 `too_many_checks_under_way`.
    """
    if body.distribution != DISTRIBUTION:
        raise UnknownDistribution(body.distribution, "distribution")
    with checks.under_way(caller):
        return ValidationResult.of(
            checking.check(caller, body.yaml, body.version, body.env, with_lint=with_lint, with_policies=with_policies)
        )


@router.post("/validate/upgrade-check", openapi_extra=EXTENSION)
def check_upgrade(body: CheckTextUpgrade, caller: Reader) -> UpgradeReport:
    """What changes if a configuration moves to another collector version, by dry runs on both. Nothing is saved.

    503 means that one of the versions could not be asked. Both versions count as one check under way.
    """
    with checks.under_way(caller):
        return UpgradeReport.of(upgrades.check(body.text(), body.to, body.source, asker=Asker.of(caller)))


@router.post("/ottl/lint")
def lint(body: Lint, caller: Reader) -> LintResult:
    """Check OTTL expressions with the real grammar: those of a whole configuration, or single ones in a context.

    `version` names the collector whose parsers check them, the server's default one without it. An official release has
    no linter: 422 `lint_not_possible`. 429 `too_many_checks_under_way` as for validating.
    """
    with checks.under_way(caller):
        if body.yaml is not None:
            return validation.lint_yaml(body.yaml, body.version, asker=Asker.of(caller))
        return validation.lint_expressions(body.context or "", body.expressions(), body.version, asker=Asker.of(caller))


@router.get("/collector-versions", openapi_extra=EXTENSION)
def list_collector_versions(caller: Reader, paging: Paging) -> Page[InstalledVersionOut]:
    """The installed collector versions, newest first, as their binaries describe themselves.

    A `reduced` build lacks components of the official release. To validate with one of them is 503
    `component_not_in_build`, and linting skips its expressions.
    """
    return paging.page(collectors.listed(paging.limit, paging.after, asker=Asker.of(caller)), InstalledVersionOut.of)


app = create_app("Headgate validation", [router])
handler = lambda_handler(app)
