"""Webhooks of the running service: its queue ends with it, the table and the key do not."""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support import https_receiver
from tests.support.cli_support import Founder
from tests.support.https_receiver import Receiver
from tests.support.local_service import LocalService

pytestmark = pytest.mark.end_to_end

PATIENCE_SECONDS = 300


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[Receiver]:
    with https_receiver.receiving(tmp_path) as receiver:
        yield receiver


@pytest.fixture
def service(tmp_path: Path, receiver: Receiver) -> Iterator[LocalService]:
    environment = {"HEADGATE_WEBHOOKS_TO_LOOPBACK": "yes", "SSL_CERT_FILE": str(tmp_path / "authority.pem")}
    service = LocalService(tmp_path / "data", **environment)
    service.start()
    yield service
    service.stop()


def until(status: str, admin: httpx.Client, path: str) -> dict[str, object]:
    """The delivery once it has this status."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        delivery: dict[str, object] = admin.get(path).json()
        if delivery["status"] == status and (status != "waiting" or delivery["attempts"]):
            return delivery
        assert time.monotonic() < deadline, delivery
        time.sleep(0.2)


def test_a_delivery_is_tried_again_after_the_service_was_killed(service: LocalService, receiver: Receiver) -> None:
    receiver.answer = https_receiver.status(503)
    _, admin = Founder(service).admin("Acme")
    made = admin.post("/webhooks", json={"name": "on-call", "url": receiver.url}).json()
    sent = admin.post(f"/webhooks/{made['id']}/test").json()
    path = f"/webhooks/{made['id']}/deliveries/{sent['id']}"
    until("waiting", admin, path)
    service.kill9()
    receiver.answer = https_receiver.accept
    service.start()
    delivery = until("delivered", admin, path)

    attempts = delivery["attempts"]
    assert isinstance(attempts, list)
    assert attempts[0]["status"] == 503
    assert attempts[-1]["status"] == 204
    assert set(receiver.times()) == {sent["event_id"]}
    assert all(https_receiver.verified(one, made["secret"]) == [True] for one in receiver.received)
