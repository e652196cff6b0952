"""An organization that holds one of everything, and every kind of credential."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from httpx2 import Response

from headgate import checker
from headgate.fleets import tokens
from headgate.flows import publish
from headgate.foundation import clock
from headgate.foundation.caller import Access, Role
from headgate.foundation.ids import new_id
from headgate.foundation.log import logger
from headgate.foundation.principal import Principal
from headgate.foundation.settings import settings
from headgate.identity import invitation_store, member_store, sessions
from headgate.identity import service as identity
from headgate.identity.model import Invitation, Member, User
from headgate.instances.model import instance_id
from headgate.rollouts import service as rollout_service
from headgate.runs import files, tracing
from headgate.runs.jobs.steps import JobSteps
from headgate.runs.model import CASE
from headgate.runs.run_steps import RunSteps
from headgate.storage import aws
from headgate.webhooks import deliveries
from headgate.webhooks.queue import Ticket
from headgate_engine.testing.trace import RecordedTrace
from headgate_local.service import functions
from headgate_local.stepfunctions import definition
from headgate_local.template import Template
from headgate_opamp import opamp_pb2 as wire
from tests.support import released
from tests.support.in_process import TestClient
from tests.support.opamp_agent import Agent
from tests.support.run_outcomes import outcome
from tests.support.traces import of_three_records

PUBLIC: Final = "/api/v1/public"
APP: Final = "/api/v1/app"
Headers = Mapping[str, str]

YAML: Final = """\
receivers: {otlp: {protocols: {grpc: {endpoint: "0.0.0.0:4317"}}}}
processors: {batch: {timeout: 500ms}, filter: {logs: {log_record: ['body == "x"']}}}
exporters: {debug: {}, otlphttp: {endpoint: "${env:BACKEND:-https://otel.example.com}"}}
service:
  pipelines:
    logs: {receivers: [otlp], processors: [filter, batch], exporters: [debug]}
    traces/a: {receivers: [otlp], exporters: [otlphttp]}
"""
A_TEST: Final = "kept"
"""A test of version 2."""
RULES: Final = [{"name": "some", "condition": 'body != "x"'}]
OUTPUT: Final = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"secret of the owner"}}]}]}]}\n'


@contextmanager
def service(template: Template) -> Iterator[TestClient]:
    """Every function behind the local dispatcher, with a gallery, and a state machine that only accepts."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("HEADGATE_FLEET_ENDPOINT", "https://fleet.example")
        environment.setenv("HEADGATE_FLEET_LIMIT", "1000000")
        settings.cache_clear()
        # A test before may have started one without a collector.
        checker.close()
        level = logger.log_level
        logger.setLevel("ERROR")
        _complete(template)
        with TestClient(functions(template), raise_server_exceptions=False) as http:
            yield http
        logger.setLevel(level)
        checker.close()
    settings.cache_clear()


def _complete(template: Template) -> None:
    publish.upload(publish.build(Path(__file__).parents[2] / "flows"), settings().bucket)
    released.release(released.FURTHER)
    create_state_machines(template)


def create_state_machines(template: Template) -> None:
    for logical_id, properties in template.of_type("AWS::Serverless::StateMachine"):
        aws.stepfunctions().create_state_machine(
            name=template.name_of(logical_id),
            definition=definition(template, properties),
            roleArn="arn:aws:iam::123456789012:role/local",
        )


@dataclass
class World:
    """`ids` are those of what the organization holds, by the name that paths and bodies give them."""

    http: TestClient
    organization_id: str
    admin: Headers
    ids: dict[str, str] = field(default_factory=dict)

    def call(self, headers: Headers, method: str, path: str, expected: int, body: object = None) -> dict[str, Any]:
        response = self.http.request(method, path, headers=dict(headers), json=body)
        assert response.status_code == expected, (method, path, response.status_code, response.text)
        found: dict[str, Any] = response.json() if response.content else {}
        return found

    def person(self, role: Role) -> Headers:
        """The headers of a new person's session in the organization."""
        return session_of(joined(self.organization_id, role), self.organization_id)

    def token(self, access: Access) -> Headers:
        """The header of a token of a new service account."""
        account = identity.create_service_account(self.organization_id, "ci").id
        return bearer(identity.create_token(self.organization_id, account, name="t", access=access)[1])


