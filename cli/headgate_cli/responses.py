"""Answers of a server that is not trusted, with bounds on size and depth of nesting."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPMessage
from typing import Final

# A Lambda function's answer is 6 MB at most.
MOST_BYTES: Final = 8 * 1_048_576
# The output of a run, fetched by a link: the service stores no more of it.
MOST_LINKED_BYTES: Final = 64 * 1_048_576
_MOST_LEVELS: Final = 100


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer that was received completely."""

    status: int
    # By their names in any case.
    headers: HTTPMessage | Mapping[str, str]
    content: bytes

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status < 300

    @property
    def leads_to(self) -> str:
        """The address to which the answer redirects; empty if it does not."""
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
