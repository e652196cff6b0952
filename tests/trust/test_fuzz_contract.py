"""The whole API against its own description: generated requests, right and wrong ones, with every kind of credential.

Each answer has to have a documented status, content type, body and headers; nothing is a defect (500), and an outage
(503) is only what the specification names: a text that the validator cannot judge. `HEADGATE_TRUST_REQUESTS` is how
many requests are made, `HEADGATE_TRUST_SEED` makes them others. The tests import schemathesis as they run,
since every worker collects this module.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as limits
from hypothesis import strategies as st

from headgate.foundation.ids import new_id
from headgate.http.credentials import ORGANIZATION_HEADER
from headgate.identity import service as identity
from headgate_local import template
from headgate_local.limits import MOST_HEADERS
from scripts.openapi import complete, document
from scripts.openapi_common import PARAMETERS
from tests.support import sizes
from tests.support.faults.bench import forget
from tests.support.faults.state import Held, State
from tests.support.in_process import TestClient
from tests.support.world import APP, YAML, Headers, World, founded, joined, service, session_of

if TYPE_CHECKING:
    from schemathesis import Case, GenerationMode
    from schemathesis.core.transport import Response

pytestmark = pytest.mark.sized

SEED: Final = int(os.environ.get("HEADGATE_TRUST_SEED", "20261121"))
CREDENTIALS: Final[dict[str, Callable[[World], Headers]]] = {
    "no credential": lambda world: {},
    "read token": lambda world: world.token("read"),
    "read-write token": lambda world: world.token("read_write"),
    "contributor": lambda world: world.person("contributor"),
    "admin": lambda world: world.person("admin"),
    "admin of another organization": lambda world: session_of(
        joined(other := identity.create_organization("Other").id, "admin"), other
    ),
}
TEXTS: Final = [
    YAML,
    YAML.replace("1s", "one parsec"),
    YAML.replace("[filter, batch]", "[filter, nothing]"),
    YAML.replace('body == "x"', "body = 1"),
    "receivers: ${file:/etc/passwd}",
    "a: &a [*a]",
    "? [x]\n: y\n---\nb",
    "\ufeff",
    "\0",
]
# What a fuzzer does not guess. A name that is not here keeps what was generated.
GUESSED: Final[dict[str, list[object]]] = {
    "yaml": TEXTS,
    "sample": [
        "a line",
        {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "x"}}]}]}]},
        [],
        "\0",
    ],
    "target_pipeline": ["logs", "traces/a", "logs/none"],
    "pipeline": ["logs", "traces/a", "logs/none"],
    "version_number": [1, 2, 3],
    "n": [1, 2, 3],
    "version": ["0.139.0", "0.1.0"],
    "distribution": ["otelcol-contrib"],
    "collector_distribution": ["otelcol-contrib"],
    "conditions": [['body == "x"'], ["body = 1"], ["("]],
    "context": ["log", "span"],
    "slug": ["pii-redaction", "none"],
}
# What a wrong request may be answered with. A body that is too long is refused before anybody looks at its fields.
REJECTIONS: Final = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "5xx"]
# Deleting the session that the other requests are made with is left to the test of credentials.
LEFT_OUT: Final = {f"DELETE {APP}/session"}


@pytest.fixture(scope="module")
def http(aws_here: template.Template) -> Iterator[TestClient]:
    with service(aws_here) as http:
        yield http


@pytest.fixture(scope="module")
def filled(aws_here: template.Template, http: TestClient) -> tuple[World, State, Held]:
    world, state = founded(http, "Acme"), State(aws_here)
    return world, state, state.take()


@pytest.fixture
def world(filled: tuple[World, State, Held]) -> World:
    """As it was founded, whatever the test before deleted."""
    world, state, held = filled
    state.put_back(held)
    forget()
    return world


@cache
def described() -> Any:
    """The published document, and the application's routes described in the same way."""
    import schemathesis
    from schemathesis.config import SchemathesisConfig

    published: Any = deepcopy(document())
    from application.app import app as application
    from testing.app import app as testing

    for app in (application, testing):
        found = deepcopy(app.openapi())
        for path, item in found["paths"].items():
            # Its forms are those of OAuth 2.0 (RFC 8628), whose answers are not problems.
            if path.startswith(APP) and path not in (f"{APP}/device_authorization", f"{APP}/token"):
                for method, operation in item.items():
                    complete(method, operation)
                    # Only the public API honours it: an answer of the application may hold a token's value.
                    leave_out(operation, "Idempotency-Key")
                published["paths"][path] = item
        for name, schema in found["components"]["schemas"].items():
            published["components"]["schemas"].setdefault(name, schema)
    for item in published["paths"].values():
        for operation in item.values():
            # It comes with the credential: only a session's is looked at.
            leave_out(operation, ORGANIZATION_HEADER)
    return schemathesis.openapi.from_dict(
        published,
        config=SchemathesisConfig.from_dict(
            {
                "generation": {"with-security-parameters": False, "allow-x00": True},
                "checks": {"negative_data_rejection": {"expected-statuses": REJECTIONS}},
            }
        ),
    )


def leave_out(operation: dict[str, Any], parameter: str) -> None:
    """`parameter` is a header's name, which several operations have by reference, or one of the operation's own."""
    references = {f"#/components/parameters/{key}" for key, one in PARAMETERS.items() if one["name"] == parameter}
    operation["parameters"] = [
        one for one in operation["parameters"] if one.get("name") != parameter and one.get("$ref") not in references
    ]