def founded(http: TestClient, name: str) -> World:
    """A new organization, filled through the API by its Admin."""
    organization_id = identity.create_organization(name).id
    admin = joined(organization_id, "admin")
    world = World(http, organization_id, session_of(admin, organization_id))
    world.ids["inviting_id"] = inviting(admin)
    _fill(world)
    world.ids["run_id"] = _finished_run(world)
    world.ids["suite_id"] = finished_suite(world)
    world.ids["comparison_id"] = finished_comparison(world)
    world.ids["coverage_id"] = finished_coverage(world)
    return world


def inviting(user: User) -> str:
    """A new organization that invites the person."""
    organization_id, at = identity.create_organization("Inviting").id, clock.now()
    offered = Invitation(
        new_id("inv"), organization_id, "Inviting", user.email, "contributor", "bob@example.com", at, at + timedelta(1)
    )
    invitation_store.put(offered, user)
    return organization_id


def joined(organization_id: str, role: Role) -> User:
    """A new person, who is a member."""
    user = User(new_id("usr"), f"{new_id('usr')}@example.com", clock.now())
    member_store.put_user(user)
    principal = Principal("user", user.id, user.email)
    member_store.add_user(Member(organization_id, principal, role, "active", clock.now()))
    return user


def session_of(user: User, organization_id: str) -> Headers:
    return {**bearer(sessions.begin(user, "browser", clock.now())[1]), "X-Service-Org": organization_id}


def bearer(value: str) -> Headers:
    return {"Authorization": f"Bearer {value}"}


def _fill(world: World) -> None:
    ids = world.ids

    def post(path: str, body: object = None, expected: int = 201) -> dict[str, Any]:
        return world.call(world.admin, "POST", path, expected, body)

    ids["configuration_id"] = post(f"{PUBLIC}/configurations", {"name": "Edge", "yaml": YAML})["id"]
    version = f"{PUBLIC}/configurations/{ids['configuration_id']}/versions"
    post(f"{version}/1/publish", expected=200)
    post(version, {"yaml": YAML, "description": "the next"})
    ids["draft_id"] = post(f"{PUBLIC}/configurations", {"name": "Draft", "yaml": YAML})["id"]
    test = {"target_pipeline": "logs", "sample": "a line", "rules": RULES}
    world.call(world.admin, "PUT", f"{version}/2/tests/{A_TEST}", 200, test)
    rules = {"signal_type": "logs", "rules": RULES}
    world.call(world.admin, "PUT", f"{version}/1/validation-pipelines/logs", 200, rules)

    ids["fleet_id"] = post(f"{PUBLIC}/fleets", {"label": "Servers", "type": "server-supervisor"})["id"]
    groups = f"{PUBLIC}/fleets/{ids['fleet_id']}/deployments"
    group = {"name": "web", "configuration_id": ids["configuration_id"], "version_number": 1}
    ids["deployment_id"] = post(groups, group)["id"]
    ids["instance_id"], ids["overridden_id"] = _collectors(world)
    _capture(world)
    overridden = {"version_number": 1, "until": clock.rfc3339(clock.now() + timedelta(days=1))}
    override = f"{PUBLIC}/fleets/{ids['fleet_id']}/instances/{ids['overridden_id']}/override"
    world.call(world.admin, "PUT", override, 200, overridden)
    ids["order_id"] = post(override.replace("override", "restart"), expected=202)["id"]
    ids["gone_instance_id"] = _stopped_collector(world)
    ids["replaced_instance_id"] = _stopped_collector(world, "rebuilt")
    agent(world.http, ids["fleet_id"], ids["deployment_id"], "rebuilt").start()
    ids["secretive_deployment_id"] = post(groups, {**group, "name": "secretive"})["id"]
    env = f"{groups}/{ids['secretive_deployment_id']}/env"
    world.call(world.admin, "PATCH", env, 200, {"secrets": {"API_KEY": "secret of the owner"}})
    ids["unused_deployment_id"] = post(groups, {**group, "name": "unused"})["id"]
    ids["unused_fleet_id"] = post(f"{PUBLIC}/fleets", {"label": "Unused", "type": "server-supervisor"})["id"]
    observed = {"label": "Observed", "type": "server-supervisor", "mode": "observed"}
    ids["observed_fleet_id"] = post(f"{PUBLIC}/fleets", observed)["id"]
    ids["observed_instance_id"] = _observed_collector(world)
    ids["kubernetes_id"] = post(f"{PUBLIC}/fleets", {"label": "Cluster", "type": "kubernetes-supervisor"})["id"]
    on_kubernetes = f"{PUBLIC}/fleets/{ids['kubernetes_id']}/deployments"
    ids["kubernetes_deployment_id"] = post(on_kubernetes, {**group, "role": "node"})["id"]

    ids["rolling_group_id"] = post(groups, {**group, "name": "rolling"})["id"]
    ids["rolling_id"] = post(f"{groups}/{ids['rolling_group_id']}/rollouts", {"version_number": 1})["id"]
    rollouts = f"{on_kubernetes}/{ids['kubernetes_deployment_id']}/rollouts"
    ids["paused_id"] = post(rollouts, {"version_number": 1})["id"]
    post(f"{rollouts}/{ids['paused_id']}/pause", expected=200)
    approved = {"version_number": 1, "strategy": {"steps": [{"percent": 100, "approval": True}]}}
    started = world.call(world.token("read_write"), "POST", f"{groups}/{ids['deployment_id']}/rollouts", 201, approved)
    ids["rollout_id"] = started["id"]
    # Now it waits for approval, by somebody else.
    rollout_service.tick(ids["fleet_id"], ids["deployment_id"], ids["rollout_id"])

    ids["service_account_id"] = post(f"{APP}/service-accounts", {"name": "ci"})["id"]
    tokens = f"{APP}/service-accounts/{ids['service_account_id']}/tokens"
    ids["token_id"] = post(tokens, {"name": "t"})["id"]
    webhook = {"name": "on-call", "url": "https://hooks.example.com/1", "enabled": False}
    ids["webhook_id"] = post(f"{PUBLIC}/webhooks", webhook)["id"]
    ids["delivery_id"] = post(f"{PUBLIC}/webhooks/{ids['webhook_id']}/test", expected=202)["id"]
    # It ends, because its webhook is switched off.
    deliveries.attempt(Ticket(world.organization_id, ids["webhook_id"], ids["delivery_id"]))
    ids["member_id"] = joined(world.organization_id, "contributor").id


