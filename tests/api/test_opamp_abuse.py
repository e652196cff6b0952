"""What the fleet service answers to those who may not ask, and to bytes that are not a message."""

import gzip
import logging
import zlib

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from headgate.fleets import keys, tokens
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.identity.hashing import hash_of
from headgate.instances import store
from headgate.opamp.wire import opamp_pb2 as wire
from headgate.settings import settings
from headgate.storage import aws, items
from opamp.app import MAX_MESSAGE_BYTES
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, make_fleet, now
from tests.support.members import Member

__all__ = ["ann", "fleet", "now"]


def hello(fleet: Fleet) -> bytes:
    return fleet.agent().full().SerializeToString()


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer ", "Basic ft_x", "Bearer ft_x", "Bearer sv_" + "A" * 43, "Bearer ft_" + "A" * 43, "ft_x"],
)
def test_a_credential_that_is_not_a_fleet_token_is_401(fleet: Fleet, authorization: str) -> None:
    headers = {"authorization": authorization, "x-deployment-id": fleet.deployment_id}
    response = fleet.http.post("/v1/opamp", content=hello(fleet), headers=headers)

    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["request_id"] == response.headers["x-request-id"]


def test_a_credential_is_refused_before_what_is_wrong_with_the_message(fleet: Fleet) -> None:
    assert fleet.post(b"\xff", token="ft_" + "A" * 43).status_code == 401
    fleet.agent().start()
    key = items.marshal(keys.token(hash_of(fleet.token)))
    aws.dynamodb().delete_item(TableName=settings().fleets_table, Key=key)
    assert fleet.post(b"\xff").status_code == 401


def test_a_deleted_token_stops_at_once(fleet: Fleet) -> None:
    agent = fleet.agent()
    agent.start()
    key = items.marshal(keys.token(hash_of(fleet.token)))
    aws.dynamodb().delete_item(TableName=settings().fleets_table, Key=key)

    assert fleet.post(agent.message().SerializeToString()).status_code == 401


def test_a_token_stops_when_it_expires(fleet: Fleet, now: Clock) -> None:
    agent = fleet.agent()
    agent.start()
    expires = clock.rfc3339(now.at)
    aws.dynamodb().update_item(
        TableName=settings().fleets_table,
        Key=items.marshal(keys.token(hash_of(fleet.token))),
        UpdateExpression="SET expires_at = :at",
        ExpressionAttributeValues=items.marshal({":at": expires}),
    )

    assert fleet.post(agent.message().SerializeToString()).status_code == 401
    now.moves(seconds=-1)
    assert fleet.post(agent.message().SerializeToString()).status_code == 200


def test_a_token_of_another_generation_is_401(fleet: Fleet) -> None:
    assert fleet.post(hello(fleet), token=tokens.value_of(fleet.id, 2)).status_code == 401


def test_every_wrong_group_is_refused_alike(fleet: Fleet, ann: Member) -> None:
    other = make_fleet(ann, label="Other")
    wrong = ["", "nonsense", new_id("dep"), new_id("flt"), other.deployment_id, fleet.deployment_id.upper()]
    answers = [
        fleet.http.post(
            "/v1/opamp",
            content=hello(fleet),
            headers={"authorization": f"Bearer {fleet.token}", "x-deployment-id": group},
        )
        for group in wrong
    ]

    assert [answer.status_code for answer in answers] == [403] * len(wrong)
    assert len({answer.json()["detail"] for answer in answers}) == 1
    assert other.instances() == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"{}",
        wire.AgentToServer(instance_uid=b"short").SerializeToString(),
        wire.AgentToServer(instance_uid=b"\0" * 16).SerializeToString(),
        wire.AgentToServer(instance_uid=b"u" * 17).SerializeToString(),
        # A text that is not UTF-8.
        b"\x0a\x10uuuuuuuuuuuuuuuu\x3a\x04\x1a\x02\xff\xff",
    ],
)
def test_what_is_not_a_message_is_400(fleet: Fleet, body: bytes) -> None:
    response = fleet.post(body)

    assert (response.status_code, response.json()["code"]) == (400, "not_opamp")


def test_a_message_nested_without_end_is_400(fleet: Fleet) -> None:
    # By hand: the library refuses to write what it would refuse to read.
    health = b""
    for _ in range(2_000):
        entry = b"\x12" + _varint(len(health)) + health
        health = b"\x32" + _varint(len(entry)) + entry
    body = b"\x0a\x10" + b"u" * 16 + b"\x2a" + _varint(len(health)) + health

    assert fleet.post(body).status_code == 400


def test_other_methods_are_405(fleet: Fleet) -> None:
    for method in ("GET", "PUT", "DELETE", "OPTIONS", "HEAD"):
        response = fleet.http.request(method, "/v1/opamp")
        assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_a_message_may_be_packed(fleet: Fleet) -> None:
    response = fleet.post(gzip.compress(hello(fleet)), **{"content-encoding": "gzip"})

    assert response.status_code == 200
    assert len(fleet.instances()) == 1


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"not gzip", "gzip"),
        (gzip.compress(b"x")[:-3], "gzip"),
        (gzip.compress(b"x") + b"more", "gzip"),
        (zlib.compress(b"x"), "gzip"),
        (b"x", "br"),
        (b"", "gzip"),
    ],
)
def test_what_cannot_be_unpacked_is_400(fleet: Fleet, body: bytes, encoding: str) -> None:
    response = fleet.post(body, **{"content-encoding": encoding})

    assert (response.status_code, response.json()["code"]) == (400, "unsupported_encoding")


