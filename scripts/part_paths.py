"""Writes functions/web/paths.py: the paths at which an application imports each of its parts, from the parts' routes.

python -m scripts.part_paths
"""

import importlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.routing import Route

from headgate.http.parts import Part

FUNCTIONS: Final = Path(__file__).parents[1] / "functions"
MODULE: Final = FUNCTIONS / "web" / "paths.py"
_HEAD: Final = '''\
"""The paths of the routes of each part: `*` is one segment, `/**` at the end all below.

`make openapi` writes this file.
"""

from collections.abc import Mapping
from typing import Final

PATHS: Final[Mapping[str, tuple[str, ...]]] = {
'''


def module() -> str:
    """The text of the module."""
    parts: dict[str, set[str]] = {}
    for part in _parts():
        paths = {_pattern(route.path) for route in part.routes() if isinstance(route, Route)}
        parts.setdefault(part.module, set()).update(paths)
    entries = "".join(_entry(name, sorted(paths)) for name, paths in sorted(parts.items()))
    return f"{_HEAD}{entries}}}\n"


def _entry(name: str, paths: Sequence[str]) -> str:
    if len(paths) == 1:
        return f"    {json.dumps(name)}: ({json.dumps(paths[0])},),\n"
    lines = "".join(f"        {json.dumps(path)},\n" for path in paths)
    return f"    {json.dumps(name)}: (\n{lines}    ),\n"


def _parts() -> Iterator[Part]:
    for path in sorted(FUNCTIONS.glob("*/app.py")):
        application = getattr(importlib.import_module(f"{path.parent.name}.app"), "app", None)
        if isinstance(application, FastAPI):
            yield from (member for member in application.state.members if isinstance(member, Part))


def _pattern(path: str) -> str:
    """The path of a route with `*` for each parameter, and `/**` for one that holds the rest of the path."""
    return re.sub(r"\{\w+\}", "*", re.sub(r"/\{\w+:path\}$", "/**", path))


if __name__ == "__main__":
    MODULE.write_text(module(), encoding="utf-8")
    print(f"wrote {MODULE.relative_to(FUNCTIONS.parent)}")
