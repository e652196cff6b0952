"""The operations of the model as requests to the service, each by its actor."""

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from headgate.identity import service as identity
from tests.support.in_process import TestClient
from tests.support.model.model import Actor, Answer, Operation
from tests.support.world import APP, PUBLIC, Headers, bearer, joined, session_of

Request = tuple[str, str, object]
TEXTS: Final = [
    f"receivers: {{otlp: {{protocols: {{grpc: {{}}}}}}}}\nexporters: {{debug: {{}}}}\n"
    f"service: {{pipelines: {{logs: {{receivers: [otlp], exporters: [debug]}}}}}}\n# {number}\n"
    for number in range(5)
]

REQUESTS: Final[Mapping[str, Callable[..., Request]]] = {
    "create": lambda name, yaml: ("POST", f"{PUBLIC}/configurations", {"name": name, "yaml": yaml}),
    "get": lambda key: ("GET", f"{PUBLIC}/configurations/{key}", None),
    "rename": lambda key, name: ("PATCH", f"{PUBLIC}/configurations/{key}", {"name": name}),
    "append": lambda key, yaml: ("POST", f"{PUBLIC}/configurations/{key}/versions", {"yaml": yaml}),
    "read": lambda key, n: ("GET", f"{PUBLIC}/configurations/{key}/versions/{n}", None),
    "edit": lambda key, n, yaml, _: ("PATCH", f"{PUBLIC}/configurations/{key}/versions/{n}", {"yaml": yaml}),
    "publish": lambda key, n: ("POST", f"{PUBLIC}/configurations/{key}/versions/{n}/publish", None),
    "versions": lambda key: ("GET", f"{PUBLIC}/configurations/{key}/versions?limit=100", None),
    "configurations_of": lambda: ("GET", f"{PUBLIC}/configurations?limit=100", None),
    "save_rules": lambda key, n, pipeline, names: (
        "PUT",
        f"{PUBLIC}/configurations/{key}/versions/{n}/validation-pipelines/{pipeline}",
        {"signal_type": "logs", "rules": [{"name": name, "condition": "true"} for name in names]},
    ),
    "rules": lambda key, n: ("GET", f"{PUBLIC}/configurations/{key}/versions/{n}/validation-pipelines", None),
    "create_fleet": lambda label: ("POST", f"{PUBLIC}/fleets", {"label": label, "type": "server-supervisor"}),
    "fleets_of": lambda: ("GET", f"{PUBLIC}/fleets?limit=100", None),
    "add_group": lambda fleet, name, key, n: (
        "POST",
        f"{PUBLIC}/fleets/{fleet}/deployments",
        {"name": name, "configuration_id": key, "version_number": n},
    ),
    "change_group": lambda fleet, group, changes: ("PATCH", f"{PUBLIC}/fleets/{fleet}/deployments/{group}", changes),
    "group": lambda fleet, group: ("GET", f"{PUBLIC}/fleets/{fleet}/deployments/{group}", None),
    "groups": lambda fleet: ("GET", f"{PUBLIC}/fleets/{fleet}/deployments?limit=100", None),
}


@dataclass
class Clients:
    """The actors of one new organization."""

    http: TestClient
    headers: Mapping[Actor, Headers]
    account: str
    _values: dict[str, str] = field(default_factory=dict)

    @classmethod
    def founded(cls, http: TestClient) -> "Clients":
        organization = identity.create_organization("Model").id
        ann = identity.create_service_account(organization, "ann").id
        bob = identity.create_service_account(organization, "bob").id

        def token(account: str, *, to_write: bool = True) -> Headers:
            access = "read_write" if to_write else "read"
            return bearer(identity.create_token(organization, account, name="t", access=access)[1])

        admin = session_of(joined(organization, "admin"), organization)
        headers: dict[Actor, Headers] = {
            "ann": token(ann),
            "reader": token(ann, to_write=False),
            "bob": token(bob),
            "admin": admin,
        }
        return cls(http, headers, ann)

    def perform(self, operation: Operation) -> Answer:
        """Ask, and wait for the answer."""
        match operation.kind, operation.args:
            case "create_token", _:
                answer = self._send("admin", "POST", f"{APP}/service-accounts/{self.account}/tokens", {"name": "t"})
                self._values[answer.body["id"]] = answer.body["value"]
                return answer
            case "delete_token", (token_id,):
                return self._send("admin", "DELETE", f"{APP}/service-accounts/{self.account}/tokens/{token_id}", None)
            case "use_token", (token_id,):
                return self._ask(bearer(self._values[token_id]), "GET", f"{PUBLIC}/identity", None)
            case "edit", (*_, str(if_match)):
                method, path, body = REQUESTS["edit"](*operation.args)
                return self._ask({**self.headers[operation.actor], "If-Match": if_match}, method, path, body)
        return self._send(operation.actor, *REQUESTS[operation.kind](*operation.args))

    def _send(self, actor: Actor, method: str, path: str, body: object) -> Answer:
        return self._ask(self.headers[actor], method, path, body)

    def _ask(self, headers: Headers, method: str, path: str, body: object) -> Answer:
        response = self.http.request(method, path, headers=dict(headers), json=body)
        shown: Any = response.json() if response.content else None
        return Answer(response.status_code, shown, response.headers.get("etag"))


@dataclass(frozen=True)
class Observed:
    """An operation with its answer, between two moments of one clock."""

    operation: Operation
    answer: Answer
    began: float
    ended: float


class History:
    """What several clients saw, in the order of their answers."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._lock = threading.Lock()
        self.observed: list[Observed] = []

    def perform(self, operation: Operation) -> Answer:
        began = time.perf_counter()
        answer = self._clients.perform(operation)
        ended = time.perf_counter()
        kinds = [operation.kind]
        if operation.kind == "get":
            # Two reads, one after the other: the configuration, then the text of what was its latest version.
            kinds = ["get", "text_of_latest"]
        with self._lock:
            for kind in kinds:
                seen = Operation(kind, operation.actor, operation.args)
                self.observed.append(Observed(seen, answer, began, ended))
        return answer


def jitter(most_seconds: float) -> Callable[..., None]:
    """A hook for boto3's `before-call`: lets other threads come between any two calls."""
    return lambda **_: time.sleep(random.uniform(0, most_seconds))
