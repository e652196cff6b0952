"""The input of a validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class TextToCheck(NamedTuple):
    """A text, and the collector that checks it: its version, empty for the server's default, and its feature gates.

    `etag` is the state of a stored version whose text it is.
    """

    text: str
    collector_version: str = ""
    feature_gates: Sequence[str] = ()
    etag: str = ""

    def request(self) -> dict[str, object]:
        """The fields of a request to validate it."""
        request: dict[str, object] = {"yaml": self.text}
        if self.collector_version:
            request["version"] = self.collector_version
        if self.feature_gates:
            request["feature_gates"] = list(self.feature_gates)
        return request
