"""Secrets of a group that its hosts quote in errors: a collector repeats what it was given, as an address with a key.

The host's supervisor takes out what has the form of a secret; here are the values that Headgate itself sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import quote

from headgate.deployments import variables
from headgate.deployments.model import Deployment
from headgate.instances.model import Instance
from headgate.instances.reported.model import AgentReport

SHORTEST: Final = 6
"""Characters of a secret that is looked for: a shorter one would be in any text."""
_REDACTED: Final = "[REDACTED]"


def without(report: AgentReport, group: Deployment, instance: Instance) -> AgentReport:
    """The report without values of the secrets that were offered to the instance.

    A read and a call to KMS for each secret of up to eight revisions, the first time in a process.
    """
    forms = _forms(
        secret for pinned in instance.offered_variables for secret in variables.opened_revision(group, pinned).secrets
    )
    if not forms:
        return report
    if report.config:
        report = replace(report, config=replace(report.config, message=_redacted(report.config.message, forms)))
    if report.health:
        report = replace(report, health=replace(report.health, error=_redacted(report.health.error, forms)))
    if report.health_tree:
        parts = [replace(part, error=_redacted(part.error, forms)) for part in report.health_tree.parts]
        report = replace(report, health_tree=replace(report.health_tree, parts=parts))
    if report.capture:
        report = replace(report, capture=replace(report.capture, error=_redacted(report.capture.error, forms)))
    if report.host and report.host.failed:
        failed = {order: _redacted(why, forms) for order, why in report.host.failed.items()}
        report = replace(report, host=replace(report.host, failed=failed))
    return report


def _forms(secrets: Iterable[str]) -> Sequence[str]:
    """The texts to look for, the longest first: a secret as it is, in quotes, and in an address."""
    texts = {text for secret in secrets for text in (secret, json.dumps(secret)[1:-1], quote(secret, safe=""))}
    return sorted((text for text in texts if len(text) >= SHORTEST), key=len, reverse=True)


def _redacted(text: str, forms: Sequence[str]) -> str:
    for form in forms:
        text = _without_beginning(text.replace(form, _REDACTED), form)
    return text


def _without_beginning(text: str, form: str) -> str:
    """The text without the beginning of the form at its end, where it was cut."""
    at = text.find(form[:SHORTEST], max(0, len(text) - len(form)))
    while at >= 0:
        if form.startswith(text[at:]):
            return text[:at] + _REDACTED
        at = text.find(form[:SHORTEST], at + 1)
    return text
