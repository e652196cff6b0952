"""The public API over HTTP: one method a verb, and one exception for whatever goes wrong."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import click

from headgate_cli import VERSION
from headgate_cli.errors import Failed, NotAuthenticated, Unreachable
from headgate_cli.responses import MOST_LINKED_BYTES, Answer, fetch
from headgate_cli.untrusted import quoted

if TYPE_CHECKING:
    from headgate_cli.login.credentials import Credential

Entity = Mapping[str, object]

# API Gateway answers within 30 s.
_SECONDS: Final = 35.0
_PAGE: Final = 100
# Bounds a list without an end or that repeats itself; more than any organization holds.
_MOST_PAGES: Final = 1_000
_MOST_OF_A_LIST: Final = 64 * 1_048_576
_LONGEST_CURSOR: Final = 4_096
# Of waiting for the rate limit's next minute; the limit is per minute, so a third refusal is something else.
_WAITS: Final = 3
_LONGEST_WAIT: Final = 120
# The first try of a create that was cut off is still at work.
_UNDER_WAY: Final = "idempotency_key_in_use"
_PAUSE: Final = 1.0
_CREDENTIAL_CODES: Final = (
    "write_access_required",
    "admin_required",
    "session_required",
    "organization_header",
    "not_an_active_member",
)


class ServerError(Failed):
    """The server refused the request, or could not do it. `code` is the problem's (RFC 9457), stable for programs."""

    def __init__(self, status: int, code: str, detail: str, errors: list[Entity]) -> None:
        places = [_line_of(error) for error in errors if error.get("message") != detail]
        # The one error that is all of the detail, which begins with where in the request it is: said once.
        alone = len(errors) == 1 and detail.endswith(str(errors[0].get("message")))
        lines = places if alone and places else [detail, *places]
        super().__init__("\n  ".join(map(quoted, lines)))
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = errors


class Api:
    """The public API of one server, called with one credential."""

    def __init__(self, credential: Credential) -> None:
        # Only now: it takes a third of the start of a command, and --help does without.
        import httpx

        self.url = credential.url
        self._source = credential.source
        headers = {"User-Agent": f"headgate/{VERSION}", **credential.headers}
        try:
            self._http = httpx.Client(base_url=f"{credential.url}/api/v1/public", headers=headers, timeout=_SECONDS)
        except httpx.InvalidURL as error:
            raise click.UsageError(f"{credential.url} is no address of a server: {error}") from error

    def get(self, path: str, **parameters: str | int) -> Entity:
        return self._entity(self._send("GET", path, parameters=parameters))

    def text(self, path: str) -> str:
        """A plain text answer, as it is; one that is too large for an answer, from where the server sends us."""
        answer = self._send("GET", path, may_redirect=True)
        if answer.leads_to:
            answer = self._linked(answer.leads_to)
        return answer.content.decode(errors="replace")

    def items(self, path: str) -> Iterator[Entity]:
        """All entries of a list, page by page. Raises Unreachable for a list without an end."""
        cursor, seen, size = "", set[str](), 0
        for _ in range(_MOST_PAGES):
            answer = self._send("GET", path, parameters={"limit": _PAGE} | ({"cursor": cursor} if cursor else {}))
            page = self._entity(answer)
            yield from entities(page, "items")
            cursor, size = optional(page, "next_cursor"), size + len(answer.content)
            if not cursor:
                return
            if cursor in seen or len(cursor) > _LONGEST_CURSOR or size > _MOST_OF_A_LIST:
                break
            seen.add(cursor)
        raise Unreachable(f"{self.url} answers with a list that does not end")

    def create(self, path: str, body: Mapping[str, object]) -> Entity:
        """A POST that makes something: repeated after a cut connection, it still makes it once."""
        return self._entity(self._send("POST", path, body, {"Idempotency-Key": str(uuid.uuid4())}))

    def post(self, path: str, body: Mapping[str, object] | None = None) -> Entity:
        return self._entity(self._send("POST", path, body))

    def put(self, path: str, body: Mapping[str, object]) -> Entity:
        return self._entity(self._send("PUT", path, body))

    def patch(self, path: str, body: Mapping[str, object], *, if_match: str = "", **parameters: str) -> Entity:
        headers = {"If-Match": if_match} if if_match else {}
        return self._entity(self._send("PATCH", path, body, headers, parameters))

    def get_with_etag(self, path: str) -> tuple[Entity, str]:
        """An entity, and the ETag to give back as `if_match`."""
        answer = self._send("GET", path)
        return self._entity(answer), answer.headers.get("ETag", "")

    def _entity(self, answer: Answer) -> Entity:
        entity = answer.entity()
        if entity is None:
            raise Unreachable(f"{self.url} does not answer as a Headgate server")
        return entity

    def _linked(self, url: str) -> Answer:
        """What a link of the server's leads to. The link is the key: the credential is for the server alone."""
        import httpx

        if self.url.startswith("https://") and not url.startswith("https://"):
            raise Unreachable(f"{self.url} sends to an address without https://")
        try:
            with httpx.Client(timeout=_SECONDS) as elsewhere:
                answer = fetch(elsewhere, "GET", url, most=MOST_LINKED_BYTES)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unreachable(f"what {self.url} keeps elsewhere cannot be fetched: {quoted(str(error))}") from error
        if not answer.succeeded:
            raise Failed(f"what {self.url} keeps elsewhere cannot be fetched: status {answer.status}")
        return answer

    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        parameters: Mapping[str, str | int] | None = None,
        *,
        may_redirect: bool = False,
    ) -> Answer:
        """Raises ServerError, NotAuthenticated, Unreachable."""
        import httpx

        repeatable = method in ("GET", "PUT") or "Idempotency-Key" in (headers or {})
        for tries_left in range(_WAITS, -1, -1):
            try:
                answer = fetch(
                    self._http, method, path, json=body, headers=dict(headers or {}), params=dict(parameters or {})
                )
            except (httpx.RemoteProtocolError, httpx.ReadError) as error:
                # The connection was cut: the answer is lost, not what was asked for.
                if repeatable and tries_left:
                    continue
                reason = quoted(str(error)) or type(error).__name__
                raise Unreachable(f"{self.url} hung up without an answer: {reason}") from error
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                # An id that is none makes a path that is none.
                raise Unreachable(_unreached(self.url, error)) from error
            if answer.status == 429 and tries_left:
                _wait(answer)
                continue
            if answer.status == 409 and tries_left and (answer.entity() or {}).get("code") == _UNDER_WAY:
                time.sleep(_PAUSE)
                continue
            break
        if answer.succeeded or (may_redirect and answer.leads_to):
            return answer
        raise _refusal(self.url, answer, self._source)


