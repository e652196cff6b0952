"""Answers with the schema of a whole configuration: compressed, and cached for as long as possible."""

from typing import Final

from fastapi import Response
from starlette.status import HTTP_304_NOT_MODIFIED

from headgate.http.parameters import accepts_gzip, matches
from headgate_engine.reference.documents import plain
from headgate_engine.reference.model import SchemaDocument

_MEDIA_TYPE: Final = "application/schema+json"
# A day: a version that is built again by a newer Headgate may describe more.
_IMMUTABLE: Final = "public, max-age=86400, immutable"
# The default version may be another one tomorrow.
_ASKED_AGAIN: Final = "public, no-cache"
RESPONSES: Final[dict[int | str, dict[str, object]]] = {
    200: {
        "description": "The schema, with gzip if the request accepts it",
        "content": {_MEDIA_TYPE: {"schema": {"type": "object"}}},
        "headers": {"ETag": {"description": "The document's tag", "required": True, "schema": {"type": "string"}}},
    },
    304: {"description": "The client's document is still this one"},
}


def answer(
    document: SchemaDocument, accept_encoding: str | None, if_none_match: str | None, *, for_good: bool
) -> Response:
    """The document as the request accepts it, or 304. `for_good`: its address will always lead to this document."""
    compressed = accepts_gzip(accept_encoding)
    # A strong tag is of these bytes, so each form has its own.
    etag = f'"{document.digest}-gzip"' if compressed else f'"{document.digest}"'
    headers = {"ETag": etag, "Cache-Control": _IMMUTABLE if for_good else _ASKED_AGAIN, "Vary": "Accept-Encoding"}
    if matches(if_none_match, etag):
        return Response(status_code=HTTP_304_NOT_MODIFIED, headers=headers)
    if compressed:
        return Response(document.compressed, media_type=_MEDIA_TYPE, headers={**headers, "Content-Encoding": "gzip"})
    return Response(plain(document.compressed), media_type=_MEDIA_TYPE, headers=headers)
