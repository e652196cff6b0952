"""Judgement of a text by an organization's policies."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from headgate_engine.checker.asker import Asker
from headgate_engine.policies import engine
from headgate_engine.policies.model import FailedRule, PolicyChoices, PolicyFinding, PolicyResult
from headgate_engine.validation.model import CheckRequest


def judge(settings: PolicyChoices, text: CheckRequest, *, asker: Asker, timeout: float | None = None) -> PolicyResult:
    """Judge a text by these settings; one question to the collector. Raises what `engine.broken` does.

    Findings of policies that the organization has switched off are left out.
    """
    answer = engine.broken(text, settings, asker=asker, timeout=timeout)
    own = {rule.name: rule.severity for rule in settings.rules}
    findings = [
        replace(finding, severity=severity)
        for finding in answer.findings
        if (severity := own.get(finding.code) or settings.severity(finding.code, finding.severity)) != "off"
    ]
    failed = [FailedRule(rule.name, own.get(rule.name, "warning"), rule.error) for rule in answer.failed_rules]
    findings = [*_together(findings)]
    passed = not any(finding.counts for finding in findings) and not any(rule.severity == "error" for rule in failed)
    return PolicyResult(passed=passed, findings=findings, suppressions=answer.suppressions, failed_rules=failed)


def _pipeline(message: str) -> str:
    return message.removeprefix("the pipeline ").partition(" ")[0]


def _listener(message: str) -> str:
    return message.replace(" listens on all addresses, ", " (") + ")"


# Many findings that are one decision: what each is about, and the message about all of them.
_OF_ALL: Final = {
    "memory_limiter_missing": (_pipeline, "the pipelines {} have no memory_limiter"),
    "debug_exporter_only": (_pipeline, "the pipelines {} export to debug only"),
    "listens_everywhere": (_listener, "these listen on all addresses: {}"),
}
_MOST_NAMED: Final = 10


def _together(findings: Sequence[PolicyFinding]) -> Iterator[PolicyFinding]:
    """The findings, with those that are one decision as one, at the place of the first."""
    groups: dict[str | int, list[PolicyFinding]] = {}
    for at, finding in enumerate(findings):
        is_part = finding.code in _OF_ALL and finding.suppressed is None
        groups.setdefault(finding.code if is_part else at, []).append(finding)
    for group in groups.values():
        yield replace(group[0], message=_of_all(group)) if len(group) > 1 else group[0]


def _of_all(group: Sequence[PolicyFinding]) -> str:
    about, message = _OF_ALL[group[0].code]
    names = [*dict.fromkeys(about(finding.message) for finding in group)]
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    return message.format(", ".join([*names[:_MOST_NAMED], *more]))
