"""Every endpoint with AWS failing at each of its calls in turn, in every way.

First the request is made with nothing wrong, and its calls are counted. Then it is made again from the same state for
each call and each way to fail. A fault that passes must not be noticed; one that lasts ends in the answer that the
specification has for it, or was in something that the request does not depend on. Either nothing is saved then, or
what the request saves in all. The same request afterwards, in the same process, is answered as ever.

An endpoint without a row fails the first test.
"""

import io
import itertools
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from random import Random
from typing import Final

import pytest
from httpx2 import Response

from headgate import aws as headgate_aws
from headgate import clock
from headgate.deployments import install_releases
from headgate.deployments.install_links import Link
from headgate.deployments.install_releases import Artifact
from headgate.http import idempotency
from headgate.http.log import logger
from headgate.identity import logins, sessions
from headgate.identity import service as identity
from headgate.identity.model import Session
from headgate.settings import settings
from headgate_local import template
from tests.end_to_end.test_credentials_matrix import operations
from tests.trust.aws_faults import LASTING, NOT_DONE, PASSING, PLANTED, Aws, Fault, Kind, watched
from tests.trust.state import Held, State, changes
from tests.trust.world import APP, PUBLIC, RULES, YAML, World, founded, service

# Too large for an item of a table, and of random letters, so that compression does not change that.
LARGE: Final = f"{YAML}# {''.join(Random(1).choices('abcdefghijklmnopqrstuvwxyz0123456789', k=600_000))}\n"
# All ways take three times as long as these few, which stand for them: not sent, refused by AWS, and done unheard.
ALL: Final = "HEADGATE_TRUST_FAULTS" in os.environ
FEW_PASSING: Final[tuple[Kind, ...]] = ("throttled", "lost")
FEW_LASTING: Final[tuple[Kind, ...]] = ("timeout", "denied", "lost")
# Beside the change itself: records, counters of attempts, keys that may be used again, and texts by their hash.
_NUMBERS: Final = itertools.count()
SIDE: Final = ("audit#", "attempts#", "idempotency#", " versions/*")


@dataclass(frozen=True)
class Row:
    """A request that is right. `body` is made anew for each; `ids` are those of the world unless given here."""

    endpoint: str
    status: int
    body: Callable[[World], object] | None = None
    ids: dict[str, str] = field(default_factory=dict)
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    form: bool = False
    name: str = ""
    # Whether doing it again, after it was done and nobody heard of it, is refused as a repetition.
    repeated: tuple[int, ...] = ()
    # Whether it is done in several steps, of which the same request again does the rest.
    in_steps: bool = False

    def __str__(self) -> str:
        return f"{self.endpoint} {self.name}".strip()


CONFIGURATION: Final = f"{PUBLIC}/configurations/{{configuration_id}}"
VERSION: Final = f"{CONFIGURATION}/versions/{{n}}"
FLEET: Final = f"{PUBLIC}/fleets/{{fleet_id}}"
RUN: Final = {"sample": "a line", "signal_type": "logs", "target_pipeline": "logs", "duration_seconds": 1}
INSTALL: Final = "/api/v1/fleet-install/{platform}/{deployment_id}"
ONCE: Final = {"Idempotency-Key": "once"}


def always(body: object) -> Callable[[World], object]:
    return lambda _: body


