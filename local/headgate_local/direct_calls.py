"""Calls of this process's AWS clients go to moto's application itself, without a connection.

The application is the one behind the port, so both ways see the same tables. A connection, with its thread and its
parsing on both sides, is more than half of what a call takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from io import BytesIO
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from werkzeug.test import create_environ, run_wsgi_app

from headgate_local import default_session

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

_BEFORE_SEND: Final = "before-send"


def to(application: WSGIApplication, url: str) -> AbstractContextManager[None]:
    """Until the end, clients that are made from boto3's default session call the application at that URL directly."""

    def send(request: AWSPreparedRequest, **_: object) -> AWSResponse | None:
        # None: botocore sends it, as to another service.
        return _call(application, request) if request.url.startswith(f"{url}/") else None

    return default_session.handling(_BEFORE_SEND, send)


def _call(application: WSGIApplication, request: AWSPreparedRequest) -> AWSResponse:
    url = urlsplit(request.url)
    environment = create_environ(
        path=f"{url.path}?{url.query}" if url.query else url.path,
        base_url=f"{url.scheme}://{url.netloc}",
        method=request.method,
        headers=[(name, _text(value)) for name, value in request.headers.items()],
        data=_body(request),
    )
    parts, status, headers = run_wsgi_app(application, environment)
    received = HTTPHeaders()
    for name, value in headers:
        received[name] = value
    return AWSResponse(request.url, int(status.partition(" ")[0]), received, _Raw(b"".join(parts)))


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _body(request: AWSPreparedRequest) -> bytes:
    body = request.body
    content = body if body is None or isinstance(body, str | bytes | bytearray) else body.read()
    return content.encode() if isinstance(content, str) else bytes(content or b"")


class _Raw(BytesIO):
    """The answer's body, as botocore reads it of a connection."""

    def stream(self, amt: int = 65_536, **_: object) -> Iterator[bytes]:
        while part := self.read(amt):
            yield part
