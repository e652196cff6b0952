"""Check texts by the policies of an organization, and remember their verdicts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError

from headgate.checker import Asker, verdicts
from headgate.foundation.caller import Caller
from headgate.foundation.errors import Invalid, Unavailable
from headgate.policies import service as policies
from headgate_engine.policies.model import PolicyChoices
from headgate_engine.validation import checking
from headgate_engine.validation.checking import CheckResult, Parts
from headgate_engine.validation.model import CheckRequest, NotChecked

# The last of several texts begins before this: its check may then take as long as that of one text.
_SECONDS_OF_MANY: Final = 8.0
_MOST_LAST: Final = 100
_last: Final[dict[str, PolicyChoices]] = {}
"""The settings that were read last, by organization."""


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
    # Nearly always the settings are what they were: they are read while the collector works.
    reading = _Reading(caller, parts)
    checked = _check(caller, request, parts, before, ends, remember=remember, meanwhile=reading.begin)
    settings = reading.settings()
    return checked if settings == before else _check(caller, request, parts, settings, ends, remember=False)


class _Reading:
    """Settings that are read while the collector works, or else when they are needed."""

    def __init__(self, caller: Caller, parts: Parts) -> None:
        self._read: Callable[[], PolicyChoices] = partial(_settings, caller, parts)
        self._settings: PolicyChoices | None = None
        self._begun = False

    def begin(self) -> None:
        if not self._begun:
            self._begun = True
            # Whoever needs them meets the same outage.
            with suppress(BotoCoreError, ClientError):
                self._settings = self._read()

    def settings(self) -> PolicyChoices:
        return self._read() if self._settings is None else self._settings


def _settings(caller: Caller, parts: Parts) -> PolicyChoices:
    if not parts.policies:
        return PolicyChoices()
    settings = policies.stored(caller).settings
    if len(_last) >= _MOST_LAST:
        _last.clear()
    _last[caller.organization_id] = settings
    return settings


def _check(
    caller: Caller,
    request: CheckRequest,
    parts: Parts,
    settings: PolicyChoices,
    ends: float | None,
    *,
    remember: bool,
    meanwhile: Callable[[], object] | None = None,
) -> CheckResult:
    asker = replace(Asker.of(caller), meanwhile=meanwhile)
    checked = checking.check(request, parts, settings, asker=asker, ends=ends)
    if remember and not (request.env or request.files or request.feature_gates):
        verdicts.remember(caller.organization_id, request.yaml, checked.verdict)
    return checked
