"""Check texts by the policies of an organization, and remember their verdicts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from headgate.checker import Asker, verdicts
from headgate.foundation.caller import Caller
from headgate.foundation.errors import Invalid, Unavailable
from headgate.policies import service as policies
from headgate_engine.policies.model import PolicyChoices
from headgate_engine.threads import Threads
from headgate_engine.validation import checking
from headgate_engine.validation.checking import CheckResult, Parts
from headgate_engine.validation.model import CheckRequest, NotChecked

# The last of several texts begins before this: its check may then take as long as that of one text.
_SECONDS_OF_MANY: Final = 8.0
_MOST_LAST: Final = 100
_last: Final[dict[str, PolicyChoices]] = {}
"""The settings that were read last, by organization."""


@cache
def _readers() -> Threads:
    return Threads(max_workers=4, thread_name_prefix="policies")


def check_all(
    caller: Caller, requests: Sequence[CheckRequest], parts: Parts
) -> Iterator[CheckResult | Invalid | Unavailable]:
    """`check` for each, in order, or the error of one that was not checked, also because no time was left."""
    begun = time.monotonic()
    settings = _settings(caller, parts)
    for request in requests:
        if time.monotonic() - begun > _SECONDS_OF_MANY:
            yield NotChecked("The texts before it took too long; this one was not checked, send it again")
            continue
        try:
            yield _check(caller, request, parts, settings, begun + checking.SECONDS, remember=True)
        except (Invalid, Unavailable) as problem:
            yield problem


def check(
    caller: Caller, request: CheckRequest, parts: Parts, ends: float | None = None, *, remember: bool = True
) -> CheckResult:
    """Return the verdict and the parts that are asked for; with policies one read. Raises what `validate` does.

    No part begins after `ends`, by the monotonic clock, if that is sooner than for one text. Lists show a verdict that
    is remembered, which costs a put.
    """
    before = _last.get(caller.organization_id) if parts.policies else None
    if before is None:
        return _check(caller, request, parts, _settings(caller, parts), ends, remember=remember)
    ends = ends or time.monotonic() + checking.SECONDS
    # Nearly always the settings are what they were, so the collector is asked while they are read.
    reading = _readers().submit(_settings, caller, parts)
    checked = _check(caller, request, parts, before, ends, remember=remember)
    settings = reading.result()
    return checked if settings == before else _check(caller, request, parts, settings, ends, remember=False)


def _settings(caller: Caller, parts: Parts) -> PolicyChoices:
    if not parts.policies:
        return PolicyChoices()
    settings = policies.stored(caller).settings
    if len(_last) >= _MOST_LAST:
        _last.clear()
    _last[caller.organization_id] = settings
    return settings


def _check(
    caller: Caller, request: CheckRequest, parts: Parts, settings: PolicyChoices, ends: float | None, *, remember: bool
) -> CheckResult:
    checked = checking.check(request, parts, settings, asker=Asker.of(caller), ends=ends)
    if remember and not (request.env or request.files or request.feature_gates):
        verdicts.remember(caller.organization_id, request.yaml, checked.verdict)
    return checked