def operations() -> list[str]:
    """Those that delete come last, so that the others find something."""
    labels = {one.ok().label for one in described().get_all_operations()} - LEFT_OUT
    return sorted(labels, key=lambda label: (label.startswith("DELETE"), label))


def operation(label: str) -> Any:
    method, _, path = label.partition(" ")
    return described()[path][method]


def takes_input(label: str) -> bool:
    found = operation(label)
    return bool(found.body or found.path_parameters or found.query or found.headers)


@st.composite
def requests(draw: st.DrawFn, label: str, mode: GenerationMode, ids: dict[str, list[str]]) -> Case:
    """A generated request, in which some of what cannot be guessed is replaced by what there is."""
    case = draw(operation(label).as_strategy(generation_mode=mode))

    def known(name: str, value: object) -> object:
        choices = [*GUESSED.get(name, []), *ids.get(name, [])]
        return draw(st.sampled_from(choices)) if choices and draw(st.integers(0, 7)) else value

    if isinstance(case.path_parameters, dict):
        case.path_parameters = {name: known(name, value) for name, value in case.path_parameters.items()}
    if isinstance(case.body, dict):
        case.body = {name: known(name, value) for name, value in case.body.items()}
    return case


def head_bytes(response: Response) -> int:
    """The length of the request line and the headers that were sent."""
    request = response.request
    line = f"{request.method} {request.path_url} HTTP/1.1"
    return len(line) + sum(len(name) + len(value) + len(": ") for name, value in request.headers.items())


def answer(world: World, case: Case, credential: Headers) -> Counter[str]:
    """Make the request and judge the answer."""
    from schemathesis.specs.openapi import checks as conformance

    checks = [
        conformance.status_code_conformance,
        conformance.content_type_conformance,
        conformance.response_schema_conformance,
        conformance.response_headers_conformance,
        conformance.negative_data_rejection,
    ]
    headers = {**case.headers, **credential}
    response = case.call(app=world.http.app, headers=headers)
    if response.status_code == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
        # API Gateway answers before the service does, as the introduction of the description says.
        assert head_bytes(response) > MOST_HEADERS
        return Counter({str(response.status_code): 1})
    case.validate_response(response, checks=checks)
    assert response.headers["x-request-id"]
    problem = response.json() if response.headers.get("content-type") == ["application/problem+json"] else None
    if problem is not None:
        assert problem["status"] == response.status_code
        assert problem["request_id"] == response.headers["x-request-id"][0]
        assert problem["detail"]
    assert response.status_code < 500 or (response.status_code == 503 and problem["code"] == "not_checked"), problem
    return Counter({str(response.status_code): 1})


@pytest.mark.parametrize("kind", CREDENTIALS)
def test_every_answer_is_as_described(kind: str, world: World, subtests: pytest.Subtests) -> None:
    from schemathesis import GenerationMode

    credential = CREDENTIALS[kind](world)
    ids = {name: [value] for name, value in world.ids.items()}
    modes = [*GenerationMode]
    first = [*CREDENTIALS].index(kind)
    # Every third operation, with right or wrong requests in turn: two of the credentials try each of them.
    tried = [
        (label, mode)
        for number, label in enumerate(operations(), first)
        if sizes.FULL or number % 3 == 0
        for mode in (sizes.turn(modes, number // 3) if takes_input(label) else [GenerationMode.POSITIVE])
    ]
    statuses: Counter[str] = Counter()
    for label, mode in tried:

        @seed(SEED)
        @limits(
            max_examples=max(2, math.ceil(sizes.REQUESTS / (len(CREDENTIALS) * len(tried)))),
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )
        @given(case=requests(label, mode, ids))
        def run(case: Case) -> None:
            statuses.update(answer(world, case, credential))

        with subtests.test(label, mode=mode.value):
            run()
    print(f"{kind}: {statuses.total()} requests, {dict(sorted(statuses.items()))}")


def test_every_other_method_is_405_and_told_which_are_possible(world: World, subtests: pytest.Subtests) -> None:
    paths: dict[str, set[str]] = {}
    for label in [*operations(), *LEFT_OUT]:
        method, _, path = label.partition(" ")
        paths.setdefault(path, set()).add(method)
    constants = {"n": "1", "pipeline": "logs", "slug": "pii-redaction", "organization_id": new_id("org")}
    constants |= {"kind": "receiver", "type": "otlp", "test_name": "kept"}
    templates = {path: re.compile(re.sub(r"\{\w+\}", "[^/]+", path)) for path in paths}
    every = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PURGE")
    for number, path in enumerate(paths):
        # A path without parameters may be one of another's, as `/fleets/capture-redaction` is of `/fleets/{fleet_id}`.
        methods = set().union(*(paths[other] for other, pattern in templates.items() if pattern.fullmatch(path)))
        possible = methods | ({"HEAD"} if "GET" in methods else set())
        for method in sizes.turn([one for one in every if one not in possible], number):
            with subtests.test(path, method=method):
                response = world.http.request(method, path.format(**constants, **world.ids), headers=dict(world.admin))

                assert response.status_code == 405
                assert set(response.headers["allow"].split(", ")) == possible