ROWS: Final = [
    Row(f"GET {PUBLIC}/identity", 200),
    Row(f"GET {PUBLIC}/configurations", 200),
    Row(f"POST {PUBLIC}/configurations", 201, always({"name": "New", "yaml": YAML})),
    Row(f"POST {PUBLIC}/configurations", 201, always({"name": "New", "yaml": LARGE}), name="large"),
    Row(f"POST {PUBLIC}/configurations", 201, always({"name": "New", "yaml": YAML}), headers=ONCE, name="with a key"),
    Row(f"GET {CONFIGURATION}", 200),
    Row(f"GET {CONFIGURATION}", 200, ids={"configuration_id": "large_id"}, name="large"),
    Row(f"PATCH {CONFIGURATION}", 200, always({"name": "Renamed", "description": None})),
    Row(f"GET {CONFIGURATION}/versions", 200),
    Row(f"POST {CONFIGURATION}/versions", 201, always({"yaml": "a: 1"})),
    Row(f"POST {CONFIGURATION}/versions", 201, always({"yaml": "a: 1"}), headers=ONCE, name="with a key"),
    Row(f"GET {VERSION}", 200),
    Row(f"PATCH {VERSION}", 200, always({"yaml": "a: 1"}), ids={"n": "2"}),
    Row(f"PATCH {VERSION}", 200, always({"yaml": YAML + "# b"}), {"n": "2"}, "?validate=true", name="validated"),
    Row(f"POST {VERSION}/publish", 200, ids={"n": "2"}),
    Row(f"GET {VERSION}/validation-pipelines", 200),
    Row(f"PUT {VERSION}/validation-pipelines/{{pipeline}}", 200, always({"signal_type": "logs", "rules": RULES})),
    Row(f"POST {PUBLIC}/validate", 200, always({"yaml": YAML})),
    Row(f"POST {PUBLIC}/ottl/lint", 200, always({"yaml": YAML})),
    Row(f"POST {PUBLIC}/testing/runs", 202, always({**RUN, "yaml": YAML, "rules": RULES})),
    Row(
        f"POST {PUBLIC}/testing/runs",
        202,
        lambda world: {
            **RUN,
            "configuration_id": world.ids["configuration_id"],
            "version_number": 1,
            "use_saved_rules": True,
        },
        headers=ONCE,
        name="saved, with a key",
    ),
    Row(
        f"POST {PUBLIC}/testing/runs", 202, always({**RUN, "yaml": YAML, "collector_version": "0.1.0"}), name="refused"
    ),
    Row(f"GET {PUBLIC}/testing/runs/{{run_id}}", 200),
    Row(f"GET {PUBLIC}/testing/runs/{{run_id}}/output", 200),
    Row(f"GET {PUBLIC}/fleets", 200),
    Row(
        f"POST {PUBLIC}/fleets",
        201,
        always({"label": "New", "type": "server-supervisor"}),
        headers=ONCE,
        name="with a key",
        repeated=(409,),
    ),
    Row(f"POST {PUBLIC}/fleets", 201, always({"label": "N", "type": "kubernetes-supervisor"}), repeated=(409,)),
    Row(f"GET {FLEET}", 200),
    Row(f"GET {FLEET}/instances", 200),
    Row(f"POST {FLEET}/install", 200, always({"platform": "docker"})),
    Row(f"GET {FLEET}/deployments", 200),
    Row(
        f"POST {FLEET}/deployments",
        201,
        lambda world: {"name": "New", "configuration_id": world.ids["configuration_id"], "version_number": 1},
        repeated=(409,),
    ),
    Row(f"GET {FLEET}/deployments/{{deployment_id}}", 200),
    Row(f"PATCH {FLEET}/deployments/{{deployment_id}}", 200, always({"name": "Renamed", "configuration_id": None})),
    Row(f"PATCH {FLEET}/deployments/{{deployment_id}}", 200, always({"version_number": 1}), name="assigned"),
    Row(
        f"PUT {APP}/fleets/{{fleet_id}}/deployments/{{deployment_id}}/volume-mounts",
        200,
        always({"volume_mounts": [{"host_path": "/a", "mount_path": "/b"}]}),
    ),
    Row(f"GET {INSTALL}", 200, query="link"),
    Row(f"GET {INSTALL}/{{name}}", 307, query="link"),
    Row(f"GET {PUBLIC}/flows", 200),
    Row(f"GET {PUBLIC}/flows/{{slug}}", 200),
    Row(f"GET {APP}/session", 200),
    Row(f"DELETE {APP}/session", 204, repeated=(401,)),
    Row(f"POST {APP}/organizations", 201, always({"name": "Further"})),
    Row(f"GET {APP}/organization", 200),
    Row(f"PATCH {APP}/organization", 200, always({"name": "Renamed"}), in_steps=True),
    Row(f"GET {APP}/members", 200),
    Row(
        f"POST {APP}/members",
        201,
        lambda world: {"email": f"new{next(_NUMBERS)}@example.com", "role": "admin"},
        repeated=(409,),
        in_steps=True,
    ),
    Row(f"PATCH {APP}/members/{{member_id}}", 200, always({"role": "admin"})),
    Row(f"DELETE {APP}/members/{{member_id}}", 204, repeated=(404,)),
    Row(
        f"DELETE {APP}/members/{{member_id}}",
        204,
        ids={"member_id": "service_account_id"},
        name="an account",
        repeated=(404,),
    ),
    Row(f"GET {APP}/service-accounts", 200),
    Row(f"POST {APP}/service-accounts", 201, always({"name": "New"})),
    Row(f"GET {APP}/service-accounts/{{service_account_id}}", 200),
    Row(f"DELETE {APP}/service-accounts/{{service_account_id}}", 204, repeated=(404,)),
    Row(f"GET {APP}/service-accounts/{{service_account_id}}/tokens", 200),
    Row(f"POST {APP}/service-accounts/{{service_account_id}}/tokens", 201, always({"name": "New"})),
    Row(f"DELETE {APP}/service-accounts/{{service_account_id}}/tokens/{{token_id}}", 204, repeated=(404,)),
    Row(f"GET {APP}/changes", 200),
    Row(
        f"PUT {APP}{VERSION.removeprefix(PUBLIC)}/validation-pipelines/{{pipeline}}",
        200,
        always({"signal_type": "logs", "rules": [{"name": "by hand", "condition": "true"}]}),
    ),
    Row(f"POST {APP}/device_authorization", 200, always({"client_id": "headgate"}), form=True),
    Row(
        f"POST {APP}/token",
        200,
        lambda world: {
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
            "device_code": world.ids["device_code"],
        },
        form=True,
        repeated=(400,),
    ),
]


