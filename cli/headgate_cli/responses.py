"""What a server answers, taken as a stranger's: no more bytes, no longer and no deeper than any answer of ours."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypedDict, Unpack

from headgate_cli.errors import Unreachable

if TYPE_CHECKING:
    import httpx

# A function's answer has 6 MB at most.
MOST_BYTES: Final = 8 * 1_048_576
# A run's output, fetched by a link; the service keeps no more of one.
MOST_LINKED_BYTES: Final = 64 * 1_048_576
_LONGEST_SECONDS: Final = 120.0
_DEEPEST: Final = 100


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that came whole."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status < 300

    @property
    def leads_to(self) -> str:
        """Where a redirection leads; empty where it is none."""
        return self.headers.get("location", "") if 300 <= self.status < 400 else ""

    def entity(self) -> Mapping[str, object] | None:
        """The JSON object that the answer is; None where it is none, or deeper than any of ours."""
        try:
            content = json.loads(self.content)
        except (ValueError, RecursionError):
            return None
        return content if isinstance(content, dict) and not _too_deep(content) else None


class Request(TypedDict, total=False):
    json: Mapping[str, object] | None
    data: dict[str, str]
    headers: dict[str, str]
    params: dict[str, str | int]


def fetch(http: httpx.Client, method: str, url: str, *, most: int = MOST_BYTES, **request: Unpack[Request]) -> Answer:
    """The answer to a request. Raises httpx.HTTPError, and Unreachable for an answer that is none of ours."""
    # Not compressed: a few bytes could become any number.
    request["headers"] = {"Accept-Encoding": "identity", **request.get("headers", {})}
    ends = time.monotonic() + _LONGEST_SECONDS
    content = bytearray()
    with http.stream(method, url, **request) as response:
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise Unreachable(f"{response.url.host} answers compressed, which was not asked for")
        for part in response.iter_raw():
            content += part
            if len(content) > most:
                raise Unreachable(f"{response.url.host} answers with more than {most // 1_048_576} MB")
            if time.monotonic() > ends:
                raise Unreachable(f"{response.url.host} takes longer than {_LONGEST_SECONDS:.0f} s for one answer")
        return Answer(response.status_code, response.headers, bytes(content))


def _too_deep(content: object) -> bool:
    level: list[object] = [content]
    for _ in range(_DEEPEST):
        inner = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level = [value for values in inner for value in values]
        if not level:
            return False
    return True
