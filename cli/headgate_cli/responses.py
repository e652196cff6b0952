"""Reading answers of a server that is not trusted: with bounds on size, time and depth of nesting."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

from headgate_cli.errors import Unreachable

if TYPE_CHECKING:
    import ssl

    import httpx

# A Lambda function's answer is 6 MB at most.
MOST_BYTES: Final = 8 * 1_048_576
# The output of a run, fetched by a link: the service stores no more of it.
MOST_LINKED_BYTES: Final = 64 * 1_048_576
_MOST_SECONDS: Final = 120.0
_MOST_LEVELS: Final = 100


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that was received completely."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status < 300

    @property
    def leads_to(self) -> str:
        """Where the answer redirects to; empty if it does not."""
        return self.headers.get("location", "") if 300 <= self.status < 400 else ""

    @property
    def retry_after(self) -> float | None:
        """The seconds that the answer asks to wait, without bound; None if it does not say, or names a time."""
        said = self.headers.get("Retry-After", "")
        return float(said) if said.isascii() and said.isdigit() else None

    def entity(self) -> Mapping[str, object] | None:
        """The JSON object in the answer; None if it is not one, or is nested too deeply."""
        try:
            content = json.loads(self.content)
        except (ValueError, RecursionError):
            return None
        return content if isinstance(content, dict) and not _too_deep(content) else None


class Request(TypedDict, total=False):
    json: Mapping[str, object] | None
    data: dict[str, str]
    headers: dict[str, str]
    # None keeps the query of the address, an empty dictionary removes it.
    params: dict[str, str | int] | None


def trusted(url: str) -> ssl.SSLContext | bool:
    """What a client of this address verifies servers with: without TLS nothing, and the authorities are not read.

    To read them takes a quarter of a short command.
    """
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if url.startswith("http://") else True


def fetch(http: httpx.Client, method: str, url: str, *, most: int = MOST_BYTES, **request: Unpack[Request]) -> Answer:
    """The answer to a request. Raises httpx.HTTPError, and Unreachable for an answer out of bounds."""
    # No compression: a few bytes could expand without bound.
    request["headers"] = {"Accept-Encoding": "identity", **request.get("headers", {})}
    ends = time.monotonic() + _MOST_SECONDS
    content = bytearray()
    with http.stream(method, url, **request) as response:
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise Unreachable(f"{response.url.host} sent a compressed answer, which was not asked for")
        for part in response.iter_raw():
            content += part
            if len(content) > most:
                raise Unreachable(
                    f"{response.url.host} sent more than {most // 1_048_576} MB, which is not a Headgate answer"
                )
            if time.monotonic() > ends:
                raise Unreachable(
                    f"{response.url.host} took longer than {_MOST_SECONDS:.0f} s for one answer: try again"
                )
        return Answer(response.status_code, response.headers, bytes(content))


def _too_deep(content: object) -> bool:
    level: list[object] = [content]
    for _ in range(_MOST_LEVELS):
        inner = [
            value.values() if isinstance(value, dict) else value for value in level if isinstance(value, dict | list)
        ]
        level = [value for values in inner for value in values]
        if not level:
            return False
    return True
