"""The interval at which an instance is told to report."""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING, Final

from headgate.instances.state.intervals import QUICK_SECONDS, longest

if TYPE_CHECKING:
    from datetime import datetime

    from headgate.deployments.running import RunningRollout
    from headgate.instances.model import Instance

_QUICKEST_SECONDS: Final = 10
_JITTER: Final = 0.1


def to_tell(after: Instance, rollout: RunningRollout | None, at: datetime) -> int:
    """The interval for an instance after a message; `rollout` is that of its group.

    Each has its own, so that hosts that started together spread. One that a person has to help is not expected.
    """
    spread = zlib.crc32(after.id.encode()) / (1 << 32)
    at_rest = math.ceil(longest(quick=False) * (1 - _JITTER * spread))
    is_stuck = after.standing.state == "pending_pickup" and after.standing.message is not None
    is_judged = after.measured.watch is not None and not (rollout and rollout.rests)
    expects = (after.under_way and not is_stuck) or is_judged or after.orders.capture is not None
    if expects or any(order.waits(at) for order in after.orders.pending):
        return min(at_rest, _QUICKEST_SECONDS + round((QUICK_SECONDS - _QUICKEST_SECONDS) * spread))
    return at_rest