def _wait(answer: Answer) -> None:
    told = answer.headers.get("Retry-After", "")
    seconds = min(float(told), _LONGEST_WAIT) if told.isascii() and told.isdigit() else 5.0
    click.echo(f"headgate: over the request limit; going on in {math.ceil(seconds)} s", err=True)
    time.sleep(seconds)


def _unreached(url: str, error: Exception) -> str:
    reason = quoted(str(error)) or type(error).__name__
    if "SSL: WRONG_VERSION_NUMBER" in reason:
        return f"cannot reach {url}: what answers there does not speak TLS; is it http://?"
    return f"cannot reach {url}: {reason}. Is this its address, and is it running?"


def _refusal(url: str, answer: Answer, source: str) -> Failed:
    problem = answer.entity() or {}
    if "detail" not in problem:
        return Unreachable(f"{url} answered {answer.status} and is no Headgate server, or something stands before it")
    detail, code = str(problem["detail"]), str(problem.get("code", ""))
    if answer.status == 401 or code in _CREDENTIAL_CODES:
        return NotAuthenticated(quoted(detail), f"{url} was asked with {source}" if source else "")
    return ServerError(answer.status, code, detail, entities(problem, "errors"))


def _line_of(error: Entity) -> str:
    location = error.get("loc")
    where = ".".join(str(part) for part in location[1:]) if isinstance(location, list) else ""
    return f"{where}: {error.get('message')}" if where else str(error.get("message"))


def text(entity: Entity, name: str) -> str:
    """The field as text. Raises Failed: the server's answer is none of ours."""
    value = entity.get(name)
    if not isinstance(value, str):
        raise Failed(f"the server's answer has no {name}")
    return value


def optional(entity: Entity, name: str) -> str:
    """The field as text; empty where there is none."""
    value = entity.get(name)
    return "" if value is None else str(value)


def number(entity: Entity, name: str) -> int:
    value = entity.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Failed(f"the server's answer has no {name}")
    return value


def entities(entity: Entity, name: str) -> list[Entity]:
    """The entries of a list; none where there is no list."""
    value = entity.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
