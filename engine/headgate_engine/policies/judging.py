"""Judgement of a text by an organization's policies."""

from headgate_engine.checker.asker import Asker
from headgate_engine.policies import engine
from headgate_engine.policies.model import FailedRule, PolicyChoices, PolicyResult
from headgate_engine.validation.model import CheckRequest


def judge(settings: PolicyChoices, text: CheckRequest, *, asker: Asker, timeout: float | None = None) -> PolicyResult:
    """Judge a text by these settings; one question to the collector. Raises what `engine.broken` does.

    Findings of policies that the organization has switched off are left out.
    """
    answer = engine.broken(text, settings, asker=asker, timeout=timeout)
    own = {rule.name: rule.severity for rule in settings.rules}
    findings = [
        finding.judged(severity)
        for finding in answer.findings
        if (severity := own.get(finding.code) or settings.severity(finding.code, finding.severity)) != "off"
    ]
    failed = [FailedRule(rule.name, own.get(rule.name, "warning"), rule.error) for rule in answer.failed_rules]
    passed = not any(finding.counts for finding in findings) and not any(rule.severity == "error" for rule in failed)
    return PolicyResult(passed=passed, findings=findings, suppressions=answer.suppressions, failed_rules=failed)
