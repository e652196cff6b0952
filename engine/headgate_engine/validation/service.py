"""Validating a configuration, and linting its OTTL."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from pydantic import ValidationError

from headgate_engine.answers import read
from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import NOT_IN_BUILD, CheckerFailed, NoChecker, NotInstalled, Refused, Unusable
from headgate_engine.collector import DISTRIBUTION
from headgate_engine.collectors import service as collectors
from headgate_engine.errors import Unavailable
from headgate_engine.validation import crashes, inside, other_versions, plain_messages
from headgate_engine.validation.findings import explained
from headgate_engine.validation.inside import Inside
from headgate_engine.validation.model import (
    TOO_COSTLY,
    CollectorVersionNotInstalled,
    ComponentNotInBuild,
    Finding,
    Graph,
    LintNotPossible,
    LintResult,
    Location,
    NoGraph,
    NotChecked,
    NotLintable,
    Skipped,
    TooCostly,
    ValidationResult,
    YamlInvalid,
)

ExpressionKind = Literal["conditions", "statements", "value_expressions"]


def validate(
    yaml: str,
    version: str | None = None,
    env: Mapping[str, str] | None = None,
    *,
    asker: Asker,
    version_field: str = "version",
    files: Mapping[str, str] | None = None,
) -> ValidationResult:
    """The verdict of `otelcol-contrib validate` of that version (the default collector's without one).

    `env` supplies the values of `${env:NAME}`, and of the `host_variables`; the collector has no other variables.
    `files` are the texts of `${file:PATH}`. Raises CollectorVersionNotInstalled, about that field of the request, and
    TooCostly; and NotChecked when there is no verdict: the default collector is not there, no process was free in time,
    or both ways of asking failed. It is ComponentNotInBuild if that version's build lacks a component of the text.
    """
    version = version or asker.default_version
    variables = dict(env or {})
    asked: dict[str, object] = {"yaml": yaml, "env": variables, "files": dict(files or {})}
    try:
        try:
            answer = asker.ask("validate", asked, version=version)
            result = other_versions.explained(_result(answer, version), asker=asker)
            return _with_another(result, asked, asker) if result.wrapped else result
        except NoChecker:
            _require_no_gates(asker)
            _require_affordable(asked, asker)
            return _ask_plainly(yaml, version, variables, asker)
        except Unusable:
            # The plain command of such a program is not asked either: its verdicts may be those of another release.
            raise
        except (CheckerFailed, Refused) as error:
            if isinstance(error, Refused) and error.code == TOO_COSTLY:
                raise TooCostly(error.message) from error
            if isinstance(error, Refused) and error.code == NOT_IN_BUILD:
                # The plain command of this build would call the component unknown.
                raise ComponentNotInBuild(error.message, version) from error
            crash = crashes.findings(yaml, error, version, asker=asker)
            if crash:
                return _crashed(yaml, version, crash)
            _require_no_gates(asker)
            asker.collectors.fell_back()
            _require_affordable(asked, asker)
            return _ask_plainly(yaml, version, variables, asker)
    except ComponentNotInBuild:
        raise
    except Unavailable as error:
        _require_installed(error, version, version_field, asker)
        raise NotChecked(f"{error.detail}; the YAML was not checked") from error


def _with_another(result: ValidationResult, asked: Mapping[str, object], asker: Asker) -> ValidationResult:
    """The result about the first configuration inside of a text, with a warning if it has another one."""
    held = inside.configuration(result, str(asked["yaml"]))
    if held is None:
        return result
    try:
        answer = asker.ask("validate", {**asked, "yaml": held.without()}, version=result.version)
        rest = _result(answer, result.version)
    except (Refused, Unavailable):
        return result
    if rest.wrapped is None:
        return result
    message = f"another configuration is under {rest.wrapped.path}, and not checked here: take each out"
    more = [replace(error, message=message) for error in rest.errors if error.code == "wrapped_configuration"]
    return replace(result, warnings=[*result.warnings, *more])


def require_valid(yaml: str, version: str, *, asker: Asker) -> ValidationResult:
    """The verdict on valid YAML. Raises YamlInvalid if that collector does not accept it, and what `validate` does."""
    result = validate(yaml, version, asker=asker, version_field="collector_version")
    if not result.valid:
        raise YamlInvalid(result.errors)
    return result


def lint_yaml(yaml: str, version: str | None = None, *, asker: Asker) -> LintResult:
    """Check every OTTL expression of a whole configuration with that version (the default collector without one).

    Of a text around a configuration, such as a ConfigMap, the configuration is checked. Raises NotLintable for text
    that is not YAML, has no configuration, or too many expressions, CollectorVersionNotInstalled, LintNotPossible,
    TooCostly, and NotChecked on an outage. Expressions of a component that the version's build lacks are skipped.
    """
    if not inside.may_hold(yaml):
        return _lint({"yaml": yaml}, version, asker, way_out=_LARGER)
    verdict = validate(yaml, version, asker=asker)
    held = inside.configuration(verdict, yaml)
    return lint_configuration(yaml, version, verdict, held, asker=asker)


def lint_configuration(
    yaml: str,
    version: str | None,
    verdict: ValidationResult,
    held: Inside | None,
    *,
    asker: Asker,
    timeout: float | None = None,
) -> LintResult:
    """Check a text whose `verdict` is known, or the configuration that it holds. Raises what `lint_yaml` does."""
    if verdict.no_configuration:
        raise NotLintable(inside.NOTHING, at=("body", "yaml"))
    result = _lint({"yaml": held.yaml if held else yaml}, version, asker, timeout)
    errors = verdict.wrapped.errors if verdict.wrapped else verdict.errors
    others = [
        Skipped(Location(warning.component_path, warning.line, warning.column), "", warning.message)
        for warning in inside.others(verdict)
    ]
    result = replace(
        result,
        valid=result.valid and not others,
        items=[explained(item, errors) for item in result.items],
        skipped=[*result.skipped, *others],
    )
    return held.placed(result, with_column=False) if held else result


_LARGER: Final = "lint the text in parts, or with POST /validate?lint=true, which takes more"


def lint_expressions(
    context: str,
    expressions: Mapping[ExpressionKind, Sequence[str]],
    version: str | None = None,
    *,
    asker: Asker,
) -> LintResult:
    """Check single expressions in one context. Raises NotLintable for an unknown one, and what `lint_yaml` does."""
    lists: dict[str, object] = {kind: list(one_kind) for kind, one_kind in expressions.items()}
    return _lint({"context": context, **lists}, version, asker)


def graph(
    yaml: str,
    version: str | None,
    env: Mapping[str, str],
    files: Mapping[str, str] | None = None,
    *,
    asker: Asker,
    timeout: float | None = None,
) -> Graph:
    """The pipelines of a configuration as that collector resolves it.

    Raises NoGraph for a text that it cannot read, CollectorVersionNotInstalled, TooCostly, and NotChecked on an outage
    and for an official release, which cannot tell.
    """
    version = version or asker.default_version
    try:
        asked = {"yaml": yaml, "env": dict(env), "files": dict(files or {})}
        answer = asker.ask("graph", asked, version=version, timeout=timeout)
        return read(Graph, answer)
    except Refused as refused:
        if refused.code == TOO_COSTLY:
            raise TooCostly(refused.message) from refused
        if refused.code != "unresolvable":
            raise NotChecked(f"The collector could not tell its pipelines ({refused.code})") from refused
        raise NoGraph(refused.message) from refused
    except ValidationError as error:
        raise NotChecked(f"The pipelines came in an unknown form ({_places(error)})") from error
    except Unavailable as error:
        _require_installed(error, version, "version", asker)
        raise NotChecked(f"{error.detail}; the pipelines are not known") from error


def _require_installed(error: Unavailable, version: str, field: str, asker: Asker) -> None:
    """Raises CollectorVersionNotInstalled if that is the error, and the request has named the version.

    The default collector has to be installed.
    """
    if isinstance(error, NotInstalled) and version != asker.default_version:
        raise CollectorVersionNotInstalled(error.detail, at=("body", field)) from error


def _require_no_gates(asker: Asker) -> None:
    """Raises CheckerFailed if the asker has feature gates, which the plain command is not given."""
    if asker.feature_gates:
        raise CheckerFailed("The collector could not be asked with these feature gates")


def _require_affordable(asked: Mapping[str, object], asker: Asker) -> None:
    """Raises TooCostly, and Unavailable if the price is unknown: the plain command itself has no limits."""
    try:
        asker.ask("price", asked)
    except Refused as refused:
        if refused.code == TOO_COSTLY:
            raise TooCostly(refused.message) from refused
        raise CheckerFailed(f"The collector's checker could not price the text ({refused.code})") from refused


def _ask_plainly(yaml: str, version: str, variables: dict[str, str], asker: Asker) -> ValidationResult:
    try:
        verdict = asker.ask_plainly(yaml, variables, version)
    except CheckerFailed as error:
        # An official release reads no reports: the default collector does.
        crash = crashes.findings(yaml, error, None, asker=asker)
        if not crash:
            raise
        return _crashed(yaml, version, crash)
    if not verdict.valid:
        _require_in_build(verdict.message, version, asker)
    named = list(plain_messages.variables(yaml))
    return ValidationResult(
        valid=verdict.valid,
        version=version,
        distribution=DISTRIBUTION,
        errors=[] if verdict.valid else plain_messages.findings(verdict.message),
        warnings=[
            Finding(
                f"The environment variable {variable.name} has no value and no default", "service", "unset_variable"
            )
            for variable in named
            if not variable.has_default and variable.name not in variables
        ],
        environment=named,
        valid_on_host=True if verdict.valid else None,
    )


def _crashed(yaml: str, version: str, crash: Sequence[Finding]) -> ValidationResult:
    """The verdict on a text on which the collector crashes: it starts on no host."""
    return ValidationResult(
        valid=False,
        version=version,
        distribution=DISTRIBUTION,
        errors=crash,
        warnings=[],
        environment=list(plain_messages.variables(yaml)),
        valid_on_host=False,
    )


def _require_in_build(message: str, version: str, asker: Asker) -> None:
    """Raises ComponentNotInBuild if the plain command calls a component unknown that only its reduced build lacks."""
    unknown = list(plain_messages.unknown_components(message))
    if not unknown:
        return
    lacking = {
        (component.kind, _short(component.kind, component.type)) for component in collectors.lacks(version, asker=asker)
    }
    for section, kind, type_ in unknown:
        if (kind, _short(kind, type_)) in lacking:
            raise ComponentNotInBuild(
                f"{section}: this build of collector {version} lacks the {kind} {type_} of the official release",
                version,
            )


def _short(kind: str, type_: str) -> str:
    """A type without what releases add to it or take from it: underscores, and the kind at its end."""
    return type_.replace("_", "").removesuffix(kind)


def _result(answer: Mapping[str, object], version: str) -> ValidationResult:
    try:
        result = read(ValidationResult, {**answer, "version": version, "distribution": DISTRIBUTION})
    except ValidationError as error:
        raise CheckerFailed(f"The collector's checker answered in an unknown form: {_places(error)}") from error
    if result.valid == bool(result.errors):
        raise CheckerFailed("The collector's checker gave a verdict that does not match its errors")
    return result


_TOO_MANY: Final = "too_many_expressions"
_UNLINTABLE: Final = {
    "yaml_syntax": "yaml",
    _TOO_MANY: "yaml",
    "unknown_context": "context",
}
"""The words of the operation `lint` for a request that is at fault, and the field that each is about."""


def _lint(
    request: Mapping[str, object],
    version: str | None,
    asker: Asker,
    timeout: float | None = None,
    way_out: str = "lint the text in parts",
) -> LintResult:
    """The linter's answer. The error about too many expressions ends with `way_out`."""
    version = version or asker.default_version
    try:
        answer = asker.ask("lint", request, version=version, timeout=timeout)
        return read(LintResult, answer)
    except Refused as refused:
        if refused.code == TOO_COSTLY:
            raise TooCostly(refused.message) from refused
        if refused.code == NOT_IN_BUILD:
            raise ComponentNotInBuild(refused.message, version) from refused
        if refused.code not in _UNLINTABLE:
            raise NotChecked(f"The linter failed ({refused.code}); nothing was checked") from refused
        message = f"{refused.message}: {way_out}" if refused.code == _TOO_MANY else refused.message
        raise NotLintable(message, at=("body", _UNLINTABLE[refused.code])) from refused
    except ValidationError as error:
        raise NotChecked(f"The linter answered in an unknown form ({_places(error)}); nothing was checked") from error
    except Unavailable as error:
        _require_installed(error, version, "version", asker)
        if isinstance(error, NoChecker) and version != asker.default_version:
            raise LintNotPossible(version) from error
        raise NotChecked(f"{error.detail}; nothing was checked") from error


def _places(error: ValidationError) -> str:
    """The paths of the answer's errors, without values, which may quote the configuration."""
    return ", ".join(".".join(str(part) for part in problem["loc"]) for problem in error.errors())
