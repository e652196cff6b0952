"""The console's scripts, which `scripts/console build` writes to `assets/` under names with a hash of their content."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request, Response

from headgate.foundation import errors
from headgate.http.parameters import accepts_gzip
from web.html import NOTHING, Html, html

FOLDER: Final = Path(__file__).parent / "assets"
STATIC: Final = Path(__file__).parent / "static"
"""Files that no build makes: the typeface, named with its version, and the icon of the site, with their licences."""
_TYPES: Final = {".woff2": "font/woff2", ".svg": "image/svg+xml"}
_HEADERS: Final = {
    # Another content has another name.
    "Cache-Control": "public, max-age=31536000, immutable",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}

router = APIRouter(include_in_schema=False)


class AssetNotFound(errors.NotFound):
    detail = "There is no such file; reload the page that asked for it"


@router.get("/assets/{name}")
def asset(name: str, request: Request) -> Response:
    """A built script, compressed if the client accepts that, or a file that needs no build."""
    if name in _static():
        return Response((STATIC / name).read_bytes(), media_type=_TYPES[Path(name).suffix], headers=_HEADERS)
    if name not in _names():
        raise AssetNotFound
    compressed = accepts_gzip(request.headers.get("accept-encoding"))
    content = (FOLDER / f"{name}.gz" if compressed else FOLDER / name).read_bytes()
    headers = {**_HEADERS, "Content-Encoding": "gzip"} if compressed else _HEADERS
    return Response(content, media_type="text/javascript", headers=headers)


def script(name: str) -> Html:
    """The element that loads a page's script; nothing where the console is not built, where pages can be read."""
    file = _manifest().get(name)
    return html('<script type="module" src="/assets/{file}"></script>', file=file) if file else NOTHING


def forget() -> None:
    """Look at the folder again, which has been built anew."""
    _names.cache_clear()
    _manifest.cache_clear()


@cache
def _static() -> frozenset[str]:
    return frozenset(path.name for path in STATIC.iterdir() if path.suffix in _TYPES)


@cache
def _names() -> frozenset[str]:
    return frozenset(path.name for path in FOLDER.glob("*.js"))


@cache
def _manifest() -> Mapping[str, str]:
    """The file of each page's script by its name."""
    try:
        manifest: dict[str, str] = json.loads((FOLDER / "manifest.json").read_text())
    except FileNotFoundError:
        return {}
    return manifest
