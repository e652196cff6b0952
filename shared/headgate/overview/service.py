"""An organization as it stands now, for any of its members, at a cost that does not grow with what it holds."""

from __future__ import annotations

from functools import cache
from typing import Final

from headgate.configurations import service as configurations
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.instances.counting import fleets as counting
from headgate.overview import drafts, fleets, runs, tokens
from headgate.overview.model import KINDS, Overview
from headgate_engine.threads import Threads

MOST_FLEETS: Final = 100
_AT_ONCE: Final = 4


def overview(caller: Caller, *, check: bool = False) -> Overview:
    """Gather what needs somebody, and each fleet's collectors by state. `check` asks the collector about new drafts.

    The parts are read side by side: two queries of configurations and three batch reads of the drafts among them; one
    query of runs; one of fleets, one for each of them, and a batch read for each hundred groups and open rollouts.
    Where collectors failed, the collectors of up to three fleets, once a minute.
    """
    at = clock.now()
    listing = _side_by_side().submit(configurations.visible, caller, drafts.LOOKED_AT, None)
    failed_runs = _side_by_side().submit(runs.notices, caller)
    counted = counting.fleets(caller, MOST_FLEETS, None).entries
    listed = listing.result().entries
    notices = [
        *fleets.notices(caller, counted, at),
        *tokens.notices(counted, at),
        *drafts.notices(caller, listed, check=check),
        *failed_runs.result(),
    ]
    return Overview(
        at=at,
        fleets=counted,
        # The most urgent kind first; within a kind, the newest first.
        notices=sorted(
            notices, key=lambda notice: (KINDS.index(notice.kind), -notice.at.timestamp() if notice.at else 0)
        ),
        has_configurations=bool(listed),
    )


@cache
def _side_by_side() -> Threads:
    return Threads(_AT_ONCE, "overview")
