"""What a text breaks, as an organization judges it."""

from collections.abc import Iterator, Sequence

from headgate_engine.checker.asker import Asker
from headgate_engine.policies import engine
from headgate_engine.policies.engine import Found
from headgate_engine.policies.model import (
    FailedRule,
    PolicyFinding,
    PolicyResult,
    Settings,
    Severity,
    Suppressed,
    Suppression,
    Text,
)


def judge(settings: Settings, text: Text, *, asker: Asker, timeout: float | None = None) -> PolicyResult:
    """What a text breaks by these settings; one question to the collector. Raises what `engine.broken` does."""
    answer = engine.broken(text, settings, asker=asker, timeout=timeout)
    own = {rule.name: rule.severity for rule in settings.rules}
    findings = [*_judged(answer.findings, settings, own)]
    failed = [FailedRule(one.name, own.get(one.name, "warning"), one.error) for one in answer.failed_rules]
    passed = not any(one.counts for one in findings) and not any(one.severity == "error" for one in failed)
    return PolicyResult(
        passed=passed,
        findings=findings,
        suppressions=[
            Suppression(one.code, one.line, one.until or None, one.reason, one.used, one.problem)
            for one in answer.suppressions
        ],
        failed_rules=failed,
    )


def _judged(found: Sequence[Found], settings: Settings, own: dict[str, Severity]) -> Iterator[PolicyFinding]:
    """The findings as the organization judges them, without those that it has switched off."""
    for one in found:
        severity = own.get(one.code) or settings.severity(one.code, one.severity)
        if severity == "off":
            continue
        yield PolicyFinding(
            code=one.code,
            severity=severity,
            message=one.message,
            way_out=one.way_out,
            component_path=one.component_path,
            line=one.line or None,
            column=one.column or None,
            suppressed=_suppressed(one),
        )


def _suppressed(found: Found) -> Suppressed | None:
    by = found.suppressed
    return None if by is None else Suppressed(by.line, by.until or None, by.reason)
