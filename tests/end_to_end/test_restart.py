"""What was acknowledged is there after any end of the service, and nothing is there by half."""

import base64
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from headgate.foundation.settings import settings
from tests.support import cli_forked, sizes
from tests.support.local_service import LocalService
from tests.support.ports import free_port
from tests.support.service import ROOT, running_service

pytestmark = pytest.mark.end_to_end

WRITERS = 16
# Versions of one configuration before each kill, by eight clients that race for each number.
APPENDED = sizes.either(12, 40)
KILLS = sizes.either(1, 2)


@dataclass
class Written:
    """What one configuration must hold: by version, every text that was sent and the last one acknowledged."""

    acknowledged: dict[int, str] = field(default_factory=dict)
    published: set[int] = field(default_factory=set)
    sent: set[str] = field(default_factory=set)


@dataclass
class Ledger:
    """What the writers were told, for one configuration and its one writer each."""

    configurations: dict[str, Written] = field(default_factory=lambda: defaultdict(Written))
    sent_first: set[str] = field(default_factory=set)
    acknowledgements: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    stop: threading.Event = field(default_factory=threading.Event)


def text(writer: random.Random, *, large: bool) -> str:
    """A text unlike any other; a large one does not compress into an item, so it goes to the bucket."""
    return f"# {writer.random()}\n" + (base64.b64encode(writer.randbytes(500_000)).decode() if large else "a: b\n")


def write_until_the_service_is_gone(service: LocalService, ledger: Ledger, number: int) -> None:
    writer = random.Random(number)
    with service.client() as client:
        try:
            while not ledger.stop.is_set():
                write_one_configuration(client, ledger, writer, large=number < 2)
        except httpx.TransportError:
            return


def write_one_configuration(client: httpx.Client, ledger: Ledger, writer: random.Random, *, large: bool) -> None:
    first = text(writer, large=large)
    ledger.sent_first.add(first)
    created = client.post("/configurations", json={"name": "kept", "yaml": first})
    assert created.status_code == 201, created.text
    path = f"/configurations/{created.json()['id']}"
    written = ledger.configurations[created.json()["id"]]
    written.sent.add(first)
    written.acknowledged[1] = first
    ledger.acknowledgements.release()
    for n in (2, 3):
        added = text(writer, large=False)
        written.sent.add(added)
        response = client.post(f"{path}/versions", json={"yaml": added})
        assert (response.status_code, response.json().get("n")) == (201, n), response.text
        written.acknowledged[n] = added
        ledger.acknowledgements.release()
    edited = text(writer, large=False)
    written.sent.add(edited)
    response = client.patch(f"{path}/versions/2", json={"yaml": edited})
    assert response.status_code == 200, response.text
    written.acknowledged[2] = edited
    response = client.post(f"{path}/versions/2/publish")
    assert response.status_code == 200, response.text
    written.published.add(2)
    ledger.acknowledgements.release()


def every(client: httpx.Client, path: str) -> Iterator[dict[str, object]]:
    cursor: dict[str, str] = {}
    while True:
        response = client.get(path, params={"limit": "100", **cursor})
        assert response.status_code == 200, response.text
        page = response.json()
        yield from page["items"]
        if page["next_cursor"] is None:
            return
        cursor = {"cursor": page["next_cursor"]}


def holds_what_was_written(client: httpx.Client, ledger: Ledger) -> None:
    found = {str(entry["id"]): entry for entry in every(client, "/configurations")}
    assert set(ledger.configurations) <= set(found)
    for identifier, entry in found.items():
        written = ledger.configurations.get(identifier, Written(sent=ledger.sent_first))
        versions = {
            int(str(version["n"])): version for version in every(client, f"/configurations/{identifier}/versions")
        }
        assert sorted(versions) == list(range(1, int(str(entry["latest_version"])) + 1))
        assert set(written.acknowledged) <= set(versions)
        published = {n for n, version in versions.items() if version["status"] == "published"}
        assert written.published <= published
        assert entry["published_version"] == max(published, default=None)
        for n in versions:
            stored = client.get(f"/configurations/{identifier}/versions/{n}").json()["yaml"]
            assert stored in written.sent
            # Version 2 is the one that is edited: its edit may have been made and not been acknowledged.
            assert n == 2 or stored == written.acknowledged.get(n, stored)


