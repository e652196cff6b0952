"""The real collector under supervision: killed, stopped and starved of memory while sixteen clients ask it."""

import os
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from headgate.checker import Checker
from headgate.foundation.settings import settings
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import Limits
from tests.support import processes, sizes
from tests.support.askers import ASKER
from tests.support.service import Service, running_service

RECEIVER = "receivers: {otlp: {protocols: {grpc: {}}}}\n"
REST = "exporters: {debug: {}}\nservice: {pipelines: {logs: {receivers: [otlp], exporters: [debug]}}}\n"
EXPECTED = {
    RECEIVER + REST: True,
    RECEIVER + "processors: {batch: {send_batch_size: 1}}\n" + REST: True,
    RECEIVER.replace("grpc", "grcp") + REST: False,
    RECEIVER + REST.replace("[debug]", "[nothing]"): False,
    "receivers:\n\totlp:\n": False,
}

# Seconds that each client waits between two questions.
PAUSE = sizes.either(0.6, 0)
# Each client gets so many at least, however slow the machine is.
GOOD_ANSWERS = sizes.either(5, 10)

pytestmark = [pytest.mark.contract, pytest.mark.collector]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture
def checker() -> Iterator[Checker]:
    installed = Installed(Path(settings().collectors_dir))
    made = Checker(installed, settings().collector_version, Limits(processes=1, recycle_calls=200))
    yield made
    made.close()


def check_processes(of: int) -> list[int]:
    """The check processes of the default version that the process `of` started.

    Names that a text has wrong are looked for in the schemas of other installed versions, by processes of theirs.
    """
    program = f"/{settings().collector_version}/otelcol-contrib"
    commands = {pid: processes.command_line(pid) for pid in processes.children(of, "check")}
    return [pid for pid, command in commands.items() if "check" in command and command[0].endswith(program)]


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)


def starve(pid: int) -> None:
    """Leave it a megabyte. As the user that it runs as: root itself may lack the right to another's limits."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        user, group = process.uids().real, process.gids().real
        command = ["prlimit", f"--pid={pid}", f"--data={1 << 20}"]
        done = subprocess.run(command, user=user, group=group, capture_output=True, check=False)
        assert done.returncode == 0 or processes.has_ended(pid)


@contextmanager
def tormented(service: Service, harms: list[Callable[[int], None]], pause: float) -> Iterator[None]:
    """Do each harm to one of the service's check processes, one after the other, while the block runs."""
    over = threading.Event()

    def torment() -> None:
        for harm in harms:
            time.sleep(pause)
            # One that died is replaced at the next question, of which there are none once the block is over.
            while not (pids := check_processes(service.pid)):
                if over.wait(0.01):
                    return
            with suppress(ProcessLookupError):
                harm(pids[0])

    tormentor = threading.Thread(target=torment)
    tormentor.start()
    try:
        yield
    finally:
        over.set()
        tormentor.join()


@pytest.mark.sized
@pytest.mark.parametrize(
    ("harms", "pause", "seconds"),
    [
        pytest.param([kill] * sizes.either(6, 30), 0.1, sizes.either(3, 8), id="killed"),
        pytest.param([starve] * 20, 0.2, 8, id="starved of memory", marks=pytest.mark.full),
        pytest.param([stop, kill, stop, starve, stop], 0.5, 25, id="stopped", marks=pytest.mark.full),
    ],
)
def test_sixteen_clients_get_the_right_verdict_or_503_and_the_service_recovers(
    service: Service, harms: list[Callable[[int], None]], pause: float, seconds: float
) -> None:
    until = time.monotonic() + seconds
    wrong: list[object] = []

    def client(number: int) -> Counter[int]:
        statuses: Counter[int] = Counter()
        with service.client() as http:
            texts = list(EXPECTED.items())
            texts = texts[number % len(texts) :] + texts[: number % len(texts)]
            while time.monotonic() < until or statuses[200] < GOOD_ANSWERS:
                for yaml, valid in texts:
                    answer = http.post("/validate", json={"yaml": yaml})
                    statuses[answer.status_code] += 1
                    if answer.status_code == 200 and answer.json()["valid"] is not valid:
                        wrong.append((yaml, answer.json()))
                    if answer.status_code == 503 and "not checked" not in answer.json()["detail"]:
                        wrong.append((yaml, answer.json()))
                    # While the checker is down, each question starts the collector.
                    time.sleep(PAUSE)
        return statuses

    with tormented(service, harms, pause), ThreadPoolExecutor(16) as clients:
        statuses = sum(clients.map(client, range(16)), Counter())

    assert wrong == []
    assert set(statuses) <= {200, 503}
    with service.client() as http:
        for yaml, valid in EXPECTED.items():
            assert http.post("/validate", json={"yaml": yaml}).json()["valid"] is valid
        # After the last harm the plain command may answer for a while; then a checker does again.
        while not check_processes(service.pid):
            http.post("/validate", json={"yaml": yaml}).raise_for_status()
    assert len(check_processes(service.pid)) <= (os.cpu_count() or 1)


@pytest.mark.sized
def test_it_is_replaced_in_time_to_keep_its_memory_bounded(checker: Checker) -> None:
    seen: set[int] = set()
    most = 0.0
    for _ in range(sizes.either(700, 2_000)):
        checker.call("validate", {"yaml": RECEIVER + REST, "env": {}}, asker=ASKER)
        seen.update(checker.pids())
        most = max(most, *(processes.resident_bytes(pid) / 1e6 for pid in checker.pids()))
        if len(seen) > 1 and not sizes.FULL:
            break

    assert len(seen) > sizes.either(1, 5)
    assert most < 1_000


@pytest.mark.parametrize(("yaml", "valid"), EXPECTED.items())
def test_the_plain_command_behind_it_gives_the_same_verdict(checker: Checker, yaml: str, valid: bool) -> None:
    assert checker.call("validate", {"yaml": yaml, "env": {}}, asker=ASKER)["valid"] is valid
    assert checker.validate_plainly(yaml, {}, asker=ASKER).valid is valid


def test_it_sees_no_variable_but_the_requests(checker: Checker) -> None:
    yaml = RECEIVER.replace("{}", "{endpoint: '${env:ENDPOINT}'}") + REST

    named = checker.call("validate", {"yaml": yaml, "env": {"ENDPOINT": "localhost:4317"}}, asker=ASKER)
    unnamed = checker.call("validate", {"yaml": yaml, "env": {}}, asker=ASKER)

    assert (named["valid"], named["warnings"]) == (True, [])
    assert unnamed["warnings"] != []
    (pid,) = checker.pids()
    assert Path(f"/proc/{pid}/environ").read_bytes() == b""
