"""A world in which every row's request can be made again and again, with AWS and the log under watch."""

import io
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any, Final, cast

import pytest
from httpx2 import Response

from headgate.fleets import tokens
from headgate.foundation import clock
from headgate.foundation.log import logger
from headgate.identity import logins, sessions, signing
from headgate.identity import service as identity
from headgate.identity.model import Session
from headgate.installs.links import Link, Platform
from headgate.opamp import placement, texts
from headgate.opamp import service as opamp
from headgate.overview import fleets as overview_fleets
from headgate_local import template
from tests.support import released
from tests.support.endpoints import A_TEST_OF_RULES, LARGE
from tests.support.faults import every_message, every_page
from tests.support.faults.aws_faults import Aws, Fault, watched
from tests.support.faults.every_message import Message
from tests.support.faults.rows import Row
from tests.support.faults.state import Held, State, changes
from tests.support.world import A_TEST, PUBLIC, World, bearer, founded, service
from web.visitor import SESSION_COOKIE, VISIT_COOKIE

# Beside the change: records, counters of uses and attempts, keys that may be used again, and texts and their verdicts
# by their hash.
SIDE: Final = ("audit#", "rate#", "attempts#", "idempotency#", "verdicts#", " versions/*")
_VISIT: Final = "v" * 43
_LINK_SECONDS: Final = 86_400


@dataclass(frozen=True)
class Browser:
    """An Admin's, signed in."""

    session: Session
    value: str

    def headers(self, row: Row) -> dict[str, str]:
        return {"Cookie": f"{VISIT_COOKIE}={_VISIT}" if row.stranger else f"{SESSION_COOKIE}={self.value}"}

    def csrf(self, row: Row) -> str:
        of = _VISIT if row.stranger else self.session.id
        return signing.sign("csrf", of.encode()).hex()


class Time:
    """The time of day for the whole process. It is put back as the state is: hosts' reports do not become stale."""

    def __init__(self) -> None:
        self._held = datetime.now(UTC)
        self._since = monotonic()

    def now(self) -> datetime:
        return self._held + timedelta(seconds=monotonic() - self._since)

    def hold(self) -> None:
        """From now on, `put_back` goes back to this time."""
        self._held, self._since = self.now(), monotonic()

    def put_back(self) -> None:
        self._since = monotonic()


@dataclass
class Bench:
    """A world, AWS under watch, what they hold, and what is logged."""

    world: World
    browser: Browser
    messages: Mapping[str, Message]
    aws: Aws
    state: State
    held: Held
    log: io.StringIO
    expires: int
    time: Time
    body: object = None

    @property
    def secrets(self) -> list[str]:
        """Credentials that no answer and no log may show."""
        admin = self.world.admin["Authorization"].removeprefix("Bearer ")
        return [admin, self.world.ids["device_code"], self.browser.value, *every_page.PASSWORDS]

    def send(self, row: Row, fault: Fault | None = None) -> Response:
        self.aws.begin(fault)
        method, _, path = row.endpoint.partition(" ")
        ids = {"n": "1", "pipeline": "logs", "slug": "pii-redaction", "platform": "docker", "name": "collector-amd64"}
        ids["test_name"] = A_TEST
        ids |= self.world.ids | {"organization_id": self.world.organization_id}
        ids |= {name: self.world.ids.get(value, value) for name, value in row.ids.items()}
        url = path.format(**ids) + (f"?{self._link(ids).query()}" if row.query == "link" else row.query.format(**ids))
        headers, sent = self._said(row)
        response = self.world.http.request(method, url, headers=headers, follow_redirects=False, **sent)
        assert isinstance(response, Response)
        return response

    def _said(self, row: Row) -> tuple[dict[str, str], dict[str, Any]]:
        """The request's headers, and its body as an argument of the client's."""
        if row.message:
            message = self.messages[row.message]
            token = tokens.value_of(self.world.ids["fleet_id"], 1)
            headers = {"X-Deployment-Id": message.deployment_id, "Content-Type": "application/x-protobuf"}
            return {**bearer(token), **headers}, {"content": message.content}
        if row.page:
            assert self.body is None or isinstance(self.body, dict)
            fields = {"data": {**self.body, "csrf": self.browser.csrf(row)}} if self.body is not None else {}
            return self.browser.headers(row), fields
        sent: dict[str, Any] = {}
        if self.body is not None:
            sent = {"data": self.body} if row.form else {"json": self.body}
        return {**self.world.admin, **row.headers}, sent

    def _link(self, ids: Mapping[str, str]) -> Link:
        platform = cast("Platform", ids["platform"])
        return Link(platform, self.world.organization_id, ids["fleet_id"], ids["deployment_id"], self.expires, 1)

    def look(self, row: Row) -> str:
        """What an Admin reads of what the row's request changes; nothing where the row does not say where."""
        if not row.look:
            return ""
        return self.send(Row(f"GET {row.look}", 200)).text

    def reset(self, row: Row) -> None:
        """As it was, with the row's body made anew, and nothing of earlier requests in this process's memory."""
        self.aws.begin()
        self.body = row.body(self.world) if row.body else None
        self.aws.settle()
        self.time.put_back()
        self.state.put_back(self.held)
        forget()
        self.log.seek(0)
        self.log.truncate()

    def changed(self) -> set[str]:
        """What has become of the state, beside records and counters."""
        self.aws.settle()
        return {word for word in changes(self.held, self.state.take()) if not any(side in word for side in SIDE)}


