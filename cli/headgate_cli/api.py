"""The public API over HTTP."""

from __future__ import annotations

import hmac
import json
import math
import re
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import urlsplit

import click

from headgate_cli import VERSION
from headgate_cli.errors import Failed, NotAuthenticated, Unreachable
from headgate_cli.http import Http, Unanswered
from headgate_cli.responses import MOST_LINKED_BYTES, HttpAnswer
from headgate_cli.shaped import PlainAnswer, listed, shaped
from headgate_cli.untrusted import harmless, one_line, quoted

if TYPE_CHECKING:
    from headgate_cli.login.credentials import Credential

Entity = Mapping[str, object]
Parameter = str | int | None
T = TypeVar("T")

# API Gateway answers within 30 s.
_SECONDS: Final = 35.0
PAGE: Final = 100
# Bounds for a list that repeats itself or never ends; no organization holds as much.
_MOST_PAGES: Final = 1_000
_MOST_LIST_BYTES: Final = 64 * 1_048_576
_LONGEST_CURSOR: Final = 4_096
_RETRIES: Final = 3
_LONGEST_WAIT: Final = 120
_PRECONDITION_FAILED: Final = 412
_RATE_LIMITED: Final = "rate_limited"
# The connection of a create was cut, and its first try is still at work.
_UNDER_WAY: Final = "idempotency_key_in_use"
_PAUSE: Final = 1.0
# If a refusal for too many requests does not say how long to wait.
_PAUSE_IF_LIMITED: Final = 5.0
_ERRNO: Final = re.compile(r"^\[Errno -?\d+\] ")
INSTALL_ANOTHER: Final = (
    "whoever runs the server adds one with `make collector VERSION=X.Y.Z`, on AWS with the parameter CollectorVersions"
)
# What to do about a problem, by its code: the API does not know the commands. What is in braces is in the request.
_WAYS_OUT: Final = {
    "configuration_not_found": "see `headgate config list`",
    "configuration_archived": "restore it with `headgate config restore {configuration}`",
    "configuration_published": "`headgate config archive {configuration}`",
    "differs_from_running": "`headgate fleet adopt` makes a draft of what a host runs, `headgate rollout start` takes "
    "`--force`",
    "version_not_found": "`headgate config versions {configuration}` lists them",
    "version_not_published": "publish it with `headgate config publish {configuration} --version {n}`",
    "collector_version_not_installed": INSTALL_ANOTHER,
    "lint_not_possible": "see `headgate collector list`",
    "reference_not_possible": "see `headgate collector list`",
    "component_not_found": "`headgate component list` shows them",
    "no_such_ottl": "see `headgate ottl reference`",
    "upgrade_check_not_possible": "see `headgate collector list`",
    "publish_requirements": "`headgate validate --policies FILE` shows them with the way out",
    "publish_requirements_of_tests": "`headgate test suite {configuration}@{n}` runs the tests as they are stored",
    "policies_not_possible": "see `headgate collector list`",
    "nothing_delivered": "switch the gate off with `--gate delivery=off`",
    "nothing_assigned": "see `headgate deployment assign --help`",
    "fleet_not_found": "see `headgate fleet list`",
    "deployment_not_found": "see `headgate deployment list {fleet}`",
    "capture_not_found": "`headgate capture list {fleet}` shows them",
    "no_tests": "write one beside the file and run `headgate config push FILE`; it makes a draft if need be",
    "run_not_found": "check the id; runs are deleted after 30 days",
    "run_not_traced": "start one with `headgate test run --trace`",
    "output_not_ready": "wait with `headgate test show RUN --wait`",
    "unauthenticated": "sign in with `headgate login`, or use another token",
    "write_access_required": "use a token with write access, or sign in with `headgate login`",
    "admin_required": "ask an Admin of the organization",
    "session_required": "sign in with `headgate login`; --token and SERVICE_API_TOKEN come first, so leave them out",
    "organization_header": "sign in again with `headgate login`",
    "not_an_active_member": "ask an Admin to invite you, or sign in to another organization with `headgate login`",
}
# What can be missing of the tests that publishing requires.
_OF_TESTS: Final = (
    *("no_tests", "tests_not_run", "text_changed", "tests_changed"),
    *("other_collector", "other_feature_gates", "test_not_passed"),
)
_IN_PATH: Final = {"configuration": r"/(cfg_[^/]+)", "n": r"/versions/(\d+)", "fleet": r"/(flt_[^/]+)"}
_IN_BODY: Final = {"configuration": "configuration_id", "n": "version_number"}
# What a way out says if the request has no such id.
_UNNAMED: Final = {"configuration": "CONFIGURATION", "n": "N", "fleet": "FLEET"}
_CREDENTIAL_CODES: Final = (
    "write_access_required",
    "admin_required",
    "session_required",
    "organization_header",
    "not_an_active_member",
)


