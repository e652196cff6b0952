"""One credential's requests, with their times. It waits if its limit is reached, or a part of the server is busy."""

from __future__ import annotations

import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final

from headgate_cli import VERSION
from headgate_cli.accept.errors import CheckSkipped
from headgate_cli.accept.redaction import SecretRedaction
from headgate_cli.errors import Unreachable
from headgate_cli.http import Http, Unanswered
from headgate_cli.responses import HttpAnswer

PUBLIC: Final = "/api/v1/public"
# What a run makes and has to take away.
MADE: Final = ("/fleets", "/configurations")
# API Gateway answers within 30 s.
_SECONDS: Final = 35.0
_MOST_WAIT: Final = 61
# How often a read is sent while a part of the server is busy. If it is still busy then, the check fails.
_MOST_ASKED: Final = 3
_ID: Final = re.compile(r"/[a-z]{3}_[0-9a-z]{26}(?=/|$)")
_NUMBER: Final = re.compile(r"/versions/\d+")


class Record:
    """Seconds of each request that succeeded, by method and path without ids, how many were answered in all, and the
    paths of what was made. `redaction` gets to know the secrets in the answers.
    """

    def __init__(self, redaction: SecretRedaction) -> None:
        self._redaction = redaction
        self._lock = threading.Lock()
        self.requests = 0
        self.made: list[str] = []
        self.by_endpoint: dict[str, list[float]] = defaultdict(list)

    def take(self, method: str, path: str, answer: HttpAnswer, seconds: float) -> None:
        self._redaction.learn(answer)
        route = _NUMBER.sub("/versions/{n}", _ID.sub("/{id}", path.partition("?")[0]))
        with self._lock:
            self.requests += 1
            if method == "POST" and path in MADE and answer.status == 201:
                place = f"{path}/{(answer.entity() or {}).get('id')}"
                self.made += [place] if _ID.search(place) else []
            if answer.succeeded:
                self.by_endpoint[f"{method} {route}"].append(seconds)


class Requester:
    """Sends requests to the paths of the public API. `until` gives the seconds that are left of the run."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        record: Record,
        waiting: Callable[[float, str], None],
        left: Callable[[], float],
    ) -> None:
        self._http = Http(url, headers={"User-Agent": f"headgate-accept/{VERSION}", **headers}, seconds=_SECONDS)
        self._record, self._waiting, self._left = record, waiting, left

    def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        waits: bool = True,
        base: str = PUBLIC,
    ) -> HttpAnswer:
        """The answer, whatever its status; one for too many requests only if it does not wait.

        A read whose answer is 503 with `Retry-After` is sent up to three times.

        Raises Unreachable, and CheckSkipped if the run's time does not suffice to wait.
        """
        asked = 0
        while True:
            started = time.monotonic()
            try:
                answer = self._http.fetch(method, f"{base}{path}", json_body=body, headers=headers)
            except Unanswered as error:
                raise Unreachable(f"{method} {path} got no answer: {error or type(error).__name__}") from error
            limited = answer.status == 429 and (answer.entity() or {}).get("code") == "rate_limited"
            if not limited:
                asked += 1
                self._record.take(method, path, answer, time.monotonic() - started)
            may_pass = answer.status == 503 and "Retry-After" in answer.headers
            busy = may_pass and method == "GET" and asked < _MOST_ASKED
            if not (limited or busy) or not waits:
                return answer
            asked_for = answer.retry_after
            seconds = 5 if asked_for is None else int(min(asked_for, _MOST_WAIT))
            if seconds > self._left():
                raise CheckSkipped("the time of the run was over while it waited, as the server asks for")
            self._waiting(seconds, "the request limit" if limited else "a part of the server that is busy")
            # A server that asks to wait for 0 s is not asked without end.
            time.sleep(max(seconds, 1))

    def get(self, path: str) -> HttpAnswer:
        return self.send("GET", path)

    def post(self, path: str, body: Mapping[str, object] | None = None) -> HttpAnswer:
        return self.send("POST", path, body)

    def patch(self, path: str, body: Mapping[str, object]) -> HttpAnswer:
        return self.send("PATCH", path, body)

    def put(self, path: str, body: Mapping[str, object]) -> HttpAnswer:
        return self.send("PUT", path, body)
