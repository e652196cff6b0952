"""The part of the API that checks and tests texts, given by the engine: commands ask it like a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from headgate_cli.api import Api, ApiRequest, ServerError
from headgate_cli.local import collectors
from headgate_cli.responses import HttpAnswer
from headgate_cli.untrusted import one_line

if TYPE_CHECKING:
    from headgate_engine.checker.asker import Asker
    from headgate_engine.checker.supervisor import Checker
    from headgate_engine.errors import FieldError

_NOT_INSTALLED: Final = "collector_version_not_installed"


class LocalApi(Api):
    """Answers requests as the API does, without HTTP. Nothing is stored but what this process asked for.

    The engine is imported and the collector started by the first request.
    """

    is_local = True

    def __init__(self, collector: str = "") -> None:
        super().__init__("this machine")
        self._named = collector
        self._stored: dict[str, bytes] = {}

    def close(self) -> None:
        """End the collectors' processes."""
        if "_checker" in self.__dict__:
            self._checker.close()

    @cached_property
    def _checker(self) -> Checker:
        return collectors.checker(self._named)

    @cached_property
    def _asker(self) -> Asker:
        checker = self._checker
        # Imported once there is an engine: without one, the line above says how to install it.
        from headgate_engine.checker.asker import Asker

        return Asker("local", "local", checker)

    def _answer(self, request: ApiRequest) -> HttpAnswer:
        path, _, query = request.path.partition("?")
        parameters = {**dict(parse_qsl(query)), **{name: str(value) for name, value in request.parameters.items()}}
        if request.method == "GET" and path in self._stored:
            return HttpAnswer(200, {}, self._stored[path])
        asker = self._asker
        # Imported once there is a collector: the models take 0.14 s.
        from headgate_cli.local import requests

        body = request.body or {}
        with _refusals(self._named, asker.default_version, body):
            answer = requests.answer(request.method, path, requests.LocalRequest(parameters, body, asker, self._stored))
        if answer is None:
            raise ServerError(404, "not_found", "this needs a server: leave out --local", [])
        return HttpAnswer(200, {}, answer)


@contextmanager
def _refusals(named: str, version: str, body: Mapping[str, object]) -> Iterator[None]:
    """Raises the problem that the API answers in place of what the engine raises."""
    from pydantic import ValidationError

    from headgate_engine import errors
    from headgate_engine.testing.model import Unworkable
    from headgate_engine.wire import refusals

    try:
        yield
    except ValidationError as wrong:
        entries = [refusals.plain({**entry, "loc": ("body", *entry["loc"])}) for entry in wrong.errors()]
        raise _problem(422, "invalid", errors.first_of(entries), entries) from wrong
    except errors.Invalid as invalid:
        code = errors.code_of(invalid)
        detail, way_out = invalid.detail, ""
        if code == _NOT_INSTALLED and named:
            asked = one_line(str(body.get("version") or body.get("to")))
            detail = f"{one_line(named)} is collector {version}, and --version asks for {asked}"
        elif code == _NOT_INSTALLED:
            way_out = (
                ": add it with `make collector VERSION=X.Y.Z` in a checkout of Headgate, or name one with "
                "--collector PATH"
            )
        raise _problem(422, code, detail, invalid.errors, way_out) from invalid
    except errors.TooLarge as large:
        raise _problem(413, errors.code_of(large), large.detail) from large
    except errors.NotFound as absent:
        raise _problem(404, errors.code_of(absent), absent.detail) from absent
    except errors.Unavailable as outage:
        raise _problem(503, errors.code_of(outage), outage.detail) from outage
    except Unworkable as unworkable:
        # It ends a job of the service in Error.
        raise _problem(422, "unworkable", str(unworkable)) from unworkable


def _problem(status: int, code: str, detail: str, entries: Sequence[FieldError] = (), way_out: str = "") -> ServerError:
    names = "message", "component_path", "line", "column", "code"
    facts = [{"loc": list(entry.loc), **{name: getattr(entry, name) for name in names}} for entry in entries]
    places = [{name: value for name, value in place.items() if value is not None} for place in facts]
    return ServerError(status, code, detail, places, way_out)
