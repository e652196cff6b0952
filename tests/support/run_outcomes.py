"""What an honest test runner says of how a collector ended."""

from datetime import timedelta

from headgate.foundation import clock
from headgate_engine.testing.outcome import CollectorOutcome


def outcome(
    seconds: float, *, ran: bool = True, executed: bool = True, reason: str = "", cause: str = ""
) -> CollectorOutcome:
    """The outcome of a collector that ran for `seconds`, until now."""
    now = clock.now()
    return CollectorOutcome(
        ran=ran,
        executed=executed,
        reason=reason,
        cause=cause,
        started_at=now - timedelta(seconds=seconds),
        finished_at=now,
    )
