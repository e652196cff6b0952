"""What runs beside the functions: stand-ins for AWS services that moto only pretends to have.

A part is entered once the data of the last run are back in moto and before the first request is answered, so it is also
the place to settle what the last run left unfinished. It is left, in reverse order, after the last request.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from headgate_local import clock, connection, gallery, releases, stepfunctions
from headgate_local.template import Template


@dataclass(frozen=True, slots=True)
class Local:
    """The running local service, as a part sees it. AWS clients find moto by the environment."""

    template: Template
    aws_url: str
    base_url: str
    data: Path
    collectors: Path


Part = Callable[[Local], AbstractContextManager[None]]

PARTS: tuple[Part, ...] = (clock.ahead, connection.told, gallery.published, releases.offered, stepfunctions.part)
