"""One attempt to send a webhook, by httpcore: to an address that was checked, within five seconds, whatever is there.

The name is resolved once, every address that it has is checked, and the connection is made to one of these. TLS is
verified for the name. A redirect is an answer like any other, and no byte of an answer is read after its headers.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from typing import Final

import certifi
import httpcore

from headgate.webhooks.addresses import Address, allowed
from headgate.webhooks.model import SendError

SECONDS: Final = 5.0
"""For everything: the name, the connection, TLS, the request and the answer's headers."""
_MOST_TRIED: Final = 4
# A name server that does not answer holds a thread for longer than an attempt takes; so many may.
_RESOLVERS: Final = 32


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of an attempt: the HTTP status, or the reason why there is none."""

    status: int | None
    error: SendError | None
    milliseconds: int


class _NotSent(Exception):
    def __init__(self, error: SendError) -> None:
        super().__init__(error)
        self.error: SendError = error


def post(to: Address, headers: Mapping[str, str], body: bytes, *, loopback: bool) -> Sent:
    """Send a body, once. Raises nothing for a fault of the receiver."""
    began = time.monotonic()
    # A loop of its own: `asyncio.run` would take the thread's away, which other code of a process may rely on.
    with closing(asyncio.new_event_loop()) as loop:
        status, error = loop.run_until_complete(_within_time(to, headers, body, loopback=loopback))
    return Sent(status, error, int((time.monotonic() - began) * 1_000))


async def _within_time(
    to: Address, headers: Mapping[str, str], body: bytes, *, loopback: bool
) -> tuple[int | None, SendError | None]:
    try:
        async with asyncio.timeout(SECONDS):
            return await _post(to, headers, body, loopback=loopback), None
    except _NotSent as error:
        return None, error.error
    except (TimeoutError, httpcore.TimeoutException):
        return None, "timeout"
    except httpcore.ConnectError as error:
        return None, "tls_failed" if _is_of_tls(error) else "connection_failed"
    except (httpcore.NetworkError, OSError):
        return None, "connection_failed"
    except httpcore.ProtocolError:
        return None, "bad_response"


async def _post(to: Address, headers: Mapping[str, str], body: bytes, *, loopback: bool) -> int:
    url = httpcore.URL(scheme="https", host=to.host, port=to.port, target=to.target)
    pool = httpcore.AsyncConnectionPool(ssl_context=_trust(), network_backend=_Checked(loopback=loopback))
    async with (
        pool,
        pool.stream("POST", url, headers=[("Connection", "close"), *headers.items()], content=body) as answer,
    ):
        # Nothing of the answer's body is read: leaving the block closes the connection.
        return answer.status


class _Checked(httpcore.AsyncNetworkBackend):
    """Connects to addresses that were checked, and to nothing else."""

    def __init__(self, *, loopback: bool) -> None:
        self._loopback = loopback
        self._backend = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        addresses = await _resolve(host, port)
        if not all(allowed(address, loopback=self._loopback) for address in addresses):
            raise _NotSent("address_not_allowed")
        *others, last = addresses[:_MOST_TRIED]
        for address in others:
            with suppress(httpcore.ConnectError):
                return await self._backend.connect_tcp(address, port, timeout, local_address, socket_options)
        return await self._backend.connect_tcp(last, port, timeout, local_address, socket_options)


async def _resolve(host: str, port: int) -> list[str]:
    """The addresses of a name, those of IPv4 first: functions of AWS have no other. Raises _NotSent."""
    # Not the loop's own threads: closing the loop waits for these, however long a name server takes.
    lookup = _resolvers().submit(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        resolved = await asyncio.wrap_future(lookup)
    except OSError as error:
        raise _NotSent("name_not_resolved") from error
    addresses = dict.fromkeys(
        str(entry[4][0]) for entry in sorted(resolved, key=lambda entry: entry[0] != socket.AF_INET)
    )
    if not addresses:
        raise _NotSent("name_not_resolved")
    return list(addresses)


def _is_of_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False


@cache
def _resolvers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_RESOLVERS, thread_name_prefix="resolve")


@cache
def _trust() -> ssl.SSLContext:
    # The variable is OpenSSL's own, for an authority inside an organization; Lambda does not set it.
    return ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE") or certifi.where())
