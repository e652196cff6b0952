"""The validation endpoints: whole configurations, and the OTTL in them."""

from headgate.checker import Asker
from headgate.configurations.model import UnknownDistribution
from headgate.foundation.collector import DISTRIBUTION
from headgate.http.app import create_app, lambda_handler
from headgate.http.credentials import Reader
from headgate.http.routing import router as group
from headgate.identity import checks
from headgate.validation import service as validation
from headgate.validation.model import LintResult, ValidationResult
from validation.wire import Lint, Validate

router = group("", "Validation and linting")


@router.post("/validate")
def validate(body: Validate, caller: Reader) -> ValidationResult:
    """Validate a configuration on a real collector. 503 means that it was not checked: it may be valid or not.

    A text that would take the collector too long is 422 `yaml_too_costly`. A credential may have a few checks
    under way at once; another one is 429 `too_many_checks_under_way`.
    """
    if body.distribution != DISTRIBUTION:
        raise UnknownDistribution(body.distribution, "distribution")
    with checks.under_way(caller):
        return validation.validate(body.yaml, body.version, body.env, asker=Asker.of(caller))


@router.post("/ottl/lint")
def lint(body: Lint, caller: Reader) -> LintResult:
    """Check OTTL expressions with the real grammar: those of a whole configuration, or single ones in a context.

    429 `too_many_checks_under_way` as for validating.
    """
    with checks.under_way(caller):
        if body.yaml is not None:
            return validation.lint_yaml(body.yaml, asker=Asker.of(caller))
        return validation.lint_expressions(body.context or "", body.expressions(), asker=Asker.of(caller))


app = create_app("Headgate validation", [router])
handler = lambda_handler(app)