class ServerError(Failed):
    """The server refused the request, or could not serve it. `code` is the problem's stable code (RFC 9457)."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        errors: Sequence[Entity],
        way_out: str = "",
        retry_after: float = 0.0,
        request_id: str = "",
    ) -> None:
        """`retry_after` is how many seconds the server asks to wait; 0 if it does not say."""
        places = [_line_of(error) for error in errors if error.get("message") != detail]
        # A single error often repeats the detail behind its place in the request: print it once.
        repeats_detail = len(errors) == 1 and detail.endswith(str(errors[0].get("message")))
        lines = places if repeats_detail and places else [detail, *places]
        super().__init__("\n  ".join(map(quoted, lines)) + way_out)
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = errors
        self.retry_after = retry_after
        self.request_id = request_id

    @classmethod
    def of_part(cls, code: str, detail: str) -> ServerError:
        """The problem of a part of an answer, with its way out."""
        return cls(422, code, detail, [], _way_out(code, _UNNAMED))

    @property
    def is_stale(self) -> bool:
        """True if the request was refused because the state that `if_match` names has changed."""
        return self.status == _PRECONDITION_FAILED

    @property
    def places(self) -> list[Mapping[str, object]]:
        return [
            {
                "place": _place_of(error),
                **{name: error[name] for name in ("message", "code", "line") if error.get(name)},
            }
            for error in self.errors
        ]


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request to the API. Its path may have a query, which stays if there are no parameters."""

    method: str
    path: str
    body: Mapping[str, object] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str | int] = field(default_factory=dict)
    may_redirect: bool = False


