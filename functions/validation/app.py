"""The validation endpoints: whole configurations, and the OTTL in them."""

from typing import Annotated

from fastapi import Query

from headgate.checker import Asker
from headgate.checker import collector_versions as collectors
from headgate.configurations.model import UnknownDistribution
from headgate.http.app import create_app, lambda_handler
from headgate.http.credentials import Reader
from headgate.http.pagination import Page, Paging
from headgate.http.parameters import Flag
from headgate.http.routing import router as group
from headgate.identity import checks
from headgate.installs import releases
from headgate.policies import checking
from headgate_engine.collector import DISTRIBUTION
from headgate_engine.upgrades import service as upgrades
from headgate_engine.upgrades.model import UpgradeReport
from headgate_engine.validation import service as validation
from headgate_engine.validation.checking import Parts
from headgate_engine.validation.model import LintResult
from headgate_engine.wire.checks import ValidationResult, ValidationResults
from headgate_engine.wire.upgrades import CheckTextUpgrade
from validation.wire import InstalledVersionOut, Lint, Validate, ValidateBatch

router = group("", "Validation and linting")
WithLint = Annotated[Flag, Query(alias="lint", description="Also check the OTTL expressions")]
WithPolicies = Annotated[Flag, Query(alias="policies", description="Also check the organization's policies")]
WithGraph = Annotated[Flag, Query(alias="graph", description="Also tell the pipelines")]
WithStart = Annotated[Flag, Query(alias="start", description="Also start the processors and connectors in a sandbox")]
Remember = Annotated[
    Flag, Query(description="Keep the verdict, which lists show; send false while the text is typed and not saved")
]
WithGroups = Annotated[Flag, Query(alias="groups", description="Also group the findings of all texts by kind")]


@router.post("/validate", response_model_exclude_unset=True)
def validate_text(
    body: Validate,
    caller: Reader,
    with_lint: WithLint = False,
    with_policies: WithPolicies = False,
    with_graph: WithGraph = False,
    with_start: WithStart = False,
    remember: Remember = True,
) -> ValidationResult:
    """Validate a configuration on a real collector. 503 means that it was not checked: it may be valid or not.

    With `lint=true`, `policies=true`, `graph=true` and `start=true` the answer also has these parts; all are one
    request of the limit and one check under way. A part that could not be checked has a `problem`, and the verdict
    stands.

    `start=true` starts the processors and connectors for real, in a process of their own without files and network, and
    tells in `findings` (`source` is `start`) what stops the collector although its text is valid. Receivers, exporters
    and extensions are built and not started.

    A component that only a reduced build of the collector lacks is 503 `component_not_in_build`, without `Retry-After`.
    A text that would take the collector too long is 422 `yaml_too_costly`. A credential may have a few checks
    under way at once; another one is 429 `too_many_checks_under_way`.
    """
    if body.distribution != DISTRIBUTION:
        raise UnknownDistribution(body.distribution, "distribution")
    with checks.under_way(caller):
        parts = Parts(lint=with_lint, policies=with_policies, graph=with_graph, start=with_start)
        return ValidationResult.of(checking.check(caller, body.request(), parts, remember=remember))


@router.post("/validate/batch", response_model_exclude_unset=True)
def validate_texts(
    body: ValidateBatch,
    caller: Reader,
    with_lint: WithLint = False,
    with_policies: WithPolicies = False,
    with_start: WithStart = False,
    with_groups: WithGroups = False,
) -> ValidationResults:
    """Validate up to 50 configurations: one request of the limit, and one check under way.

    A text that could not be checked has a `problem` in place of its verdict: it may be valid or not. Texts that take
    long leave no time for those after them; send those again. With `groups=true`, the answer also has what was found in
    all texts, an entry for each kind.
    """
    texts = [item.request() for item in body.items]
    with checks.under_way(caller):
        parts = Parts(lint=with_lint, policies=with_policies, start=with_start)
        results = checking.check_all(caller, texts, parts)
        return ValidationResults.of([item.name for item in body.items], results, groups=with_groups)


@router.post("/validate/upgrade-check")
def check_text_upgrade(body: CheckTextUpgrade, caller: Reader) -> UpgradeReport:
    """Compare a configuration's collector version with another, by dry runs on both. Nothing is saved.

    503 means that one of the versions could not be asked. Both versions count as one check under way.
    """
    with checks.under_way(caller):
        return upgrades.check(body.text(), body.to, body.source, asker=Asker.of(caller))


@router.post("/ottl/lint")
def lint_ottl(body: Lint, caller: Reader) -> LintResult:
    """Check OTTL expressions with the real grammar: those of a whole configuration, or single ones in a context.

    `version` names the collector whose parsers check them, the server's default one without it. An official release has
    no linter: 422 `lint_not_possible`. 429 `too_many_checks_under_way` as for validating.
    """
    with checks.under_way(caller):
        asker = Asker.of(caller).gated(body.feature_gates)
        if body.yaml is not None:
            return validation.lint_yaml(body.yaml, body.version, asker=asker)
        return validation.lint_expressions(body.context or "", body.expressions(), body.version, asker=asker)


@router.get("/collector-versions")
def list_collector_versions(caller: Reader, paging: Paging) -> Page[InstalledVersionOut]:
    """The installed collector versions, newest first, as their binaries describe themselves.

    A `reduced` build lacks components of the official release. To validate with one of them is 503
    `component_not_in_build`, and linting skips its expressions. While a version is being built on this machine, its
    first program answers for it: about a text with a component that this one lacks, every answer is 503
    `collector_being_built` with `Retry-After`.
    """
    hosts = releases.collectors()
    listed = collectors.listed(paging.limit, paging.after, asker=Asker.of(caller))
    return paging.page(listed, lambda version: InstalledVersionOut.of(version, hosts=hosts.get(version.version, ())))


app = create_app("Headgate validation", [router])
handler = lambda_handler(app)