@pytest.mark.sized
@pytest.mark.parametrize("acknowledgements", sizes.either([40], [1, 60, 250]))
def test_killed_amid_many_writers_every_acknowledged_write_is_there_and_nothing_by_half(
    own_service: LocalService, acknowledgements: int
) -> None:
    ledger = Ledger()
    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [
            pool.submit(write_until_the_service_is_gone, own_service, ledger, number) for number in range(WRITERS)
        ]
        for _ in range(acknowledgements):
            assert ledger.acknowledgements.acquire(timeout=120)
        own_service.kill9()
        for writer in writers:
            writer.result()
    own_service.start()

    with own_service.client() as client:
        holds_what_was_written(client, ledger)


@pytest.mark.sized
def test_writers_that_go_on_through_kills_and_starts_leave_no_gap(own_service: LocalService) -> None:
    with own_service.client() as client:
        path = f"/configurations/{client.post('/configurations', json={'name': 'a', 'yaml': 'first'}).json()['id']}"
    acknowledged: list[int] = []
    enough = threading.Semaphore(0)
    stop = threading.Event()

    def append() -> None:
        with own_service.client() as client:
            while not stop.is_set():
                try:
                    response = client.post(f"{path}/versions", json={"yaml": "next"})
                except httpx.TransportError:
                    # Eight threads that knock without a pause would slow the start that they wait for.
                    time.sleep(0.05)
                    continue
                if response.status_code == 201:
                    acknowledged.append(response.json()["n"])
                    enough.release()

    with ThreadPoolExecutor(8) as pool:
        writers = [pool.submit(append) for _ in range(8)]
        for _ in range(KILLS):
            for _ in range(APPENDED):
                assert enough.acquire(timeout=120)
            own_service.kill9()
            own_service.start()
        for _ in range(APPENDED):
            assert enough.acquire(timeout=120)
        stop.set()
        for writer in writers:
            writer.result(timeout=120)

    assert len(acknowledged) == len(set(acknowledged))
    with own_service.client() as client:
        numbers = [entry["n"] for entry in every(client, f"{path}/versions")]
    assert numbers == list(range(len(numbers), 0, -1))
    assert set(acknowledged) <= set(numbers)


def test_the_tokens_are_for_their_owner_only(service: LocalService) -> None:
    assert (service.data / "tokens.json").stat().st_mode & 0o777 == 0o600
    assert service.data.stat().st_mode & 0o777 == 0o700


@dataclass(frozen=True)
class Left:
    """What a service leaves that was stopped in order: its folder, its tokens, and what was created."""

    data: Path
    tokens: tuple[str, str]
    created: list[dict[str, object]]


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory: pytest.TempPathFactory) -> Left:
    stopped = LocalService(tmp_path_factory.mktemp("left") / "data")
    stopped.start()
    body = {"name": "a text to be damaged", "yaml": "a: b\n"}
    with stopped.client() as client:
        created = [client.post("/configurations", json=body).json() for _ in range(2)]
    stopped.stop()
    return Left(stopped.data, (stopped.read_write_token, stopped.read_only_token), created)


@pytest.fixture
def data(left_behind: Left, tmp_path: Path) -> Path:
    """A data folder of a test's own, of a service that was stopped."""
    return shutil.copytree(left_behind.data, tmp_path / "data")


def test_stopped_in_order_it_has_the_same_tokens_and_data(left_behind: Left, data: Path) -> None:
    with running_service(data) as service, service.client() as client:
        assert (service.read_write_token, service.read_only_token) == left_behind.tokens
        for one in left_behind.created:
            assert client.get(f"/configurations/{one['id']}").json() == one
        assert client.get("/identity").json()["organization_name"] == "Local"