class Api(ABC):
    """The public API, of the server or the machine that `url` names. Each kind of it says how it answers a request.

    `batches` says whether it may take many texts in one request, `is_local` whether it forgets what it did. `requests`
    counts those that a server got.
    """

    batches: bool = False
    is_local: bool = False
    requests: int = 0
    _key: bytes = b""

    def __init__(self, url: str) -> None:
        self.url = url

    @abstractmethod
    def _answer(self, request: ApiRequest) -> HttpAnswer:
        """Raises ServerError, NotAuthenticated, Unreachable."""

    def close(self) -> None:  # noqa: B027  most servers have nothing to close
        """End what was started for it."""

    def seal(self, text: str) -> str:
        """Seal the text so that only a holder of the same credential can repeat it; empty without a credential."""
        return hmac.digest(self._key, text.encode(), "sha256").hex() if self._key else ""

    def get(self, shape: type[T], path: str, **parameters: Parameter) -> T:
        """The answer, of the type `shape`: a field of it is checked when it is read.

        Parameters that are None or empty are left out, here and below.
        """
        return shaped(shape, self._entity(self._get(path, parameters)))

    def get_or_linked(self, shape: type[T], path: str, **parameters: Parameter) -> T:
        """The same. The server redirects to storage for an answer that is too large."""
        return shaped(shape, self._entity(self._sent_or_linked(path, parameters)))

    def text(self, path: str, **parameters: Parameter) -> str:
        """A plain text answer. The server redirects to storage for one that is too large for an answer."""
        return self._sent_or_linked(path, parameters).content.decode(errors="replace")

    def documents(self, path: str) -> list[object]:
        """The JSON documents of a plain text answer, one a line."""
        try:
            # `splitlines` ends a line also at characters that a JSON text may contain.
            return [json.loads(line) for line in self.text(path).split("\n") if line]
        except (ValueError, RecursionError) as error:
            raise Unreachable(f"{self.url} sent a line that is not JSON: is it a Headgate server?") from error

    def items(self, shape: type[T], path: str, **parameters: Parameter) -> Iterator[T]:
        """All entries of a list, page by page. Raises Unreachable for a list that does not end."""
        cursor, seen, size = "", set[str](), 0
        for _ in range(_MOST_PAGES):
            answer = self._get(path, {**parameters, "limit": PAGE, "cursor": cursor})
            page = self._entity(answer)
            yield from listed(shape, page)
            cursor, size = str(page.get("next_cursor") or ""), size + len(answer.content)
            if not cursor:
                return
            if cursor in seen or len(cursor) > _LONGEST_CURSOR or size > _MOST_LIST_BYTES:
                break
            seen.add(cursor)
        raise Unreachable(f"{self.url} sent a list that does not end: is it a Headgate server?")

    def create(self, shape: type[T], path: str, body: Mapping[str, object] | None = None, *, if_match: str = "") -> T:
        """A POST that is carried out once, even if a cut connection makes it repeat."""
        return self.create_with_etag(shape, path, body, if_match=if_match)[0]

    def create_with_etag(
        self, shape: type[T], path: str, body: Mapping[str, object] | None, *, if_match: str = ""
    ) -> tuple[T, str]:
        """The same, with the ETag of what was created."""
        once = {"Idempotency-Key": str(uuid.uuid4())}
        return self._with_etag(shape, ApiRequest("POST", path, body, once | _if_match(if_match)))

    def post(self, shape: type[T], path: str, body: Mapping[str, object] | None = None, *, if_match: str = "") -> T:
        """A POST that changes nothing twice; the path may have a query."""
        return self._with_etag(shape, ApiRequest("POST", path, body, _if_match(if_match)))[0]

    def put(self, shape: type[T], path: str, body: Mapping[str, object], *, if_match: str = "") -> T:
        return self._with_etag(shape, ApiRequest("PUT", path, body, _if_match(if_match)))[0]

    def patch(self, shape: type[T], path: str, body: Mapping[str, object]) -> T:
        return self._with_etag(shape, ApiRequest("PATCH", path, body))[0]

    def delete(self, path: str, *, if_match: str = "") -> None:
        self._answer(ApiRequest("DELETE", path, headers=_if_match(if_match)))

    def patch_with_etag(self, shape: type[T], path: str, body: Mapping[str, object], *, if_match: str) -> tuple[T, str]:
        """The same, with the ETag of what was changed."""
        return self._with_etag(shape, ApiRequest("PATCH", path, body, _if_match(if_match)))

    def get_with_etag(self, shape: type[T], path: str) -> tuple[T, str]:
        """An entity, and the ETag to give back as `if_match`."""
        return self._with_etag(shape, ApiRequest("GET", path))

    def _with_etag(self, shape: type[T], request: ApiRequest) -> tuple[T, str]:
        answer = self._answer(request)
        return shaped(shape, self._entity(answer)), answer.headers.get("ETag", "")

    def _entity(self, answer: HttpAnswer) -> Entity:
        entity = answer.entity()
        if entity is None:
            raise Unreachable(f"{self.url} does not answer like a Headgate server: check the address")
        return entity

    def _get(self, path: str, parameters: Mapping[str, Parameter], *, may_redirect: bool = False) -> HttpAnswer:
        sent = {name: value for name, value in parameters.items() if value is not None and value != ""}
        return self._answer(ApiRequest("GET", path, parameters=sent, may_redirect=may_redirect))

    def _sent_or_linked(self, path: str, parameters: Mapping[str, Parameter]) -> HttpAnswer:
        answer = self._get(path, parameters, may_redirect=True)
        return self._linked(answer.leads_to) if answer.leads_to else answer

    def _linked(self, url: str) -> HttpAnswer:
        """Fetch a signed link that the server gave, without the credential: that is for the server only."""
        if self.url.startswith("https://") and not url.startswith("https://"):
            raise Unreachable(f"{self.url} redirects to an address without https://, which is not followed")
        try:
            address = urlsplit(url)
            storage = Http(f"{address.scheme}://{address.netloc}", seconds=_SECONDS)
            answer = storage.fetch("GET", f"{address.path}?{address.query}", most=MOST_LINKED_BYTES)
            storage.close()
        except (Unanswered, ValueError) as error:
            raise Unreachable(
                f"cannot fetch the output from the storage of {self.url}: {quoted(str(error))}"
            ) from error
        if not answer.succeeded:
            raise Failed(f"cannot fetch the output from the storage of {self.url}: status {answer.status}; try again")
        return answer


class HttpApi(Api):
    """The public API of one server, called with one credential."""

    batches = True

    def __init__(self, credential: Credential, *, waits: bool = True, base: str = "/api/v1/public") -> None:
        """`waits`: a refusal for too many requests is not raised at once, but after further tries."""
        super().__init__(credential.url)
        self._source = credential.source
        self._key = credential.value.encode()
        self._waits = waits
        headers = {"User-Agent": f"headgate/{VERSION}", **credential.headers}
        try:
            self._http = Http(f"{credential.url}{base}", headers=headers, seconds=_SECONDS)
        except ValueError as error:
            raise click.UsageError(f"{credential.url!r} is not a server address: {error}") from error

    def _answer(self, request: ApiRequest) -> HttpAnswer:
        repeatable = request.method in ("GET", "PUT") or "Idempotency-Key" in request.headers
        for tries_left in range(_RETRIES, -1, -1):
            self.requests += 1
            try:
                answer = self._http.fetch(
                    request.method,
                    request.path,
                    json_body=request.body,
                    headers=request.headers,
                    parameters=request.parameters,
                )
            except Unanswered as error:
                if error.cut and repeatable and tries_left:
                    continue
                if error.cut:
                    reason = quoted(str(error)) or "it was cut"
                    raise Unreachable(f"{self.url} closed the connection without an answer: {reason}") from error
                raise Unreachable(_unreached(self.url, error)) from error
            if answer.status == 429 and tries_left and self._waits:
                _wait(answer)
                continue
            if answer.status == 409 and tries_left and _code(answer) == _UNDER_WAY:
                time.sleep(_PAUSE)
                continue
            break
        if answer.succeeded or (request.may_redirect and answer.leads_to):
            return answer
        raise _refusal(self.url, answer, self._source, _named(request.path, request.body or {}))