@dataclass
class Bench:
    """A world, AWS under watch, what they hold, and what is logged."""

    world: World
    aws: Aws
    state: State
    held: Held
    log: io.StringIO
    body: object = None

    def send(self, row: Row, fault: Fault | None = None) -> Response:
        self.aws.begin(fault)
        method, _, path = row.endpoint.partition(" ")
        world = self.world
        ids = {"n": "1", "pipeline": "logs", "slug": "pii-redaction", "platform": "docker", "name": "collector-amd64"}
        ids |= world.ids
        ids |= {name: world.ids.get(value, value) for name, value in row.ids.items()}
        sent = {} if self.body is None else {"data": self.body} if row.form else {"json": self.body}
        query = f"?{link(world).query()}" if row.query == "link" else row.query
        url = path.format(**ids) + query
        headers = {**world.admin, **row.headers}
        response = world.http.request(method, url, headers=headers, follow_redirects=False, **sent)
        assert isinstance(response, Response)
        return response

    def reset(self, row: Row) -> None:
        """As it was, with the row's body made anew."""
        self.body = row.body(self.world) if row.body else None
        self.state.put_back(self.held)
        self.log.seek(0)
        self.log.truncate()

    def changed(self) -> set[str]:
        """What has become of the state, beside records and counters."""
        return {word for word in changes(self.held, self.state.take()) if not any(side in word for side in SIDE)}