def start_once(data: Path, *, as_people_do: bool = False, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A start that is expected to fail."""
    paths = os.pathsep.join(str(ROOT / name) for name in ("shared", "engine", "functions", "local"))
    variables = {**os.environ, "PYTHONPATH": paths, "HEADGATE_DATA": str(data), **environment}
    if not as_people_do:
        return cli_forked.run([], ROOT, variables, seconds=300, program="headgate_local")
    command = [sys.executable, "-m", "headgate_local"]
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, timeout=300, check=False)


def told(outcome: subprocess.CompletedProcess[bytes]) -> str:
    """The one line that a failed start told."""
    assert (outcome.returncode, outcome.stdout) == (1, b"")
    (line,) = outcome.stderr.decode().splitlines()
    return line


def test_a_second_service_on_the_same_data_is_refused_in_one_line(service: LocalService) -> None:
    line = told(start_once(service.data, as_people_do=True, HEADGATE_PORT="1"))

    assert f"the data folder {service.data} is in use by another Headgate, process {service.pid}" in line


def test_a_port_in_use_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        line = told(start_once(tmp_path, HEADGATE_PORT=port))

    way_out = "stop the program that uses it, or set HEADGATE_PORT to another port"
    assert line == f"headgate: port {port} is in use: {way_out}"


@pytest.mark.sized
@pytest.mark.parametrize("port", sizes.either(["٨٣٠٠"], ["0", "65536", "http", "-1", "٨٣٠٠"]))
def test_a_malformed_port_is_told_in_one_line(tmp_path: Path, port: str) -> None:
    assert told(start_once(tmp_path, HEADGATE_PORT=port)).startswith(f"headgate: HEADGATE_PORT is {port!r}")


def test_a_malformed_number_is_told_in_one_line(tmp_path: Path) -> None:
    line = told(start_once(tmp_path, HEADGATE_PORT=str(free_port()), HEADGATE_FLEET_LIMIT="x"))

    assert line == "headgate: HEADGATE_FLEET_LIMIT is 'x', but must be a whole number of at least 0"


def test_a_data_folder_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    line = told(start_once(tmp_path / "file" / "data", HEADGATE_PORT=str(free_port())))

    assert line.startswith(f"headgate: cannot write to the data folder {tmp_path}/file/data: ")


def test_a_missing_collector_is_told_with_the_command_that_builds_it(tmp_path: Path) -> None:
    line = told(start_once(tmp_path, HEADGATE_PORT=str(free_port()), HEADGATE_COLLECTORS_DIR=str(tmp_path / "none")))

    assert line.startswith(f"headgate: the collector {settings().collector_version} is not at")
    assert line.endswith("run `make collector`")


def test_a_damaged_database_is_told_with_its_name_and_is_not_touched(data: Path) -> None:
    database = data / "headgate.sqlite3"
    content = database.read_bytes().replace(b"a text to be damaged", b"a text to be demaged", 1)
    database.write_bytes(content)

    line = told(start_once(data, HEADGATE_PORT=str(free_port())))

    assert line.startswith(f"headgate: {database} is damaged: ")
    assert database.read_bytes() == content


def test_an_emptied_database_is_told_and_the_tokens_are_not_replaced(data: Path) -> None:
    database, tokens = data / "headgate.sqlite3", data / "tokens.json"
    before = tokens.read_bytes()
    database.write_bytes(b"")

    # The first start creates the tables.
    for _ in range(2):
        line = told(start_once(data, HEADGATE_PORT=str(free_port())))
        assert line.startswith(f"headgate: {database} is damaged: it holds no data, but tokens.json")
    assert tokens.read_bytes() == before


def test_a_damaged_file_of_tokens_is_told_with_its_name(data: Path) -> None:
    tokens = data / "tokens.json"
    tokens.write_text('{"organization_id": "org_')

    assert told(start_once(data, HEADGATE_PORT=str(free_port()))).startswith(f"headgate: {tokens} is damaged")


def test_without_its_file_of_tokens_it_makes_new_ones(data: Path) -> None:
    before = (data / "tokens.json").read_bytes()
    (data / "tokens.json").unlink()

    with running_service(data) as service, service.client() as client:
        assert (data / "tokens.json").read_bytes() != before
        assert client.get("/identity").status_code == 200
