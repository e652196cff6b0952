"""What can be seen of a fleet's collector instances: any member of the organization sees all of it."""

from dataclasses import dataclass

from headgate.deployments.model import Assignment
from headgate.fleets import service as fleets
from headgate.fleets.model import InstanceState
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.instances import store
from headgate.instances.model import Desired, Instance, day_of, forgotten, mark_of
from headgate.storage.page import Slice


@dataclass(frozen=True, slots=True)
class Seen:
    """An instance as it stands now; `state_message` says why it failed to apply what is assigned."""

    instance: Instance
    state: InstanceState
    state_message: str | None
    assigned: Assignment | None
    running: Assignment | None


def instances(caller: Caller, fleet_id: str, limit: int, after: str | None) -> Slice[Seen]:
    """By id, so those that first started first; three reads. Raises FleetNotFound."""
    fleet = fleets.get(caller, fleet_id)
    at = clock.now()
    found = store.instances(fleet_id, limit + 1, after)
    page = [one for one in found[:limit] if not forgotten(day_of(mark_of(one.last_seen_at)), at)]
    groups = store.groups(sorted({(fleet_id, one.deployment_id) for one in page}))
    seen = []
    for one in page:
        group = groups.get(one.deployment_id)
        state = one.shown_state(Desired.of(group) if group else None, at, on_kubernetes=fleet.on_kubernetes)
        seen.append(
            Seen(
                instance=one,
                state=state,
                state_message=one.state_message if state == one.state else None,
                assigned=group.assignment if group else None,
                running=one.running(),
            )
        )
    return Slice(seen, found[limit - 1].id if len(found) > limit else None)
