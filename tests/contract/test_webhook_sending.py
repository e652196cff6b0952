"""Sending over real TLS to receivers that misbehave, and to names that resolve to where nothing may be sent."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate.webhooks import addresses, sending
from headgate.webhooks.addresses import Address
from headgate.webhooks.sending import Sent
from tests.support import https_receiver, ports
from tests.support.https_receiver import HOST, Answer, Receiver

pytestmark = pytest.mark.contract

PUBLIC = "93.184.215.14"
# What an attempt may take where it has to end by its time, and otherwise, however slow the machine is.
SHORT, LONG = 3.0, 60.0


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiver]:
    folder = tmp_path_factory.mktemp("receiver")
    with https_receiver.receiving(folder, names=(HOST, "hooks.example.com")) as receiver:
        yield receiver


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch, receiver: Receiver) -> None:
    monkeypatch.setattr(sending, "SECONDS", LONG)
    receiver.answer, receiver.received = https_receiver.accept, []


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Names resolve to these addresses, one list a look-up. Returns the names that were looked up."""
    looked_up: list[str] = []

    def getaddrinfo(host: str, port: int, *_: object, **__: object) -> list[tuple[object, ...]]:
        found = answers[min(len(looked_up), len(answers) - 1)]
        looked_up.append(host)
        return [
            (socket.AF_INET6 if ":" in one else socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in found
        ]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return looked_up


def post(address: Address, *, loopback: bool = True) -> Sent:
    return sending.post(address, {"webhook-id": "evt_1"}, b'{"a": 1}', loopback=loopback)


def test_what_is_sent_arrives_with_its_headers(receiver: Receiver) -> None:
    sent = post(addresses.parse(receiver.url, loopback=True))
    (received,) = receiver.received

    assert (sent.status, sent.error) == (204, None)
    assert (received.id, received.body) == ("evt_1", b'{"a": 1}')
    assert received.headers["host"] == f"{HOST}:{receiver.port}"


@pytest.mark.parametrize(
    ("answer", "status", "error"),
    [
        (https_receiver.status(500, b"secret of the receiver"), 500, None),
        # The place is this receiver: it would get another request.
        (https_receiver.status(302, location="/elsewhere"), 302, None),
        (https_receiver.status(307, location="https://169.254.169.254/"), 307, None),
        (https_receiver.stall, None, "timeout"),
        (https_receiver.drip, None, "timeout"),
        (https_receiver.lie, None, "bad_response"),
        (https_receiver.hang_up, None, "bad_response"),
        (https_receiver.headers_without_end, None, "bad_response"),
        (https_receiver.flood, 200, None),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_receiver_that_misbehaves_gets_one_request_and_no_more_than_its_time(
    receiver: Receiver,
    answer: Answer,
    status: int | None,
    error: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sending, "SECONDS", SHORT if error == "timeout" else LONG)
    receiver.answer = answer
    sent = post(addresses.parse(receiver.url, loopback=True))

    assert (sent.status, sent.error) == (status, error)
    assert len(receiver.received) == 1


def test_a_name_server_that_stalls_takes_no_longer_than_the_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def slow(host: str, *_: object, **__: object) -> list[object]:
        asked.append(host)
        time.sleep(1)
        return []

    monkeypatch.setattr(sending, "SECONDS", 0.2)
    monkeypatch.setattr(socket, "getaddrinfo", slow)
    sent = post(Address("hooks.example.com", 443, "/"))

    assert (asked, sent.error) == (["hooks.example.com"], "timeout")


def test_a_name_that_does_not_exist_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert post(Address("hooks.example.com", 443, "/")).error == "name_not_resolved"


@pytest.mark.parametrize(
    "answers", [["127.0.0.1"], ["::1"], [PUBLIC, "127.0.0.1"], ["::ffff:127.0.0.1"], ["10.0.0.5"], ["169.254.169.254"]]
)
def test_nothing_is_sent_to_an_address_inside(
    receiver: Receiver, answers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, answers)
    sent = post(Address("hooks.example.com", receiver.port, "/"), loopback=False)

    assert (sent.status, sent.error, receiver.received) == (None, "address_not_allowed", [])


def test_a_name_that_changes_its_address_after_the_check_changes_nothing(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked up once an attempt, and the connection goes to what was checked."""
    connected: list[str] = []
    connect = socket.socket.connect

    def note(self: socket.socket, address: tuple[str, int]) -> None:
        connected.append(address[0])
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", note)
    looked_up = resolving(monkeypatch, ["127.0.0.1"], ["10.0.0.5"])
    first = post(Address("hooks.example.com", receiver.port, "/"))
    second = post(Address("hooks.example.com", receiver.port, "/"))

    assert (first.status, second.error) == (204, "address_not_allowed")
    assert looked_up == ["hooks.example.com"] * 2
    assert len(receiver.received) == 1


def test_the_certificate_must_be_for_the_name(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["127.0.0.1"])

    assert post(Address("hooks.example.com", receiver.port, "/")).status == 204
    assert post(Address("other.example.com", receiver.port, "/")).error == "tls_failed"


def test_the_certificate_must_be_of_a_known_authority(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, receiver: Receiver
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    sending._trust.cache_clear()
    sent = post(addresses.parse(receiver.url, loopback=True))
    monkeypatch.undo()
    sending._trust.cache_clear()

    assert (sent.error, receiver.received) == ("tls_failed", [])


def test_a_port_where_nobody_listens_is_told() -> None:
    assert post(Address(HOST, ports.free_port(), "/")).error == "connection_failed"
