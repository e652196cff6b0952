"""Sources of answers: a server, or a collector on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from headgate_cli.api import Api, Entity, ServerError
from headgate_cli.errors import Failed
from headgate_cli.shaped import PlainAnswer, checked
from headgate_cli.shapes import OttlReferenceOut

CHECK: Final = "/validate?lint=true&policies=true&remember=false"
TOO_MANY: Final = 429
# For a refusal that does not say how long to wait.
_PAUSE: Final = 5.0


@dataclass(frozen=True)
class CheckLimited(Exception):
    """The server takes no request for that many seconds."""

    seconds: float
    reason: str


def is_about_the_text(error: Failed) -> bool:
    """True if a check was refused for what the text is; otherwise the service or the collector has a fault."""
    return isinstance(error, ServerError) and error.status in (400, 413, 422)


class Backend:
    """The answers of a server, or of this machine, or the reason why there is neither, which each method raises.

    Every method blocks, and raises Failed. A limit of requests is not waited for: `check` raises CheckLimited.
    """

    def __init__(self, source: Api | Failed, version: str = "", feature_gates: Sequence[str] = ()) -> None:
        self._source = source
        chosen: dict[str, object] = {"version": version, "feature_gates": list(feature_gates)}
        self._collector = {field: value for field, value in chosen.items() if value}
        # A minute has a limit of requests.
        self.is_limited = isinstance(source, Api) and not source.is_local
        self._version = version

    @property
    def _api(self) -> Api:
        if isinstance(self._source, Failed):
            raise self._source
        return self._source

    def check(self, content: str) -> Entity:
        """The answer of POST /validate?lint=true&policies=true."""
        try:
            return self._api.post(PlainAnswer, CHECK, {"yaml": content, **self._collector})
        except ServerError as error:
            if error.status == TOO_MANY:
                raise CheckLimited(error.retry_after or _PAUSE, error.detail) from error
            raise

    def document(self) -> Mapping[str, object]:
        """The JSON Schema of a whole configuration."""
        return _object(self._api.text("/components/schema.json", version=self._version))

    def ottl(self, component: str, context: str) -> OttlReferenceOut:
        """Paths, functions and enums of a component's OTTL in a context."""
        names = {"component": component, "context": context, "version": self._version}
        return checked(self._api.get(OttlReferenceOut, "/ottl/reference", **names))

    def close(self) -> None:
        """A connection ends with the process; a collector is ended here."""
        if isinstance(self._source, Api):
            self._source.close()


def _object(written: str) -> Mapping[str, object]:
    try:
        document = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise Failed("the collector's reference is not JSON") from error
    if not isinstance(document, dict):
        raise Failed("the collector's reference is not an object")
    return document
