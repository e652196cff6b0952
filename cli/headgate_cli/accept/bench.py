"""Credentials, own names and remaining time that the checks of one run share."""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, TypeVar

from headgate_cli.accept import expect
from headgate_cli.accept.caller import Record, Requester
from headgate_cli.accept.errors import CheckSkipped
from headgate_cli.accept.redaction import SecretRedaction
from headgate_cli.api import Entity

T = TypeVar("T")

PREFIX: Final = "headgate-accept-"
# How the names of any run begin; one that only begins with the prefix is a person's.
OF_ANY_RUN: Final = re.compile(rf"{PREFIX}[0-9a-f]{{8}}-")
# Cleaning up comes after, and has to wait for the request limit once at most.
SECONDS: Final = 480.0
EDGE: Final = """\
receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:4318
processors:
  transform:
    log_statements:
      - set(log.attributes["team"], "edge")
exporters:
  debug: {}
service:
  pipelines:
    logs:
      receivers: [otlp]
      processors: [transform]
      exporters: [debug]
"""


@dataclass(frozen=True, slots=True)
class Given:
    """Credentials and choices of the operator. `admin` are the headers of a session's requests."""

    url: str
    token: str
    read_token: str = ""
    admin: Mapping[str, str] = field(default_factory=dict)
    runs_host: bool = False


class Bench:
    """`say` gets a line about what the run waits for."""

    def __init__(self, inputs: Given, say: Callable[[str], None], *, seconds: float = SECONDS) -> None:
        self.given = inputs
        self.run_id = secrets.token_hex(4)
        session = inputs.admin.get("Authorization", "").removeprefix("Bearer ")
        # What any text that is written goes through.
        self.redacted = SecretRedaction(value for value in (inputs.token, inputs.read_token, session) if value)
        self.record = Record(self.redacted)
        self.ends = time.monotonic() + seconds
        self._told = say
        # Several requests that wait together are told of once.
        self._told_lock, self._told_until = threading.Lock(), 0.0
        self.anonymous = self.caller({})
        self.write = self.caller({"Authorization": f"Bearer {inputs.token}"})
        self._read = self.caller({"Authorization": f"Bearer {inputs.read_token}"}) if inputs.read_token else None
        self._admin = self.caller(inputs.admin) if inputs.admin else None

    def caller(self, headers: Mapping[str, str]) -> Requester:
        return Requester(self.given.url, headers, self.record, self._waiting, self.left)

    def left(self) -> float:
        """The seconds that are left of the run."""
        return self.ends - time.monotonic()

    @property
    def read(self) -> Requester:
        """Raises CheckSkipped without a read-only token."""
        if self._read is None:
            raise CheckSkipped("it needs a read-only token: HEADGATE_READ_TOKEN")
        return self._read

    @property
    def admin(self) -> Requester:
        """Raises CheckSkipped without the session of an Admin."""
        if self._admin is None:
            raise CheckSkipped("it needs the sign-in of an Admin: `headgate login`, then --admin")
        return self._admin

    def name(self, what: str) -> str:
        """A name that says that this run made it."""
        return f"{PREFIX}{self.run_id}-{what}"

    def configuration(self, what: str, yaml: str = EDGE) -> Entity:
        return expect.entity(self.write.post("/configurations", {"name": self.name(what), "yaml": yaml}), 201)

    def published(self, what: str, yaml: str = EDGE) -> str:
        """The id of a new configuration whose version 1 is published."""
        configuration_id = expect.text(self.configuration(what, yaml), "id")
        expect.entity(self.write.post(f"/configurations/{configuration_id}/versions/1/publish"))
        return configuration_id

    def fleet(self, what: str, kind: str = "server-supervisor") -> Entity:
        return expect.entity(self.write.post("/fleets", {"label": self.name(what), "type": kind}), 201)

    def at_once(self, acts: list[Callable[[], T]]) -> list[T]:
        """The results of all of them, begun together in threads of their own."""
        with ThreadPoolExecutor(len(acts)) as pool:
            return [begun.result() for begun in [pool.submit(act) for act in acts]]

    def until(self, look: Callable[[], T | None], seconds: float, otherwise: Callable[[], str]) -> T:
        """Wait for what `look` gives, asked every second at first. Raises Broken after `seconds`."""
        ends, asked = time.monotonic() + min(seconds, max(self.left(), 1)), 0
        while True:
            result = look()
            if result is not None:
                return result
            expect.that(time.monotonic() < ends, otherwise())
            asked += 1
            time.sleep(1 if asked < 10 else 3)

    def _waiting(self, seconds: float, reason: str) -> None:
        now = time.monotonic()
        with self._told_lock:
            is_repeated, self._told_until = now < self._told_until, max(self._told_until, now + seconds)
        if not is_repeated:
            self._told(f"waits {seconds:.0f} s for {reason}")
