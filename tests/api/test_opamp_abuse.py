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
from headgate.foundation.hashing import hash_of
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.instances import store
from headgate.opamp import pace, scan
from headgate.opamp.messages import MAX_MESSAGE_BYTES
from headgate.storage import aws, items
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, make_fleet, now
from tests.support.members import Member

__all__ = ["ann", "fleet", "now"]


EMPTY = b"\x12\x00"
MESSAGE = wire.AgentToServer(instance_uid=b"x" * 16).SerializeToString()


def field(number: int, content: bytes) -> bytes:
    return scan._message(number, content)


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
    wrong = [" ", "nonsense", new_id("dep"), new_id("flt"), other.deployment_id, fleet.deployment_id.upper()]
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
    value = b""
    for _ in range(2_000):
        value = field(5, field(1, value))
    body = MESSAGE + field(3, field(1, field(2, value)))

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
    assert len(str(seen["state_message"])) == 300


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


@examples(max_examples=120, suppress_health_check=list(HealthCheck))
@given(message=MESSAGES, flips=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=3))
def test_no_bytes_bring_the_service_down(
    fleet: Fleet, message: wire.AgentToServer, flips: list[tuple[int, int]]
) -> None:
    body = bytearray(message.SerializeToString())
    for place, value in flips:
        if body:
            body[place % len(body)] = value

    assert fleet.post(bytes(body)).status_code in (200, 400)


@examples(max_examples=30, suppress_health_check=list(HealthCheck))
@given(messages=st.lists(MESSAGES, min_size=1, max_size=6))
def test_no_sequence_of_messages_breaks_an_instance_or_its_count(
    fleet: Fleet, messages: list[wire.AgentToServer]
) -> None:
    pace._instances = pace.SenderPace()
    for message in messages:
        message.instance_uid = b"one agent's uid!"
        assert fleet.post(message.SerializeToString()).status_code == 200

    # One that asks for a uid, or is found to be two, is none yet.
    if fleet.instances():
        fleet.state()


@pytest.mark.parametrize(
    "body",
    [
        field(3, EMPTY * 1_900_000),
        field(3, EMPTY * 2_000),
        field(3, field(1, b"\x0a\x09host.name" + field(2, field(5, field(1, b"") * 1_000_000)))),
        field(5, field(6, b"") * 1_000_000),
        field(9, b"") * 1_000_000,
        b"\x18\x01" * 1_000_000,
        field(99, b"") * 1_000_000,
        b"\x0b" * 1_000_000,
        b"\xff" * 1_000_000,
    ],
    ids=["attributes", "more attributes", "list", "health", "repeated", "numbers", "unknown", "groups", "varint"],
)
def test_nothing_is_built_of_a_message_of_many_parts(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    response = fleet.post(gzip.compress(MESSAGE + body), **{"content-encoding": "gzip"})

    assert (response.status_code, response.json()["code"]) == (400, "not_opamp")
    with pytest.raises(scan.Malformed):
        scan.needed(MESSAGE + body)


def test_what_is_not_read_of_a_message_is_not_built(fleet: Fleet) -> None:
    """The configuration, the packages and the health of each component, which a supervisor may send in thousands."""
    most = scan.MOST_PARTS
    message = fleet.agent().full()
    message.effective_config.config_map.config_map["a"].body = b"x" * 1_000_000
    for n in range(3_000):
        message.health.component_health_map[f"{n}"].healthy = True
        message.available_components.components[f"{n}"].metadata.add().key = "k"

    needed = wire.AgentToServer.FromString(scan.needed(message.SerializeToString()))

    assert fleet.post(message.SerializeToString()).status_code == 200
    assert len(needed.health.component_health_map) == most + 1
    assert needed.ByteSize() < 1_000 + 20 * most
    assert (needed.health.healthy, needed.agent_description) == (True, message.agent_description)


def test_a_token_that_sends_too_much_is_told_when_to_send_it_again_and_nothing_is_read(
    fleet: Fleet, ann: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_fleet(ann, label="Other")
    fleet.agent().start()
    monkeypatch.setattr(pace, "_of_token", lambda: (0.001, 3.0))
    monkeypatch.setattr(pace, "_tokens", pace.SenderPace())
    agents = [fleet.agent(host_name=f"h{n}") for n in range(3)]
    statuses = [fleet.post(agent.full().SerializeToString()).status_code for agent in agents]
    monkeypatch.setattr(aws, "dynamodb", lambda: pytest.fail("a table was asked"))
    refused = fleet.post(b"")
    # Blanks do not make it another token.
    headers = {"authorization": f"Bearer   {fleet.token}", "x-deployment-id": fleet.deployment_id}
    blanks = fleet.http.post("/v1/opamp", content=b"", headers=headers)
    monkeypatch.undo()

    assert statuses == [200, 200, 200]
    assert blanks.status_code == 429
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_messages")
    assert 1 <= int(refused.headers["retry-after"]) <= 301
    assert other.agent().start().instance_uid


def test_an_instance_that_sends_too_much_is_429_and_others_of_its_fleet_are_not(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "OF_INSTANCE", (0.001, 3.0))
    busy, quiet = fleet.agent(), fleet.agent(host_name="quiet")
    busy.start()
    statuses = [fleet.post(busy.message().SerializeToString()).status_code for _ in range(3)]

    assert statuses == [200, 200, 429]
    assert fleet.post(quiet.full().SerializeToString()).status_code == 200
