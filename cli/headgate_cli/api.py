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
from headgate_cli.output import printable

if TYPE_CHECKING:
    import httpx

    from headgate_cli.login.credentials import Credential

Entity = Mapping[str, object]

# API Gateway answers within 30 s.
_SECONDS: Final = 35.0
_PAGE: Final = 100
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
        # It may quote what somebody else wrote.
        super().__init__(printable("\n  ".join(lines)))
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
        return _entity(self._send("GET", path, parameters=parameters))

    def text(self, path: str) -> str:
        """A plain text answer, as it is; one that is too large for an answer, from where the server sends us."""
        response = self._send("GET", path, may_redirect=True)
        if response.has_redirect_location:
            response = self._linked(response.headers["Location"])
        return response.content.decode(errors="replace")

    def items(self, path: str) -> Iterator[Entity]:
        """All entries of a list, page by page."""
        cursor = ""
        while True:
            page = self.get(path, limit=_PAGE, **({"cursor": cursor} if cursor else {}))
            yield from entities(page, "items")
            cursor = optional(page, "next_cursor")
            if not cursor:
                return

    def create(self, path: str, body: Mapping[str, object]) -> Entity:
        """A POST that makes something: repeated after a cut connection, it still makes it once."""
        return _entity(self._send("POST", path, body, {"Idempotency-Key": str(uuid.uuid4())}))

    def post(self, path: str, body: Mapping[str, object] | None = None) -> Entity:
        return _entity(self._send("POST", path, body))

    def put(self, path: str, body: Mapping[str, object]) -> Entity:
        return _entity(self._send("PUT", path, body))

    def patch(self, path: str, body: Mapping[str, object], *, if_match: str = "", **parameters: str) -> Entity:
        headers = {"If-Match": if_match} if if_match else {}
        return _entity(self._send("PATCH", path, body, headers, parameters))

    def get_with_etag(self, path: str) -> tuple[Entity, str]:
        """An entity, and the ETag to give back as `if_match`."""
        response = self._send("GET", path)
        return _entity(response), response.headers.get("ETag", "")

    def _linked(self, url: str) -> httpx.Response:
        """What a link of the server's leads to. The link is the key: the credential is for the server alone."""
        import httpx

        try:
            response = httpx.get(url, timeout=_SECONDS)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unreachable(f"what {self.url} keeps elsewhere cannot be fetched: {error}") from error
        if not response.is_success:
            raise Failed(f"what {self.url} keeps elsewhere cannot be fetched: status {response.status_code}")
        return response

    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        parameters: Mapping[str, str | int] | None = None,
        *,
        may_redirect: bool = False,
    ) -> httpx.Response:
        """Raises ServerError, NotAuthenticated, Unreachable."""
        import httpx

        repeatable = method in ("GET", "PUT") or "Idempotency-Key" in (headers or {})
        for tries_left in range(_WAITS, -1, -1):
            try:
                response = self._http.request(
                    method, path, json=body, headers=dict(headers or {}), params=dict(parameters or {})
                )
            except (httpx.RemoteProtocolError, httpx.ReadError) as error:
                # The connection was cut: the answer is lost, not what was asked for.
                if repeatable and tries_left:
                    continue
                raise Unreachable(f"{self.url} hung up without an answer: {error or type(error).__name__}") from error
            except httpx.HTTPError as error:
                raise Unreachable(_unreached(self.url, error)) from error
            if response.status_code == 429 and tries_left:
                _wait(response)
                continue
            if response.status_code == 409 and tries_left and _problem(response).get("code") == _UNDER_WAY:
                time.sleep(_PAUSE)
                continue
            break
        if response.is_success or (may_redirect and response.has_redirect_location):
            return response
        raise _refusal(self.url, response, self._source)


def _wait(response: httpx.Response) -> None:
    told = response.headers.get("Retry-After", "")
    seconds = min(float(told), _LONGEST_WAIT) if told.isdigit() else 5.0
    click.echo(f"headgate: over the request limit; going on in {math.ceil(seconds)} s", err=True)
    time.sleep(seconds)


def _problem(response: httpx.Response) -> Entity:
    """The answer as RFC 9457 has it; empty where it is none."""
    try:
        content = response.json()
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _unreached(url: str, error: Exception) -> str:
    reason = str(error) or type(error).__name__
    if "SSL: WRONG_VERSION_NUMBER" in reason:
        return f"cannot reach {url}: what answers there does not speak TLS; is it http://?"
    return f"cannot reach {url}: {reason}. Is this its address, and is it running?"


def _refusal(url: str, response: httpx.Response, source: str) -> Failed:
    problem = _problem(response)
    if "detail" not in problem:
        return Unreachable(
            f"{url} answered {response.status_code} and is no Headgate server, or something stands before it"
        )
    detail, code = str(problem["detail"]), str(problem.get("code", ""))
    if response.status_code == 401 or code in _CREDENTIAL_CODES:
        return NotAuthenticated(printable(detail), f"{url} was asked with {source}" if source else "")
    return ServerError(response.status_code, code, detail, entities(problem, "errors"))


def _line_of(error: Entity) -> str:
    location = error.get("loc")
    where = ".".join(str(part) for part in location[1:]) if isinstance(location, list) else ""
    return f"{where}: {error['message']}" if where else str(error["message"])


def _entity(response: httpx.Response) -> Entity:
    try:
        content = response.json()
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise Unreachable(f"{response.url} does not answer as a Headgate server")
    return content


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
