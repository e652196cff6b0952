"""An organization's policies: read, set by Admins, checked, and required of what is published."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from headgate.audit import service as audit
from headgate.checker import Asker
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.errors import FieldError
from headgate.policies import store
from headgate.policies.model import PoliciesChanged, PoliciesInvalid, StoredPolicies
from headgate.storage.retry import retry
from headgate.storage.table import Write
from headgate_engine.policies import engine, judging
from headgate_engine.policies.engine import TriedRule
from headgate_engine.policies.model import (
    Policy,
    PolicyChoices,
    PolicyResult,
    PolicyRule,
)
from headgate_engine.validation.model import CheckRequest

# How the collector begins a message about a rule or an example: with the field that it is about.
_FIELD: Final = re.compile(r"(name|message|severity|examples|expression|yaml): (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class OrganizationPolicies:
    """The built-in policies of the default collector, and what the organization makes of them and adds."""

    built_in: Sequence[Policy]
    stored: StoredPolicies


def get(caller: Caller) -> OrganizationPolicies:
    """One read, and one question to the collector. Raises NotChecked if it could not be asked."""
    return OrganizationPolicies(engine.built_in(asker=Asker.of(caller)), store.get(caller.organization_id))


def change(caller: Caller, settings: PolicyChoices, if_match: frozenset[str] | None) -> OrganizationPolicies:
    """Replace the settings, after every rule was compiled and run over its examples.

    Raises AdminRequired, PoliciesChanged, PoliciesInvalid, TooCostly, and NotChecked if nothing could be tried; nothing
    is saved then.
    """
    caller.require_admin()
    asker = Asker.of(caller)
    _refuse_changed(store.get(caller.organization_id), if_match)
    built_in = engine.built_in(asker=asker)
    wrong = [*_unknown(settings, {policy.code for policy in built_in})]
    wrong += _failures(settings.rules, engine.tried(settings.rules, asker=asker) if settings.rules else [])
    if wrong:
        raise PoliciesInvalid(wrong)

    def once() -> StoredPolicies:
        before = store.get(caller.organization_id)
        _refuse_changed(before, if_match)
        after = before.changed(settings, caller.principal, clock.now())
        record = audit.entry(
            caller,
            "policies.changed",
            "policies",
            revision=str(after.revision),
            publish_requires=", ".join(settings.publish_requires),
        )
        store.save(caller.organization_id, before, after, record)
        return after

    return OrganizationPolicies(built_in, retry(once))


def check(caller: Caller, text: CheckRequest) -> PolicyResult:
    """Judge a text by the organization's policies; one read, and one question to the collector.

    Raises NotAConfiguration, TooCostly, CollectorVersionNotInstalled, PoliciesNotPossible and NotChecked.
    """
    return judge(caller, store.get(caller.organization_id).settings, text)


def stored(caller: Caller) -> StoredPolicies:
    """The organization's settings; one read."""
    return store.get(caller.organization_id)


def judge(caller: Caller, settings: PolicyChoices, text: CheckRequest) -> PolicyResult:
    """Judge a text by these settings; one question to the collector. Raises what `check` does."""
    return judging.judge(settings, text, asker=Asker.of(caller))


def unchanged(caller: Caller, known: StoredPolicies) -> Write:
    """For a transaction that depends on the settings: it fails unless they are still these."""
    return store.unchanged(caller.organization_id, known)


def _refuse_changed(current: StoredPolicies, if_match: frozenset[str] | None) -> None:
    if if_match is not None and if_match.isdisjoint(("*", current.etag)):
        raise PoliciesChanged(current.etag)


def _unknown(settings: PolicyChoices, codes: set[str]) -> Iterator[FieldError]:
    """Errors for policies that the settings name and that do not exist."""
    message = "There is no built-in policy {code}; `GET /policies` lists them"
    for code in settings.severities:
        if code not in codes:
            yield FieldError(("body", "severities", code), message.format(code=code))
    for place, code in enumerate(settings.not_suppressible):
        if code not in codes:
            more = "; a rule of your own says so by its `suppressible`"
            yield FieldError(("body", "not_suppressible", place), message.format(code=code) + more)


def _failures(rules: Sequence[PolicyRule], tried: Sequence[TriedRule]) -> Iterator[FieldError]:
    """Errors in the rules and in their examples, by their places in the request."""
    for place, (rule, outcome) in enumerate(zip(rules, tried, strict=True)):
        at = ("body", "rules", place)
        if outcome.error is not None:
            field, message = _about(outcome.error, "expression")
            yield FieldError((*at, field), f"Rule {rule.name}: {message}")
            continue
        for number, example in enumerate(outcome.examples):
            if example.error is not None:
                field, message = _about(example.error, "yaml")
                yield FieldError((*at, "examples", number, field), f"Rule {rule.name}: {message}")
            elif not example.as_expected:
                said, is_so = ("breaks", "does not") if rule.examples[number].violated else ("does not break", "does")
                message = f"Rule {rule.name}: the example says that the text {said} the rule, and it {is_so}"
                yield FieldError((*at, "examples", number, "violated"), message)


def _about(error: str, otherwise: str) -> tuple[str, str]:
    """The field that an error is about, and the error without it."""
    named = _FIELD.fullmatch(error)
    return (named[1], named[2]) if named else (otherwise, error)
