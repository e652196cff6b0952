"""Turns at the collectors: organizations are kept apart, and credentials served fairly."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol

from headgate_engine.checker.errors import CheckerBusy, Refused, UnknownGate

if TYPE_CHECKING:
    from headgate_engine.checker.descriptions import Described
    from headgate_engine.checker.plain_command import PlainVerdict


ON_A_TEXT: Final = frozenset({"check", "validate", "lint", "policies", "graph", "inspect", "start"})
"""The operations whose answer feature gates and the environment change."""
ALONE: Final = frozenset({"start"})
"""The operations that a process answers of which nothing else is asked."""


class Collectors(Protocol):
    """The collectors that can be asked: the processes of this machine, or what asks them elsewhere."""

    @property
    def default_version(self) -> str:
        """The version that answers if a question names none."""

    def call(
        self,
        op: str,
        fields: Mapping[str, object],
        *,
        asker: Asker,
        version: str | None = None,
        timeout: float | None = None,
    ) -> dict[str, object]:
        """The result of one operation of `otelcol-contrib check`.

        Raises Refused when the operation answers with an error, and as kinds of Unavailable: NotInstalled, NoChecker,
        CheckerBusy, and CheckerFailed when the process died on it. All of it takes `timeout` seconds at most: waiting
        for a turn, starting a process, and the answer.
        """

    def validate_plainly(
        self, yaml: str, env: dict[str, str], *, asker: Asker, version: str | None = None, timeout: float | None = None
    ) -> PlainVerdict:
        """The verdict of that version's own `validate` command. Raises NotInstalled, CheckerBusy and CheckerFailed."""

    def installed(self, *, asker: Asker) -> tuple[str, ...]:
        """The installed versions, oldest first. Raises Unavailable."""

    def describe(self, version: str, *, asker: Asker) -> dict[str, object]:
        """Describe the build of that version, as its binary does; each binary is asked once.

        Raises NotInstalled, NoChecker for an official release, and CheckerFailed for a binary that cannot be used.
        """

    def described(self, *, asker: Asker) -> tuple[Described, ...]:
        """The installed versions with the short part of their descriptions, oldest first. Raises Unavailable."""

    def fell_back(self) -> None:
        """Note that a check process failed on a text, so that the plain command gives the verdict."""


@dataclass(frozen=True, slots=True)
class Asker:
    """A process reads the texts of one organization only, and no credential's questions delay those of others for long.

    `credential_id` names a token, a session, or a test run, which stands for itself.
    """

    organization_id: str
    credential_id: str
    collectors: Collectors = field(repr=False, compare=False)
    # Set in the process that answers this asker's questions about a text, which is one of its own.
    feature_gates: tuple[str, ...] = ()
    # By the monotonic clock: no answer is waited for after it.
    ends: float | None = field(default=None, compare=False)
    # What operations answer without being asked, once each: their results, or what they raise.
    answers: dict[str, Mapping[str, object] | Exception] = field(default_factory=dict, repr=False, compare=False)
    # Called, it may be several times, while a process of this machine works on a question. It raises nothing.
    meanwhile: Callable[[], object] | None = field(default=None, repr=False, compare=False)

    @property
    def default_version(self) -> str:
        """The version that answers if a question names none."""
        return self.collectors.default_version

    def ask(
        self, op: str, fields: Mapping[str, object], *, version: str | None = None, timeout: float | None = None
    ) -> dict[str, object]:
        """The result of one operation. Raises what `Collectors.call` does, and UnknownGate."""
        match self.answers.pop(op, None):
            case Exception() as error:
                raise error
            case Mapping() as answer:
                return dict(answer)
        if self.feature_gates and op in ON_A_TEXT:
            fields = {**fields, "feature_gates": list(self.feature_gates)}
        try:
            return self.collectors.call(op, fields, asker=self, version=version, timeout=self._left(timeout))
        except Refused as refused:
            if refused.code == "unknown_gate":
                raise UnknownGate(refused.message) from refused
            raise

    def ask_plainly(self, yaml: str, env: dict[str, str], version: str) -> PlainVerdict:
        """The verdict of that version's own `validate` command. Raises what `Collectors.validate_plainly` does."""
        return self.collectors.validate_plainly(yaml, env, asker=self, version=version, timeout=self._left(None))

    def until(self, ends: float) -> Asker:
        """The same asker, all of whose questions end by that moment of the monotonic clock."""
        return replace(self, ends=ends)

    def _left(self, timeout: float | None) -> float | None:
        if self.ends is None:
            return timeout
        left = self.ends - time.monotonic()
        if left <= 0:
            raise CheckerBusy("The questions before this one took too long to ask the collector again")
        return left if timeout is None else min(left, timeout)

    def gated(self, feature_gates: Sequence[str]) -> Asker:
        """The same asker, with these feature gates of the collector: `+name` or `name`, and `-name`."""
        return replace(self, feature_gates=tuple(feature_gates))
