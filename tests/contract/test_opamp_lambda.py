"""The fleet service as Lambda runs it: real events in, several processes at once, its faults and its log."""

import base64
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from headgate.deployments import service as deployments
from headgate.fleets import tokens
from headgate.fleets.model import Fleet
from headgate.foundation import clock
from headgate.foundation.caller import Caller
from headgate.foundation.principal import Principal
from headgate.foundation.settings import settings
from headgate.identity import service as identity
from headgate.identity import signing
from headgate.instances import store
from headgate.instances.counting import fleets as counting
from headgate.storage import aws
from headgate_local import aws_server, moto_patches, template
from headgate_local.moto_data import MotoData
from headgate_opamp import opamp_pb2 as wire
from tests.support.lambda_runtime import LambdaFunction, started
from tests.support.opamp_agent import Agent
from tests.support.signing_host import signed

ROOT = Path(__file__).parents[2]
PROCESSES = 4


@dataclass(frozen=True)
class Stack:
    """A fleet in moto's tables, and processes of the function in front of them."""

    fleet: Fleet
    functions: list[LambdaFunction]

    def event(self, body: bytes, *, token: str | None = None, **more: str) -> dict[str, object]:
        """As an HTTP API makes one of a protobuf body: in base64."""
        headers = {
            "host": "example.execute-api.us-east-1.amazonaws.com",
            "content-type": "application/x-protobuf",
            "authorization": f"Bearer {token or tokens.value_of(self.fleet.id, 1)}",
            "x-deployment-id": str(self.fleet.default_deployment_id),
            **more,
        }
        http = {"method": "POST", "path": "/v1/opamp", "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1", "userAgent": ""}
        return {
            "version": "2.0",
            "routeKey": "ANY /v1/opamp",
            "rawPath": "/v1/opamp",
            "rawQueryString": "",
            "headers": headers,
            "requestContext": {"http": http, "requestId": "r", "stage": "$default", "domainName": headers["host"]},
            "body": base64.b64encode(body).decode(),
            "isBase64Encoded": True,
        }

    def post(self, body: bytes, function: int = 0) -> bytes:
        answer = self.functions[function].invoke(self.event(body))
        assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, True)
        return base64.b64decode(str(answer["body"]))


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("lambda")
    layer = packages(folder / "layer" / "python")
    with pytest.MonkeyPatch.context() as monkeypatch, ExitStack() as stack:
        stack.enter_context(aws_server.running())
        described = template.read()
        environment = described.environment() | {"HEADGATE_FLEET_ENDPOINT": "https://fleet.example"}
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        settings.cache_clear()
        aws.forget_clients()
        signing.signing_key.cache_clear()
        data = MotoData(described.tables(), described.buckets())
        stack.enter_context(moto_patches.installed(data, save=lambda _: None))
        for table in described.tables():
            aws.dynamodb().create_table(**table.definition)
        environment |= {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
        functions = [
            stack.enter_context(
                started(
                    "opamp.app.handler",
                    code=ROOT / "functions",
                    layers=[layer.parent],
                    environment=environment,
                    folder=tmp_path_factory.mktemp(f"function-{number}"),
                )
            )
            for number in range(PROCESSES)
        ]
        yield Stack(deployments.create_fleet(caller(), "Edge", "server-supervisor", "never"), functions)
    aws.forget_clients()
    settings.cache_clear()


def packages(into: Path) -> Path:
    """What the layer of the dependencies holds, by links."""
    into.mkdir(parents=True)
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        (into / entry.name).symlink_to(entry)
    (into / "headgate").symlink_to(ROOT / "shared" / "headgate")
    (into / "headgate_engine").symlink_to(ROOT / "engine" / "headgate_engine")
    (into / "headgate_opamp").symlink_to(ROOT / "shared" / "headgate_opamp")
    return into


def caller() -> Caller:
    organization = identity.create_organization("Acme")
    return Caller(
        organization_id=organization.id,
        organization_name="Acme",
        principal=Principal("service_account", "sva_x", "ci"),
        name="ci",
        role="contributor",
        access="read_write",
        credential_id="tok_x",
    )


def test_an_agent_is_answered_in_protobuf(stack: Stack) -> None:
    agent = Agent(stack.post)
    answer = agent.start()

    assert answer.instance_uid == agent.uid
    assert 10 <= answer.connection_settings.opamp.heartbeat_interval_seconds <= 30
    assert agent.config == b""


def test_a_refusal_is_a_problem_in_plain_text(stack: Stack) -> None:
    answer = stack.functions[0].invoke(stack.event(b"x", token="ft_" + "A" * 43))

    assert (answer["statusCode"], answer["isBase64Encoded"]) == (401, False)
    assert json.loads(str(answer["body"]))["code"] == "unauthenticated"


def test_one_instance_is_made_by_several_processes_at_once(stack: Stack) -> None:
    agent = Agent(stack.post)
    body = agent.full().SerializeToString()

    def posts(function: int) -> None:
        for _ in range(10):
            stack.post(body, function)

    before = total(stack)
    with ThreadPoolExecutor(PROCESSES) as pool:
        list(pool.map(posts, range(PROCESSES)))

    assert total(stack) == before + 1


def test_many_agents_of_several_processes_are_counted_exactly(stack: Stack) -> None:
    before = total(stack)

    def lives(function: int) -> None:
        for _ in range(8):
            agent = Agent(lambda body: stack.post(body, function))
            agent.start()
            agent.report(wire.RemoteConfigStatuses_APPLIED)

    with ThreadPoolExecutor(PROCESSES) as pool:
        list(pool.map(lives, range(PROCESSES)))
    (fleet,) = counting.counted([stack.fleet], clock.now())

    assert fleet.total == before + 8 * PROCESSES
    assert fleet.instances["idle"] >= 8 * PROCESSES


def test_of_two_keys_that_register_in_two_processes_at_once_one_is_the_hosts(stack: Stack) -> None:
    token, group = tokens.value_of(stack.fleet.id, 1), str(stack.fleet.default_deployment_id)
    uids = [Agent(stack.post).uid for _ in range(6)]

    def starts(function: int) -> list[bytes]:
        """The ids that the processes of this key have after their first message."""
        key = SigningKey.generate()
        after = []
        for uid in uids:
            body = Agent(stack.post, uid=uid).full().SerializeToString()
            header = {"x-host-signature": signed(key, token, group, "1.1", body)}
            answer = stack.functions[function].invoke(stack.event(body, **header))
            assert answer["statusCode"] == 200, answer
            told = wire.ServerToAgent.FromString(base64.b64decode(str(answer["body"])))
            after.append(told.agent_identification.new_instance_uid or uid)
            again = stack.functions[(function + 1) % PROCESSES].invoke(stack.event(body, **header))
            # Another process knows what the first one has stored.
            assert again["statusCode"] == (403 if after[-1] == uid else 200)
        return after

    before = total(stack)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(starts, (0, 2))

    assert [(one == uid) + (two == uid) for uid, one, two in zip(uids, first, second, strict=True)] == [1] * len(uids)
    assert total(stack) == before + len(uids)


def test_the_function_starts_without_the_web_framework(stack: Stack) -> None:
    script = "import sys, opamp.app; print(sorted({'fastapi', 'pydantic', 'uvicorn', 'nacl'} & set(sys.modules)))"
    path = os.pathsep.join(str(ROOT / folder) for folder in ("shared", "engine", "functions"))
    variables = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=variables)
    assert done.stdout.strip() == "[]"


def test_the_client_of_the_tables_exists_before_the_first_message(stack: Stack) -> None:
    script = "import opamp.app; from headgate.storage import aws; print(len(aws._clients))"
    path = os.pathsep.join(str(ROOT / folder) for folder in ("shared", "engine", "functions"))
    variables = {**os.environ, "PYTHONPATH": path, "AWS_LAMBDA_FUNCTION_NAME": "opamp"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=variables)
    assert done.stdout.strip() == "1"


def test_a_heartbeat_without_news_leaves_no_line_in_the_log(stack: Stack) -> None:
    function = stack.functions[0]

    agent = Agent(stack.post, host_name="quiet")
    agent.start()
    agent.applies()
    agent.heartbeat()
    before = requests_in(function)
    agent.heartbeat()
    assert requests_in(function) == before
    agent.says_health(healthy=False, error="the exporter's queue is full")
    assert requests_in(function) == before + 1


def requests_in(function: LambdaFunction) -> int:
    return function.log.read_text().count('"message":"request"')


def total(stack: Stack) -> int:
    return store.census(stack.fleet.id).total(clock.now())
