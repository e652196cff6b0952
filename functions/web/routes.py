"""The parts of the functions' applications, at the paths of their routes."""

from collections.abc import Sequence

from headgate.http.parts import Part
from web.paths import PATHS


def part(module: str, routers: Sequence[str] = ("router",)) -> Part:
    """The routers of a module, imported at the first request to a path that `web.paths` lists for it."""
    return Part(module, *PATHS.get(module, ()), routers=routers)
