"""What waits in the outbox."""

from headgate.events import keys, store
from headgate.events.model import Event


def waiting(organization_id: str) -> list[Event]:
    """The events of an organization that are not sent yet, oldest first."""
    found = [event for number in range(keys.SHARDS) for event in store.waiting(number, 1_000)]
    return sorted((event for event in found if event.organization_id == organization_id), key=lambda one: one.at)