def agent(http: TestClient, fleet_id: str, deployment_id: str, host_name: str = "edge-1") -> Agent:
    """A collector that knows the fleet's token, and reports to the group."""

    def post(body: bytes) -> bytes:
        response = report(http, fleet_id, deployment_id, body)
        assert response.status_code == 200, response.text
        return response.content

    return Agent(post, host_name=host_name)


def report(http: TestClient, fleet_id: str, deployment_id: str, body: bytes) -> Response:
    headers = {**bearer(tokens.value_of(fleet_id, 1)), "X-Deployment-Id": deployment_id}
    return http.post("/v1/opamp", content=body, headers={**headers, "Content-Type": "application/x-protobuf"})


def _collectors(world: World) -> list[str]:
    """The ids of two collectors that have reported to the organization's group, and failed to apply its version."""
    fleet_id = world.ids["fleet_id"]
    for _ in range(2):
        one = agent(world.http, fleet_id, world.ids["deployment_id"])
        one.start()
        one.tells(b'{"v":1,"supervisor":{"version":"0.2.0"},"can":["restart","retry","upgrade_supervisor"]}')
        one.report(wire.RemoteConfigStatuses_FAILED, "no")
    found = world.call(world.admin, "GET", f"{PUBLIC}/fleets/{fleet_id}/instances", 200)["items"]
    return [str(one["id"]) for one in found]


def _observed_collector(world: World) -> str:
    """The id of a collector that others installed."""
    fleet_id = world.ids["observed_fleet_id"]
    (group,) = world.call(world.admin, "GET", f"{PUBLIC}/fleets/{fleet_id}/deployments", 200)["items"]
    collector = agent(world.http, fleet_id, group["id"])
    collector.start()
    return instance_id(collector.uid)