def _if_match(etag: str) -> dict[str, str]:
    return {"If-Match": etag} if etag else {}


def _retry_after(answer: HttpAnswer) -> float | None:
    """The seconds that the answer asks to wait, at most 120; None if it does not say."""
    seconds = answer.retry_after
    return None if seconds is None else min(seconds, _LONGEST_WAIT)


def _wait(answer: HttpAnswer) -> None:
    asked = _retry_after(answer)
    seconds = _PAUSE_IF_LIMITED if asked is None else asked
    # Not every 429 is about the requests of a minute: too many checks or runs under way are others.
    limited = _code(answer) in ("", _RATE_LIMITED)
    reason = "You have reached the request limit" if limited else quoted(_field(answer, "detail"))
    click.echo(harmless(f"headgate: {reason}. The command continues in {math.ceil(seconds)} s"), err=True)
    time.sleep(seconds)


def _code(answer: HttpAnswer) -> str:
    """The code of a problem; empty if the answer is none or has none."""
    return _field(answer, "code")


def _field(answer: HttpAnswer, name: str) -> str:
    return str((answer.entity() or {}).get(name) or "")


def _unreached(url: str, error: Exception) -> str:
    reason = _ERRNO.sub("", quoted(str(error))) or type(error).__name__
    if "SSL: WRONG_VERSION_NUMBER" in reason:
        return f"cannot reach {url}: the server does not speak TLS; if it has none, write http://"
    reason = "connection refused" if reason == "Connection refused" else reason
    return f"cannot reach {url}: {reason}. Check the address and whether the server runs"


def _refusal(url: str, answer: HttpAnswer, source: str, named: Mapping[str, str]) -> Failed:
    problem = answer.entity() or {}
    if "detail" not in problem:
        return Unreachable(
            f"{url} answered {answer.status}, not like a Headgate server: check the address, and any proxy before it"
        )
    detail, code = str(problem["detail"]), str(problem.get("code", ""))
    request_id = _field(answer, "request_id")
    if answer.status == 401 or code in _CREDENTIAL_CODES:
        return NotAuthenticated(
            quoted(detail) + _way_out(code, named),
            f"server: {url}; credential: {source}" if source else "",
            code=code or "unauthenticated",
            request_id=request_id,
        )
    errors = listed(PlainAnswer, problem, "errors")
    of_tests = code == "publish_requirements" and all(error.get("code") in _OF_TESTS for error in errors)
    way_out = _way_out(f"{code}_of_tests" if of_tests else code, named)
    return ServerError(answer.status, code, detail, errors, way_out, _retry_after(answer) or 0.0, request_id)


def _named(path: str, body: Mapping[str, object]) -> Mapping[str, str]:
    """The ids and the number in a request, for the commands of the ways out."""
    named = dict(_UNNAMED)
    for placeholder, pattern in _IN_PATH.items():
        match = re.search(pattern, path)
        name = _IN_BODY.get(placeholder, "")
        # A comparison has two sides: what they do not agree on stays unnamed.
        sides = {side.get(name) for side in (body, body.get("left"), body.get("right")) if isinstance(side, Mapping)}
        known = [value for value in sides if isinstance(value, str | int)]
        field = known[0] if len(known) == 1 else None
        if match or field:
            named[placeholder] = one_line(match[1] if match else str(field))
    return named


def _way_out(code: str, named: Mapping[str, str]) -> str:
    return f": {_WAYS_OUT[code].format(**named)}" if code in _WAYS_OUT else ""


def _place_of(error: Entity) -> str:
    location = error.get("loc")
    return ".".join(str(part) for part in location[1:]) if isinstance(location, list) else ""


def _line_of(error: Entity) -> str:
    where = _place_of(error)
    message = str(error.get("message"))
    if error.get("code"):
        # A finding, as `headgate validate` prints it.
        message = f"{message} [{error['code']}]"
        where = f"line {error['line']}" if error.get("line") else where
    return f"{where}: {message}" if where else message


def message_of(error: Entity) -> str:
    """The message of one of a problem's errors."""
    return str(error.get("message") or "")
