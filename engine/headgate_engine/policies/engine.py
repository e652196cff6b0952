"""The policies of the collector's `check` process: what there are, what a text breaks, and whether rules are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Final, TypeVar

from pydantic import ValidationError

from headgate_engine.answers import read
from headgate_engine.checker.asker import Asker
from headgate_engine.checker.errors import NoChecker, NotInstalled, Refused
from headgate_engine.entries import Entries
from headgate_engine.errors import Unavailable
from headgate_engine.policies.model import (
    NotAConfiguration,
    PoliciesNotPossible,
    Policy,
    PolicyChoices,
    PolicyFinding,
    PolicyRule,
    Suppression,
)
from headgate_engine.validation.model import (
    TOO_COSTLY,
    CheckRequest,
    CollectorVersionNotInstalled,
    NotChecked,
    TooCostly,
)

_Answer = TypeVar("_Answer")
_NOT_A_CONFIGURATION: Final = "yaml_syntax"


@dataclass(frozen=True, slots=True)
class FailedPolicyRule:
    name: str
    error: str


@dataclass(frozen=True, slots=True)
class PoliciesAnswer:
    """The answer of the operation `policies`: findings have the collector's own opinion of their severity."""

    findings: Entries[PolicyFinding]
    suppressions: Entries[Suppression]
    failed_rules: Entries[FailedPolicyRule]


@dataclass(frozen=True, slots=True)
class TriedExample:
    violated: bool
    as_expected: bool
    error: str | None = None


@dataclass(frozen=True, slots=True)
class TriedRule:
    """The reason why a rule cannot be used, None if it can, and the results of its examples."""

    name: str
    error: str | None
    examples: Sequence[TriedExample]


def built_in(*, asker: Asker) -> list[Policy]:
    """The policies of the default collector. Raises NotChecked."""
    with _failures(asker, "the policies are not known"):
        answer = asker.ask("policy_list", {}, version=asker.default_version)
        return read(list[Policy], answer.get("policies"))


def question(text: CheckRequest, organization: PolicyChoices) -> dict[str, object]:
    """The fields of the operations `policies` and `check`."""
    return {
        **text.question(),
        "rules": [_asked(rule) for rule in organization.rules],
        "not_suppressible": list(organization.not_suppressible),
        "today": datetime.now(UTC).date().isoformat(),
    }


def broken(
    text: CheckRequest, organization: PolicyChoices, *, asker: Asker, timeout: float | None = None
) -> PoliciesAnswer:
    """Findings of the policies in the text, suppressed ones included.

    Raises NotAConfiguration, TooCostly, CollectorVersionNotInstalled, PoliciesNotPossible and NotChecked.
    """
    asker = asker.gated(text.feature_gates)
    with _failures(asker, "no policy was checked", text):
        answer = asker.ask("policies", question(text, organization), version=text.version, timeout=timeout)
        return read(PoliciesAnswer, answer)


def tried(rules: Sequence[PolicyRule], *, asker: Asker) -> list[TriedRule]:
    """Each rule compiled and run over its examples by the default collector. Raises TooCostly and NotChecked."""
    request = {
        "rules": [{**_asked(rule), "examples": [asdict(example) for example in rule.examples]} for rule in rules]
    }
    with _failures(asker, "the rules were not tried"):
        try:
            answer = asker.ask("policy_rules", request, version=asker.default_version)
            answered = read(list[TriedRule], answer.get("rules"))
        except Refused as refused:
            if refused.code == TOO_COSTLY:
                raise TooCostly(refused.message, at=("body", "rules")) from refused
            raise
    if [rule.name for rule in answered] != [rule.name for rule in rules]:
        raise NotChecked("The collector's checker answered about other rules; the rules were not tried")
    return answered


def _asked(rule: PolicyRule) -> dict[str, object]:
    return {
        "name": rule.name,
        "expression": rule.expression,
        "message": rule.message,
        "severity": rule.severity,
        "suppressible": rule.suppressible,
    }


@contextmanager
def _failures(asker: Asker, consequence: str, text: CheckRequest | None = None) -> Iterator[None]:
    """Raises for the request what the checker and the form of its answer raise."""
    try:
        yield
    except Refused as refused:
        if text and refused.code == TOO_COSTLY:
            raise TooCostly(refused.message, at=text.loc) from refused
        if text and refused.code == _NOT_A_CONFIGURATION:
            raise NotAConfiguration(refused.message, at=text.loc) from refused
        raise NotChecked(f"The collector's checker refused the question ({refused.code}); {consequence}") from refused
    except ValidationError as error:
        raise NotChecked(f"The collector's checker answered in an unknown form; {consequence}") from error
    except Unavailable as error:
        if text and text.version and text.version != asker.default_version:
            if isinstance(error, NoChecker):
                raise PoliciesNotPossible(text.version, text.version_loc) from error
            if isinstance(error, NotInstalled):
                raise CollectorVersionNotInstalled(error.detail, at=text.version_loc) from error
        raise NotChecked(f"{error.detail}; {consequence}") from error