@pytest.fixture(scope="module")
def bench(aws_here: template.Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with service(aws_here) as http, logged() as log, watched() as aws, pytest.MonkeyPatch.context() as patch:
        # The one login under way is redeemed again and again.
        patch.setattr(logins, "LIFETIME", timedelta(hours=1))
        world = founded(http, "Acme")
        ids = world.ids
        large = world.call(world.admin, "POST", f"{PUBLIC}/configurations", 201, {"name": "Large", "yaml": LARGE})
        ids["large_id"] = large["id"]
        device = logins.begin_device("192.0.2.1", clock.now())
        approve(world, device.user_code)
        ids["device_code"] = device.device_code
        release = {name: Artifact(f"install/{name}", "0" * 64, compressed=False) for name in install_releases.names()}
        manifest = install_releases.Release("0.139.0", "0.139.0", release).encode()
        headgate_aws.s3().put_object(Bucket=settings().bucket, Key="install/manifest.json", Body=manifest)
        state = State(aws_here, tmp_path_factory.mktemp("state"))
        yield Bench(world, aws, state, state.take(), log)


def link(world: World) -> Link:
    """To a script of the group, an hour long."""
    expires = int(clock.now().timestamp()) + 3600
    return Link("docker", world.organization_id, world.ids["fleet_id"], world.ids["deployment_id"], expires)


def approve(world: World, user_code: str) -> None:
    """As the page does for whoever is signed in."""
    value = world.admin["Authorization"].removeprefix("Bearer ")
    session, _ = identity.authenticate(value, clock.now())
    assert isinstance(session, Session)
    logins.approve_device(sessions.caller(session, world.organization_id), user_code, clock.now())


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


def test_every_endpoint_has_a_row() -> None:
    assert {row.endpoint for row in ROWS} == set(operations())


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_fault_at_any_call_ends_as_it_should(row: Row, bench: Bench) -> None:
    bench.reset(row)
    clean = bench.send(row)
    assert clean.status_code == row.status, clean.text
    count, clean_changes = len(bench.aws.calls), bench.changed()
    assert count >= 1

    problems = []
    for at in range(count):
        for once, kinds in ((True, PASSING if ALL else FEW_PASSING), (False, LASTING if ALL else FEW_LASTING)):
            for kind in kinds:
                bench.reset(row)
                fault = Fault(kind, at, once)
                response = bench.send(row, fault)
                call = bench.aws.calls[at] if at < len(bench.aws.calls) else "no such call"
                found = judged(row, fault, response, bench, clean_changes)
                problems += [f"{fault} ({call}): {problem}" for problem in found]
    assert not problems, "\n".join([f"{count} calls", *problems])


def judged(row: Row, fault: Fault, response: Response, bench: Bench, clean_changes: set[str]) -> Iterator[str]:
    """What is wrong with the answer to a request with a fault, with what it left, and with the next one."""
    made = bench.changed()
    seen = f"{response.status_code} {response.text[:200]}"
    if not bench.aws.hit:
        yield "the fault did not happen"
    if response.status_code == row.status:
        if made != clean_changes:
            yield f"{seen}, and yet {made ^ clean_changes} is otherwise"
    elif fault.once:
        yield f"a passing fault was noticed: {seen}"
    else:
        yield from outage(response)
        if made and not (row.in_steps or (fault.kind not in NOT_DONE and made == clean_changes)):
            yield f"{seen}, and half saved: {sorted(made)}"
    for secret in secrets(bench):
        if secret in response.text:
            yield f"{secret[:8]}… is in the answer"
        if secret in bench.log.getvalue():
            yield f"{secret[:8]}… is in the log"
    if fault.once:
        return
    again = bench.send(row)
    if again.status_code != row.status and not (made and again.status_code in row.repeated):
        yield f"after {seen}, the same again: {again.status_code} {again.text[:200]}"
    elif (row.in_steps or row.headers == ONCE) and bench.changed() != clean_changes:
        yield f"after {seen}, the same again came to {bench.changed() ^ clean_changes}"


def outage(response: Response) -> Iterator[str]:
    """What is wrong with the answer that an outage gets."""
    if response.status_code not in (502, 503, 429):
        yield f"this is no outage: {response.status_code} {response.text[:200]}"
        return
    if not response.headers.get("retry-after", "").isdigit():
        yield f"{response.status_code} without Retry-After"
    if response.headers["content-type"] != "application/problem+json":
        yield f"{response.headers['content-type']} for {response.status_code}"


def secrets(bench: Bench) -> list[str]:
    return [PLANTED, bench.world.admin["Authorization"].removeprefix("Bearer "), bench.world.ids["device_code"]]


CREATES: Final = [row for row in ROWS if row.endpoint.startswith(f"POST {PUBLIC}") and row.status in (201, 202)]


@pytest.mark.parametrize("row", CREATES, ids=str)
def test_a_create_that_died_before_its_answer_is_not_made_again(row: Row, bench: Bench) -> None:
    keyed = replace(row, headers=ONCE)
    bench.reset(row)
    with pytest.MonkeyPatch.context() as patch:
        # As a process that ends between the create and its answer: nothing of what comes after it is done.
        patch.setattr(idempotency, "keep", lambda *_: None)
        patch.setattr(idempotency, "release", lambda *_: None)
        first = bench.send(keyed)
    made = bench.changed()

    again = bench.send(keyed)

    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["location"] == first.headers["location"]
    assert again.headers.get("etag") == first.headers.get("etag")
    assert bench.changed() == made


def test_what_was_made_under_a_key_and_is_gone_is_made_anew(bench: Bench) -> None:
    row = next(row for row in CREATES if "runs" in row.endpoint and not row.name)
    keyed = replace(row, headers=ONCE)
    bench.reset(row)
    clean = bench.send(keyed)
    calls = [str(call) for call in bench.aws.calls]
    bench.reset(row)
    refused = bench.send(keyed, Fault("denied", calls.index("stepfunctions.StartExecution")))

    again = bench.send(keyed)

    assert (clean.status_code, refused.status_code, again.status_code) == (202, 503, 202)
    assert "idempotency-replayed" not in again.headers
