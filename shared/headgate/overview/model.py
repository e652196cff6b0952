"""The overview of an organization."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Final, Generic, Literal, TypeVar

from headgate.instances.counting.fleets import CountedFleet

NoticeKind = Literal[
    "rollback_failed",
    "rollout_halted",
    "rollout_rolled_back",
    "rollout_waiting",
    "apply_failed",
    "hosts_silent",
    "draft_invalid",
    "draft_unchecked",
    "run_failed",
    "token_expired",
    "token_expiring",
]
KINDS: Final[tuple[NoticeKind, ...]] = (
    "rollback_failed",
    "rollout_halted",
    "rollout_rolled_back",
    "apply_failed",
    "hosts_silent",
    "rollout_waiting",
    "token_expired",
    "draft_invalid",
    "run_failed",
    "token_expiring",
    "draft_unchecked",
)
"""The most urgent first."""

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that needs somebody: what it is about, by name, and why, which may quote a host or a collector.

    `at` is since when it is so, None where several are counted in one; for a token that will expire, when it does. The
    ids say where it is mended.
    """

    kind: NoticeKind
    subject: str
    reason: str
    at: datetime | None
    fleet_id: str | None = None
    deployment_id: str | None = None
    rollout_id: str | None = None
    instance_id: str | None = None
    configuration_id: str | None = None
    version_number: int | None = None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """`fleets` are the newest hundred with their collectors by state, `notices` the most urgent first.

    `has_configurations` is whether the caller sees any. `at` is when it was gathered.
    """

    at: datetime
    fleets: Sequence[CountedFleet]
    notices: Sequence[Notice]
    has_configurations: bool


class Recent(Generic[_Key, _Value]):
    """Results of this process, by what they depend on; beyond `most` entries the oldest is dropped."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[_Key, _Value] = OrderedDict()
        self._lock = Lock()

    def known(self, key: _Key, read: Callable[[], _Value]) -> _Value:
        """Returns the result for the key, which is read if this process has none."""
        with self._lock:
            if key in self._entries:
                return self._entries[key]
        value = read()
        with self._lock:
            self._entries[key] = value
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
        return value

    def clear(self) -> None:
        """Know what a new process knows: nothing."""
        with self._lock:
            self._entries.clear()