def _capture(world: World) -> None:
    """A fleet with a host that can be captured from, and one with a capture that has ended and another that is open."""
    ids = world.ids
    made = {"label": "Captured", "type": "server-supervisor"}
    ids["captured_fleet_id"] = world.call(world.admin, "POST", f"{PUBLIC}/fleets", 201, made)["id"]
    fleet = f"{PUBLIC}/fleets/{ids['captured_fleet_id']}"
    (group,) = world.call(world.admin, "GET", f"{fleet}/deployments", 200)["items"]
    ids["captured_deployment_id"] = group["id"]
    at = f"{fleet}/deployments/{group['id']}"
    assigned = {"configuration_id": ids["configuration_id"], "version_number": 1}
    world.call(world.admin, "PATCH", at, 200, assigned)
    world.call(world.admin, "PUT", f"{at}/captures", 200, {"allowed": True})
    hosts = []
    for _ in range(2):
        one = agent(world.http, ids["captured_fleet_id"], group["id"])
        one.start()
        one.tells(b'{"v":1,"supervisor":{"version":"0.3.0"},"can":["capture"]}')
        one.applies()
        hosts.append(one)
    asked = {"instance_id": instance_id(hosts[0].uid), "pipeline": "logs", "component": "batch", "max_records": 1}
    ids["capture_id"] = world.call(world.admin, "POST", f"{fleet}/captures", 201, asked)["id"]
    hosts[0].captured(ids["capture_id"], OUTPUT)
    ids["open_capture_id"] = world.call(world.admin, "POST", f"{fleet}/captures", 201, asked)["id"]
    ids["capturing_id"] = instance_id(hosts[1].uid)


def _stopped_collector(world: World, host_name: str = "edge-1") -> str:
    """The id of a collector that has said that it stops."""
    fleet_id = world.ids["fleet_id"]
    leaving = agent(world.http, fleet_id, world.ids["deployment_id"], host_name)
    leaving.start()
    leaving.leaves()
    return instance_id(leaving.uid)


def _finished_run(world: World) -> str:
    """A run of a text, which only its creator and Admins see, with an output; its steps done here."""
    asked = {
        "yaml": YAML,
        "sample": "a line",
        "signal_type": "logs",
        "target_pipeline": "logs",
        "duration_seconds": 1,
        "rules": RULES,
        "trace": True,
    }
    run_id: str = world.call(world.admin, "POST", f"{PUBLIC}/testing/runs", 202, asked)["id"]
    steps = RunSteps()
    steps.prepare(run_id)
    leave_results(run_id, {CASE: OUTPUT})
    steps.record(run_id, steps.evaluate(run_id))
    traced = of_three_records()
    document = RecordedTrace(available=True, complete=True, items=traced["steps"])
    files.put(run_id, tracing.DOCUMENT, document.model_dump_json())
    return run_id


def finished_suite(world: World) -> str:
    """A suite of a text, which only its creator and Admins see; its steps done here."""
    test = {"name": "a", "sample": "a line", "target_pipeline": "logs", "duration_seconds": 1, "rules": RULES}
    asked = {"yaml": YAML, "tests": [test]}
    job_id: str = world.call(world.admin, "POST", f"{PUBLIC}/testing/suites", 201, asked)["id"]
    steps = JobSteps()
    steps.prepare(job_id)
    leave_results(job_id, {"a": OUTPUT})
    steps.record(job_id, steps.evaluate(job_id))
    return job_id


def finished_comparison(world: World) -> str:
    """A comparison of two texts, which only its creator and Admins see; its steps done here."""
    test = {"name": "a", "sample": "a line", "target_pipeline": "logs", "duration_seconds": 1}
    asked = {"left": {"yaml": YAML}, "right": {"yaml": YAML}, "tests": [test]}
    job_id: str = world.call(world.admin, "POST", f"{PUBLIC}/testing/comparisons", 201, asked)["id"]
    steps = JobSteps()
    steps.prepare(job_id)
    leave_results(job_id, {"left/a": OUTPUT, "right/a": OUTPUT})
    steps.record(job_id, steps.evaluate(job_id))
    return job_id


def finished_coverage(world: World) -> str:
    """A coverage job of a text, which only its creator and Admins see; its steps done here."""
    test = {"name": "a", "sample": "a line", "target_pipeline": "logs", "duration_seconds": 1, "rules": RULES}
    asked = {"yaml": YAML, "tests": [test]}
    job_id: str = world.call(world.admin, "POST", f"{PUBLIC}/testing/coverage", 201, asked)["id"]
    steps = JobSteps()
    steps.prepare(job_id)
    leave_results(job_id, {"a/original": OUTPUT, "a/again": OUTPUT})
    steps.record(job_id, steps.evaluate(job_id))
    return job_id


def leave_results(job_id: str, outputs: Mapping[str, str]) -> None:
    """What an honest test runner leaves of a job whose cases ran for a second: the output of each, by its id."""
    told = outcome(1).model_dump(mode="json")
    lines = [
        json.dumps({"id": id_, "outcome": told, "output": output, "stderr": ""}) for id_, output in outputs.items()
    ]
    files.put(job_id, "results", "".join(f"{line}\n" for line in lines))
