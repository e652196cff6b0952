"""Parts beside the functions: stand-ins for AWS services that moto does not carry out.

A part is entered after the saved data are back in moto and before the first request, so it can also finish what the
last run of the service left unfinished. Parts are left, in reverse order, after the last request.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

from headgate_local import building, clock, connection, deliveries, gallery, releases, schedules, stepfunctions, streams
from headgate_local.running import Local

Part = Callable[[Local], AbstractContextManager[None]]

PARTS: tuple[Part, ...] = (
    clock.ahead,
    connection.published,
    gallery.published,
    releases.published,
    stepfunctions.part,
    deliveries.part,
    streams.part,
    schedules.part,
    # After all that uses the collector: leaving it ends the build first.
    building.behind,
)
