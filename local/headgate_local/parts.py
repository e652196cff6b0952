"""What runs beside the functions: stand-ins for AWS services that moto only pretends to have.

A part is entered once the data of the last run are back in moto and before the first request is answered, so it is also
the place to settle what the last run left unfinished. It is left, in reverse order, after the last request.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager

from headgate_local import clock, connection, gallery, releases, stepfunctions
from headgate_local.running import Local

Part = Callable[[Local], AbstractContextManager[None]]

PARTS: tuple[Part, ...] = (clock.ahead, connection.told, gallery.published, releases.offered, stepfunctions.part)