def test_a_message_over_the_limit_is_413_packed_or_not(fleet: Fleet) -> None:
    assert fleet.post(b"\0" * (MAX_MESSAGE_BYTES + 1)).status_code == 413
    bomb = gzip.compress(b"\0" * 16 * MAX_MESSAGE_BYTES, 1)
    assert len(bomb) < MAX_MESSAGE_BYTES / 8
    assert fleet.post(bomb, **{"content-encoding": "gzip"}).status_code == 413


def test_the_effective_configuration_may_be_large_and_is_not_kept(fleet: Fleet) -> None:
    agent = fleet.agent()
    message = agent.full()
    message.effective_config.config_map.config_map[""].body = b"password: hunter2 # " + b"x" * 3_000_000
    agent.send(message)

    everything = aws.dynamodb().scan(TableName=settings().fleets_table)["Items"]
    assert "hunter2" not in str(everything)


def test_long_texts_are_cut(fleet: Fleet) -> None:
    agent = fleet.agent(host_name="h" * 10_000)
    agent.start()
    agent.report(wire.RemoteConfigStatuses_FAILED, "e" * 100_000)
    agent.says_health(healthy=False, error="i" * 100_000)

    (seen,) = fleet.instances()
    assert len(str(seen["host_name"])) == 255
    assert len(str(seen["state_message"])) == 2_000


@pytest.mark.parametrize(
    "fault",
    [
        EndpointConnectionError(endpoint_url="https://dynamodb.example"),
        ClientError({"Error": {"Code": "ProvisionedThroughputExceededException", "Message": "secret"}}, "BatchGetItem"),
        ClientError({"Error": {"Code": "InternalServerError", "Message": "secret"}}, "BatchGetItem"),
    ],
)
def test_a_passing_fault_is_503_with_a_time_to_come_back(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    agent = fleet.agent()
    agent.start()

    def fails(*_: object) -> None:
        raise fault

    monkeypatch.setattr(store, "sender", fails)
    response = fleet.post(agent.message().SerializeToString())

    assert response.status_code == 503
    assert 5 <= int(response.headers["retry-after"]) <= 20
    assert "secret" not in response.text


def test_nothing_secret_is_logged(fleet: Fleet, caplog: pytest.LogCaptureFixture) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    caplog.set_level(logging.DEBUG)
    agent.start()
    agent.report(wire.RemoteConfigStatuses_FAILED, "password: hunter2")
    fleet.post(b"\xff", token="ft_" + "S" * 43)
    lines = [vars(record) for record in caplog.records]

    assert {"instance_state", "request"} <= {line["msg"] for line in lines}
    for secret in (fleet.token, "hunter2", "S" * 43):
        assert secret not in str(lines)


SOME_BYTES = st.binary(max_size=40)
MESSAGES = st.builds(
    wire.AgentToServer,
    instance_uid=st.one_of(st.binary(min_size=16, max_size=16), SOME_BYTES),
    sequence_num=st.one_of(st.integers(0, 5), st.integers(0, 2**64 - 1)),
    capabilities=st.integers(0, 2**64 - 1),
    flags=st.integers(0, 2**64 - 1),
    health=st.builds(wire.ComponentHealth, healthy=st.booleans(), last_error=st.text(max_size=20)),
    remote_config_status=st.one_of(
        st.none(),
        st.builds(
            wire.RemoteConfigStatus,
            last_remote_config_hash=st.binary(max_size=80),
            status=st.integers(-1, 6),
            error_message=st.text(max_size=20),
        ),
    ),
    agent_description=st.one_of(st.none(), st.just(wire.AgentDescription())),
)


@examples(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(message=MESSAGES, flips=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=3))
def test_no_bytes_bring_the_service_down(
    fleet: Fleet, message: wire.AgentToServer, flips: list[tuple[int, int]]
) -> None:
    body = bytearray(message.SerializeToString())
    for place, value in flips:
        if body:
            body[place % len(body)] = value

    assert fleet.post(bytes(body)).status_code in (200, 400)


@examples(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(messages=st.lists(MESSAGES, min_size=1, max_size=6))
def test_no_sequence_of_messages_breaks_an_instance_or_its_count(
    fleet: Fleet, messages: list[wire.AgentToServer]
) -> None:
    for message in messages:
        message.instance_uid = b"one agent's uid!"
        assert fleet.post(message.SerializeToString()).status_code == 200

    # One that asks for a uid, or is found to be two, is none yet.
    if fleet.instances():
        fleet.state()


def _varint(number: int) -> bytes:
    packed = bytearray()
    while number > 127:
        packed.append(number & 127 | 128)
        number >>= 7
    return bytes([*packed, number])
