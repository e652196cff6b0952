"""The caller's newest drafts, and what the collector last said of them, whoever asked it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from headgate.checker import Asker, verdicts
from headgate.configurations import search
from headgate.configurations import service as configurations
from headgate.configurations.model import Configuration
from headgate.foundation.caller import Caller
from headgate.foundation.errors import HeadgateError, TooManyRequests, Unavailable
from headgate.identity import checks
from headgate.overview.model import Notice
from headgate_engine.validation import service as validation
from headgate_engine.validation.model import Verdict

LOOKED_AT: Final = 50
"""Configurations among which drafts are looked for, the most recently changed."""
MOST: Final = 5
"""Drafts that are told of, and that are checked at once."""
# After this no further check begins; API Gateway answers within 30 s.
_SECONDS: Final = 8.0
_NOT_CHECKED: Final = "Not checked since it was changed"


def notices(caller: Caller, listed: Sequence[Configuration], *, check: bool) -> list[Notice]:
    """The drafts among the caller's own that are not valid, or not checked.

    Three batch reads. Up to `MOST` are told, those that are not valid first. With `check`, up to `MOST` without a
    verdict are checked, for some seconds; each costs a read of its text and a question to the collector, under one of
    the caller's places, and a put.
    """
    own = [each for each in listed if each.owned_by(caller) and each.latest_version != each.published_version]
    if not own:
        return []
    seen = verdicts.remembered(caller.organization_id, search.fingerprints(own))
    invalid, unchecked = [], []
    checked = 0
    started = time.monotonic()
    for draft in own:
        verdict: Verdict | str = seen.get(draft.id) or _NOT_CHECKED
        if draft.id not in seen and check and checked < MOST and time.monotonic() - started < _SECONDS:
            verdict = _checked(caller, draft)
            checked += 1
        if isinstance(verdict, str):
            unchecked.append(_notice(draft, checked=False, reason=verdict))
        elif not verdict.valid:
            invalid.append(_notice(draft, checked=True, reason=_said(verdict)))
    return [*invalid, *unchecked][:MOST]


def _checked(caller: Caller, draft: Configuration) -> Verdict | str:
    """The verdict, or why there is none."""
    version = configurations.get_version(caller, draft.id, draft.latest_version)
    text = version.yaml or ""
    try:
        with checks.under_way(caller):
            asker = Asker.of(caller).gated(version.feature_gates)
            result = validation.validate(text, version.collector_version, asker=asker)
    except (TooManyRequests, Unavailable):
        return _NOT_CHECKED
    except HeadgateError as error:
        # The text itself is why: it is too costly, or names a collector version that is not installed.
        return verdicts.cut(error.detail)
    if version.feature_gates:
        # What is remembered is of a collector without gates.
        return verdicts.verdict_of(result)
    return verdicts.remember(caller.organization_id, text, result)


def _said(verdict: Verdict) -> str:
    more = f" (and {verdict.errors - 1} more)" if verdict.errors > 1 else ""
    return f"{verdict.problem or 'Not valid'}{more}"


def _notice(draft: Configuration, *, checked: bool, reason: str) -> Notice:
    return Notice(
        kind="draft_invalid" if checked else "draft_unchecked",
        subject=f"{draft.name} version {draft.latest_version}",
        reason=reason,
        at=draft.updated_at,
        configuration_id=draft.id,
        version_number=draft.latest_version,
    )
