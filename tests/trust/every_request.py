"""A right request for every endpoint, and a world in which it can be made again and again."""

import io
import itertools
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Final

import pytest
from httpx2 import Response

from headgate import aws as headgate_aws
from headgate import clock
from headgate.deployments import install_releases
from headgate.deployments.install_links import Link
from headgate.deployments.install_releases import Artifact
from headgate.http.log import logger
from headgate.identity import logins, sessions
from headgate.identity import service as identity
from headgate.identity.model import Session
from headgate.settings import settings
from headgate_local import template
from tests.trust.aws_faults import Aws, Fault, watched
from tests.trust.state import Held, State, changes
from tests.trust.world import APP, PUBLIC, RULES, YAML, World, founded, service

# Too large for an item of a table, and of random letters, so that compression does not change that.
LARGE: Final = f"{YAML}# {''.join(Random(1).choices('abcdefghijklmnopqrstuvwxyz0123456789', k=600_000))}\n"
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
    # Whether it is a person's browser that asks.
    page: bool = False

    def __str__(self) -> str:
        return f"{self.endpoint} {self.name}".strip()

    @property
    def reads(self) -> bool:
        """Whether the same request always gets the same answer; a signed link is another from second to second."""
        return self.endpoint.startswith("GET ") and self.status == 200 and self.query != "link"


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

    @property
    def secrets(self) -> list[str]:
        """Credentials that no answer and no log may show."""
        return [self.world.admin["Authorization"].removeprefix("Bearer "), self.world.ids["device_code"]]

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
        self.aws.begin()
        self.body = row.body(self.world) if row.body else None
        self.state.put_back(self.held)
        self.log.seek(0)
        self.log.truncate()

    def changed(self) -> set[str]:
        """What has become of the state, beside records and counters."""
        self.aws.settle()
        return {word for word in changes(self.held, self.state.take()) if not any(side in word for side in SIDE)}


@contextmanager
def made_ready(
    described: template.Template, folder: Path, calls: Callable[[], AbstractContextManager[Aws]] = watched
) -> Iterator[Bench]:
    """All that the rows ask for, in moto's tables of the template, with the calls to AWS under watch."""
    with service(described) as http, logged() as log, calls() as aws, pytest.MonkeyPatch.context() as patch:
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
        state = State(described, folder)
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
