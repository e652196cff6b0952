"""What the programs that the local service starts inherit of its signals."""

import signal
import socket
import subprocess
from collections.abc import Iterator

import pytest

from headgate_local import service


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


async def application(*_: object) -> None:
    raise AssertionError("no request is made")


def test_a_program_that_is_started_while_the_service_begins_to_serve_can_be_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[int] = []

    class Beginning:
        """Stands where the server has not yet set its own handlers."""

        def __init__(self, *_: object) -> None:
            pass

        def run(self, **_: object) -> None:
            with subprocess.Popen(["sleep", "60"]) as program:
                program.terminate()
                ended.append(program.wait(timeout=60))

    monkeypatch.setattr(service, "_Server", Beginning)
    with socket.socket() as listener:
        service._serve(application, listener, lambda: None)

    assert ended == [-signal.SIGTERM]
