"""Judgement of a text by an organization's policies."""

from collections.abc import Iterator, Sequence

from headgate_engine.checker.asker import Asker
from headgate_engine.policies import engine
from headgate_engine.policies.engine import PolicyMatch
from headgate_engine.policies.model import (
    FailedRule,
    JudgedText,
    PolicyChoices,
    PolicyFinding,
    PolicyResult,
    Severity,
    Suppressed,
    Suppression,
)


def judge(settings: PolicyChoices, text: JudgedText, *, asker: Asker, timeout: float | None = None) -> PolicyResult:
    """Judge a text by these settings; one question to the collector. Raises what `engine.broken` does."""
    answer = engine.broken(text, settings, asker=asker, timeout=timeout)
    own = {rule.name: rule.severity for rule in settings.rules}
    findings = [*_judged(answer.findings, settings, own)]
    failed = [FailedRule(rule.name, own.get(rule.name, "warning"), rule.error) for rule in answer.failed_rules]
    passed = not any(finding.counts for finding in findings) and not any(
        finding.severity == "error" for finding in failed
    )
    return PolicyResult(
        passed=passed,
        findings=findings,
        suppressions=[
            Suppression(
                comment.code, comment.line, comment.until or None, comment.reason, comment.used, comment.problem
            )
            for comment in answer.suppressions
        ],
        failed_rules=failed,
    )


def _judged(
    findings: Sequence[PolicyMatch], settings: PolicyChoices, own: dict[str, Severity]
) -> Iterator[PolicyFinding]:
    """The findings as the organization judges them, without those that it has switched off."""
    for finding in findings:
        severity = own.get(finding.code) or settings.severity(finding.code, finding.severity)
        if severity == "off":
            continue
        yield PolicyFinding(
            code=finding.code,
            severity=severity,
            message=finding.message,
            way_out=finding.way_out,
            component_path=finding.component_path,
            line=finding.line or None,
            column=finding.column or None,
            suppressed=_suppressed(finding),
        )


def _suppressed(finding: PolicyMatch) -> Suppressed | None:
    by = finding.suppressed
    return None if by is None else Suppressed(by.line, by.until or None, by.reason)
