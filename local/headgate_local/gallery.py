"""Publishes the gallery of flows at each start. On AWS, `make deploy` does that."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from headgate.flows import publish, source
from headgate.foundation.settings import settings
from headgate_local.errors import CannotStart
from headgate_local.running import Local

FLOWS: Final = Path(__file__).resolve().parents[2] / "flows"


@contextmanager
def published(_: Local) -> Iterator[None]:
    """Publish the flows of the checkout. Raises CannotStart, naming each broken flow."""
    try:
        objects = publish.build(FLOWS)
    except source.BrokenGallery as error:
        raise CannotStart(f"{FLOWS} cannot be published: {'; '.join(error.problems)}") from error
    publish.upload(objects, settings().bucket)
    yield