def forget() -> None:
    """Nothing of earlier requests stays in this process's memory."""
    overview_fleets._newest.clear()
    overview_fleets._failed.clear()
    opamp._fleet_of.cache_clear()
    placement._selectors.clear()
    texts._known.cache_clear()
    texts._version_text.cache_clear()


@contextmanager
def made_ready(
    described: template.Template, folder: Path, calls: Callable[[], AbstractContextManager[Aws]] = watched
) -> Iterator[Bench]:
    """All that the rows ask for, in moto's tables of the template, with the calls to AWS under watch."""
    with service(described) as http, logged() as log, calls() as aws, pytest.MonkeyPatch.context() as patch:
        # The one login under way is redeemed again and again.
        patch.setattr(logins, "LIFETIME", timedelta(days=1))
        time = Time()
        patch.setattr(clock, "now", time.now)
        world = founded(http, "Acme")
        ids = world.ids
        large = world.call(world.admin, "POST", f"{PUBLIC}/configurations", 201, {"name": "Large", "yaml": LARGE})
        ids["large_id"] = large["id"]
        tests = f"{PUBLIC}/configurations/{ids['configuration_id']}/versions/2/tests"
        world.call(world.admin, "PUT", f"{tests}/large", 200, {**A_TEST_OF_RULES, "sample": LARGE})
        browser = Browser(*sessions.begin(_admin(world).user, "browser", clock.now()))
        device = logins.begin_device("192.0.2.1", clock.now())
        logins.approve_device(sessions.caller(_admin(world), world.organization_id), device.user_code, clock.now())
        ids["device_code"] = device.device_code
        every_page.prepare(world)
        messages = every_message.messages(world)
        released.release()
        state = State(described)
        expires = int(clock.now().timestamp()) + _LINK_SECONDS
        time.hold()
        yield Bench(world, browser, messages, aws, state, state.take(), log, expires, time)


def _admin(world: World) -> Session:
    session, _ = identity.authenticate(world.admin["Authorization"].removeprefix("Bearer "), clock.now())
    assert isinstance(session, Session)
    return session


@contextmanager
def logged() -> Iterator[io.StringIO]:
    """All that this process logs from WARNING on, as in Lambda: ours, boto3's, everybody's."""
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    handler.setLevel("WARNING")
    loggers = [logging.getLogger(), logging.getLogger("headgate")]
    for one in loggers:
        one.addHandler(handler)
    level = logger.log_level
    logger.setLevel("WARNING")
    yield log
    logger.setLevel(level)
    for one in loggers:
        one.removeHandler(handler)
