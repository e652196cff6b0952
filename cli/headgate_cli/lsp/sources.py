"""Sources of answers: a server, or a collector on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from headgate_cli.api import Api, Entity, ServerError
from headgate_cli.errors import Failed
from headgate_cli.shaped import checked, shaped
from headgate_cli.shapes import OttlReferenceOut

CHECK: Final = "/validate?lint=true&policies=true"
TOO_MANY: Final = 429
# For a refusal that does not say how long to wait.
_PAUSE: Final = 5.0


class Backend(Protocol):
    """Answers one check, and gives the reference of its collector. Every method blocks, and raises Failed."""

    # Whether a minute has a limit of requests.
    is_limited: bool

    def check(self, content: str, /) -> Entity:
        """The answer of POST /validate?lint=true&policies=true."""

    def document(self) -> Mapping[str, object]:
        """The JSON Schema of a whole configuration."""

    def ottl(self, component: str, context: str, /) -> OttlReferenceOut:
        """Paths, functions and enums of a component's OTTL in a context."""

    def close(self) -> None:
        """End what was started."""


class Unavailable:
    """A backend that could not be had: every question raises the reason."""

    is_limited = False

    def __init__(self, reason: Failed) -> None:
        self._reason = reason

    def check(self, _content: str) -> Entity:
        raise self._reason

    def document(self) -> Mapping[str, object]:
        raise self._reason

    def ottl(self, _component: str, _context: str) -> OttlReferenceOut:
        raise self._reason

    def close(self) -> None:
        """Do nothing: no program was started."""


@dataclass(frozen=True)
class RateLimited(Exception):
    """The server takes no request for that many seconds."""

    seconds: float
    reason: str


def is_about_the_text(error: Failed) -> bool:
    """True if a check was refused for what the text is; otherwise the service or the collector has a fault."""
    return isinstance(error, ServerError) and error.status in (400, 413, 422)


class OfApi:
    """The answers of a server, or of this machine. It does not wait for a limit of requests: it raises RateLimited."""

    def __init__(self, api: Api, version: str = "", feature_gates: Sequence[str] = ()) -> None:
        self._api = api
        self._gates: dict[str, object] = {"feature_gates": list(feature_gates)} if feature_gates else {}
        self.is_limited = not api.is_local
        self._version: dict[str, str] = {"version": version} if version else {}

    def check(self, content: str) -> Entity:
        try:
            return self._api.post(CHECK, {"yaml": content, **self._version, **self._gates})
        except ServerError as error:
            if error.status == TOO_MANY:
                raise RateLimited(error.retry_after or _PAUSE, error.detail) from error
            raise

    def document(self) -> Mapping[str, object]:
        return _object(self._api.text("/components/schema.json", **self._version))

    def ottl(self, component: str, context: str) -> OttlReferenceOut:
        answer = self._api.get("/ottl/reference", component=component, context=context, **self._version)
        return checked(shaped(OttlReferenceOut, answer))

    def close(self) -> None:
        """A connection ends with the process; a collector is ended here."""
        self._api.close()


def _object(written: str) -> Mapping[str, object]:
    try:
        document = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise Failed("the collector's reference is not JSON") from error
    if not isinstance(document, dict):
        raise Failed("the collector's reference is not an object")
    return document
