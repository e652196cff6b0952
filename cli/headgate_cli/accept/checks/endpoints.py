"""Every endpoint: that it is there and described, and how it answers requests that name nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from headgate_cli.accept import expect
from headgate_cli.accept.bench import Bench
from headgate_cli.accept.checks.identity import WRITE_CLAIM
from headgate_cli.accept.endpoints import ENDPOINTS
from headgate_cli.accept.errors import Broken
from headgate_cli.accept.model import check
from headgate_cli.responses import HttpAnswer

_AT_ONCE: Final = 6
_NONE: Final = "0" * 26
# What a path names: ids of the right shape that are nobody's.
_NAMED: Final = {
    "configuration_id": f"cfg_{_NONE}",
    "fleet_id": f"flt_{_NONE}",
    "deployment_id": f"dep_{_NONE}",
    "instance_id": f"ins_{_NONE}",
    "rollout_id": f"rol_{_NONE}",
    "capture_id": f"cap_{_NONE}",
    "webhook_id": f"whk_{_NONE}",
    "delivery_id": f"dlv_{_NONE}",
    "run_id": f"run_{_NONE}",
    "n": "1",
    "suite_id": f"job_{_NONE}",
    "comparison_id": f"job_{_NONE}",
    "coverage_id": f"job_{_NONE}",
    "order_id": f"ord_{_NONE}",
    "kind": "receiver",
    "type": "none",
}
# A field that no body has.
_BODY: Final = {"headgate-accept": True}


class _Endpoint:
    def __init__(self, method: str, path: str, takes: str, has_body: bool) -> None:
        self.method, self.template, self.takes, self.has_body = method, path, takes, has_body
        self.path = "/".join(
            _NAMED.get(part[1:-1], "headgate-accept-none") if part.startswith("{") else part for part in path.split("/")
        )

    @property
    def body(self) -> Mapping[str, object] | None:
        return _BODY if self.has_body else None

    def is_answered(self, answer: HttpAnswer) -> None:
        """Check the answer to a credential that may use the endpoint. Raises Broken."""
        if self.has_body:
            expect.names_field(expect.problem(answer, 422), "headgate-accept")
        elif "{" in self.template:
            not_found = expect.problem(answer, 404)
            expect.that(not_found["code"] != "not_found", "there is nothing at this path")
        else:
            expect.entity(answer)


_ALL: Final = [_Endpoint(*row) for row in ENDPOINTS]


def _each(bench: Bench, chosen: list[_Endpoint], act: Callable[[_Endpoint], None]) -> None:
    """Do it for each, some at once. Raises Broken with all that went wrong."""

    def tried(endpoint: _Endpoint) -> str:
        try:
            act(endpoint)
        except Broken as broken:
            return f"{endpoint.method} {endpoint.template}: {broken}"
        return ""

    problems: list[str] = []
    for start in range(0, len(chosen), _AT_ONCE):
        some = chosen[start : start + _AT_ONCE]
        problems += bench.at_once([partial(tried, endpoint) for endpoint in some])
    expect.none_broken([problem for problem in problems if problem])


@check("endpoints.described", "The server's own description has every endpoint of this release.")
def described(bench: Bench) -> None:
    paths = expect.entity(bench.anonymous.get("/openapi.json")).get("paths")
    there = {f"{method} {path}" for method, path in _operations(paths)}
    expected = [f"{endpoint.method} {endpoint.template}" for endpoint in _ALL]
    expect.none_broken([f"{name} is missing" for name in expected if name not in there])


@check("endpoints.credential", "Every endpoint asks for a credential, but the two that need none.")
def credential(bench: Bench) -> None:
    def act(endpoint: _Endpoint) -> None:
        expect.problem(bench.anonymous.send(endpoint.method, endpoint.path, endpoint.body), 401, code="unauthenticated")

    _each(bench, [endpoint for endpoint in _ALL if endpoint.takes != "nothing"], act)


@check("endpoints.answers", "Every endpoint refuses a made-up field with 422 and a made-up id with 404.")
def answers(bench: Bench) -> None:
    def act(endpoint: _Endpoint) -> None:
        endpoint.is_answered(bench.write.send(endpoint.method, endpoint.path, endpoint.body))

    _each(bench, [endpoint for endpoint in _ALL if endpoint.takes in ("nothing", "read", "write")], act)


@check("endpoints.read-only", "No endpoint that writes takes a read-only token.")
def read_only(bench: Bench) -> None:
    def act(endpoint: _Endpoint) -> None:
        expect.problem(bench.read.send(endpoint.method, endpoint.path, endpoint.body), 403, detail=WRITE_CLAIM)

    _each(bench, [endpoint for endpoint in _ALL if endpoint.takes == "write"], act)


@check("endpoints.people", "No token is taken where an Admin or another member has to act.")
def people(bench: Bench) -> None:
    def act(endpoint: _Endpoint) -> None:
        expect.problem(bench.write.send(endpoint.method, endpoint.path, endpoint.body), 403)

    _each(bench, [endpoint for endpoint in _ALL if endpoint.takes in ("admin", "session")], act)


@check("endpoints.admin", "The endpoints of Admins answer an Admin's session.")
def admin(bench: Bench) -> None:
    def act(endpoint: _Endpoint) -> None:
        endpoint.is_answered(bench.admin.send(endpoint.method, endpoint.path, endpoint.body))

    _each(bench, [endpoint for endpoint in _ALL if endpoint.takes == "admin"], act)


def _operations(paths: object) -> Iterator[tuple[str, str]]:
    for path, item in paths.items() if isinstance(paths, dict) else ():
        for method in item if isinstance(item, dict) else ():
            yield str(method).upper(), str(path).removeprefix("/api/v1/public")
