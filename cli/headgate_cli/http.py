"""A client of one server by the standard library, which starts in a third of the time that other clients take.

Connections stay open, one for each thread. Proxies are those of the environment or the system.
"""

from __future__ import annotations

import http.client
import json
import os
import select
import socket
import sys
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, quote, unquote, urlencode, urlsplit

from headgate_cli.errors import Failed, Unreachable
from headgate_cli.responses import MOST_BYTES, HttpAnswer

if TYPE_CHECKING:
    import ssl

_MOST_SECONDS: Final = 120.0
_PART: Final = 65_536
# What a path and its query may contain besides letters and digits; `%` begins an escape already.
_IN_TARGET: Final = "/:?[]@!$&'()*+,;=%-._~"
_LONGEST_LABEL: Final = 64
_PORTS: Final = {"http": 80, "https": 443}
# The server may have done the request, and only the answer is lost.
_CUT: Final = (
    http.client.RemoteDisconnected,
    http.client.IncompleteRead,
    http.client.BadStatusLine,
    ConnectionResetError,
    BrokenPipeError,
)


class Unanswered(Exception):
    """No whole answer came; `cut` is set if the connection was closed after the request."""

    def __init__(self, reason: str, *, cut: bool = False) -> None:
        super().__init__(reason)
        self.cut = cut


class Http:
    """Sends requests to paths below an address, with the same headers. Raises ValueError for a wrong address."""

    def __init__(self, base: str, *, headers: Mapping[str, str] | None = None, seconds: float) -> None:
        self._address = urlsplit(base)
        if self._address.scheme not in _PORTS or not self._address.hostname:
            raise ValueError("it does not name a host")
        self.host = self._address.hostname
        if not all(0 < len(label) < _LONGEST_LABEL for label in self.host.rstrip(".").split(".")):
            raise ValueError(f"{self.host} is not the name of a host")
        self._to = self.host, self._address.port or _PORTS[self._address.scheme]
        self._headers = {"Accept": "*/*", "Accept-Encoding": "identity", **(headers or {})}
        self._seconds = seconds
        self._proxy = _proxy_of(self._address)
        self._of_thread = threading.local()

    def fetch(
        self,
        method: str,
        path: str,
        *,
        json_body: Mapping[str, object] | None = None,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        parameters: Mapping[str, str | int] | None = None,
        most: int = MOST_BYTES,
    ) -> HttpAnswer:
        """The answer to a request. Parameters take the place of the path's query.

        Raises Unanswered, and Unreachable for an answer out of bounds.
        """
        sent = {**self._headers, **(headers or {})}
        if self._proxy and self._address.scheme == "http":
            sent |= _credential_of(self._proxy)
        content = None
        if json_body is not None:
            content = _as_json(json_body)
            sent["Content-Type"] = "application/json"
        elif form is not None:
            content = urlencode(form).encode()
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        complete = False
        try:
            connection = self._connection()
            connection.request(method, self._target(path, parameters or {}), body=content, headers=sent)
            response = connection.getresponse()
            received = self._read(response, most)
            complete = True
            return HttpAnswer(response.status, response.headers, received)
        except (OSError, http.client.HTTPException) as error:
            raise Unanswered(str(error), cut=isinstance(error, _CUT)) from error
        finally:
            if not complete:
                self.close()

    def close(self) -> None:
        """Close this thread's connection."""
        connection: http.client.HTTPConnection | None = getattr(self._of_thread, "connection", None)
        if connection is not None:
            connection.close()

    def _read(self, response: http.client.HTTPResponse, most: int) -> bytes:
        # No compression: a few bytes could expand without bound.
        if response.getheader("Content-Encoding", "identity").lower() != "identity":
            raise Unreachable(f"{self.host} sent a compressed answer, which was not asked for")
        ends = time.monotonic() + _MOST_SECONDS
        received = bytearray()
        while part := response.read1(_PART):
            received += part
            if len(received) > most:
                raise Unreachable(f"{self.host} sent more than {most // 1_048_576} MB, which is not a Headgate answer")
            if time.monotonic() > ends:
                raise Unreachable(f"{self.host} took longer than {_MOST_SECONDS:.0f} s for one answer: try again")
        if response.length:
            raise http.client.IncompleteRead(bytes(received[-1:]), response.length)
        # The connection serves the next request only then.
        response.close()
        return bytes(received)

    def _target(self, path: str, parameters: Mapping[str, str | int]) -> str:
        target = quote(f"{self._address.path}{path}", safe=_IN_TARGET) or "/"
        if parameters:
            target = f"{target.partition('?')[0]}?{urlencode(parameters)}"
        through = self._proxy is not None and self._address.scheme == "http"
        return f"http://{self._address.netloc}{target}" if through else target

    def _connection(self) -> http.client.HTTPConnection:
        """This thread's connection; it connects again if the server has closed it since the last answer."""
        connection: http.client.HTTPConnection | None = getattr(self._of_thread, "connection", None)
        if connection is None:
            connection = self._of_thread.connection = self._new_connection()
        elif connection.sock is not None and _has_ended(connection.sock):
            connection.close()
        return connection

    def _new_connection(self) -> http.client.HTTPConnection:
        host, port = self._to
        by_proxy = self._proxy
        if by_proxy:
            host, port = by_proxy.hostname or "", by_proxy.port or _PORTS.get(by_proxy.scheme, 80)
        if self._address.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=self._seconds)
        connection = http.client.HTTPSConnection(host, port, timeout=self._seconds, context=_authorities())
        if by_proxy:
            connection.set_tunnel(*self._to, headers=_credential_of(by_proxy))
        return connection


def _authorities() -> ssl.SSLContext:
    """The certificate authorities of the system and of certifi, or those of SSL_CERT_FILE and SSL_CERT_DIR only."""
    import ssl

    context = ssl.create_default_context()
    if not (os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")):
        import certifi

        context.load_verify_locations(certifi.where())
    return context


def _has_ended(connection: socket.socket) -> bool:
    """True if the other side has closed a connection on which nothing is expected, or has sent something."""
    try:
        return bool(select.select([connection], [], [], 0)[0])
    except (OSError, ValueError):
        return True


def _as_json(body: Mapping[str, object]) -> bytes:
    """The body as it is sent. Raises Failed for what a file has and JSON does not, such as `.inf`."""
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Failed(f"a value of the file cannot be sent as JSON, put text in quotes: {error}") from error


def _proxy_of(address: SplitResult) -> SplitResult | None:
    if sys.platform == "linux" and not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    # Imported here: it takes as long as the rest of this module.
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    proxy = proxies.get(address.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(address.netloc.rpartition("@")[2]):
        return None
    return urlsplit(proxy if "://" in proxy else f"http://{proxy}")


def _credential_of(proxy: SplitResult) -> dict[str, str]:
    if not proxy.username:
        return {}
    import base64

    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
