"""Called each minute: finds what only time brings, and sends what waits in the outbox."""

from pydantic import JsonValue

from headgate.foundation import clock
from headgate.webhooks.notifications import sweep


def handler(_event: JsonValue, _context: object) -> JsonValue:
    """Raises NotSwept if something was left for the next call."""
    swept = sweep.sweep(clock.now())
    return {"noticed": swept.noticed, "sent": swept.sent, "messages": swept.messages}
