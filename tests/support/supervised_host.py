"""The real supervisor and collector under a stand-in of the fleet service, which offers and orders what a test says."""

import hashlib
import json
import os
import signal
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_host import until
from tests.support.listening import listening
from tests.support.ports import free_port
from tests.support.programs import cached_programs

CAPABILITY = "io.headgate.host"
KINDS = ["credentials", "card_numbers", "mail_addresses", "random_strings"]


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class Told:
    """What a host has said so far: of each field of its reports the newest; `messages` are all that it sent."""

    messages: list[wire.AgentToServer] = field(default_factory=list)
    known: dict[str, Any] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    captures: list[dict[str, Any]] = field(default_factory=list)
    sent: int = 0
    failed: int = 0

    def take(self, message: wire.AgentToServer) -> None:
        self.messages.append(message)
        if message.custom_message.capability != CAPABILITY:
            return
        said = json.loads(message.custom_message.data)
        if message.custom_message.type == "capture":
            self.captures.append(said)
            return
        self.known |= said
        self.done += said.get("done", [])
        counters = said.get("counters", {"sent": 0, "failed": 0})
        self.sent += counters["sent"]
        self.failed += counters["failed"]


@dataclass
class SupervisedHost:
    """A host. `offer` and `order` say what the next answers hold; they are repeated as the service repeats them."""

    folder: Path
    told: Told = field(default_factory=Told)
    offered: tuple[bytes, str] | None = None
    orders: list[dict[str, str]] = field(default_factory=list)
    capture: dict[str, Any] | None = None
    answered: threading.Lock = field(default_factory=threading.Lock)
    process: subprocess.Popen[bytes] | None = None
    address: str = ""
    apply_timeout: str = "2s"

    @property
    def storage(self) -> Path:
        return self.folder / "var"

    def start(self, *before: str) -> None:
        """Start the supervisor, by the command `before` if there is one, which becomes its process."""
        programs = cached_programs()
        environment = {
            "PATH": os.environ["PATH"],
            "HEADGATE_ENDPOINT": self.address,
            "HEADGATE_DEPLOYMENT_ID": "dep_1",
            "HEADGATE_FLEET_TOKEN": "token",
            "HEADGATE_NAME": "web-1",
            "HEADGATE_COLLECTOR": str(programs["otelcol-contrib"]),
            "HEADGATE_STORAGE": str(self.storage),
            "HEADGATE_HEALTH_ENDPOINT": f"127.0.0.1:{free_port()}",
            "HEADGATE_APPLY_TIMEOUT": self.apply_timeout,
            "SECRET": "a secret value",
        }
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([*before, programs["headgate-supervisor"]], env=environment, stderr=log)

    def stop(self) -> None:
        """In order, as a service manager does."""
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            assert self.process.wait(timeout=60) == 0
            self.process = None

    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")[-6_000:]

    def collector(self) -> int:
        """The collector's process; 0 if there is none. That which is only learnt about is another one."""
        assert self.process is not None
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = stat.read_text().rpartition(") ")[2].split()[1]
                # Read before the arguments, which are others until the process runs this program.
                program = (stat.parent / "exe").readlink().name
                arguments = (stat.parent / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            runs = program == "otelcol-contrib" and arguments[1:2] == [b"--config"]
            if parent == str(self.process.pid) and runs:
                return int(stat.parent.name)
        return 0

    def offer(self, text: str) -> bytes:
        """Offer a text from now on; its hash, as the service would make one."""
        with self.answered:
            self.offered = (uuid.uuid4().bytes, text)
        return self.offered[0]

    def applies(self, text: str) -> bytes:
        """Offer it until it is applied; its hash. A busy collector may take longer than the supervisor waits."""
        offered = [self.offer(text)]

        def there() -> bool:
            said = self.said_of(offered[-1])
            if "apply timeout exceeded" in said.error_message:
                offered.append(self.offer(text))
            return said.status == wire.RemoteConfigStatuses_APPLIED

        self.waits(there)
        return offered[-1]

    def said_of(self, config_hash: bytes) -> wire.RemoteConfigStatus:
        """What the supervisor said of it last; an empty status if nothing."""
        for message in reversed(self.told.messages):
            status = message.remote_config_status
            if message.HasField("remote_config_status") and status.last_remote_config_hash == config_hash:
                return status
        return wire.RemoteConfigStatus()

    def status_of(self, config_hash: bytes) -> int:
        return int(self.said_of(config_hash).status)

    def healthy(self) -> bool | None:
        """What it said of its collector last; None if nothing."""
        said = (message.health.healthy for message in reversed(self.told.messages) if message.HasField("health"))
        return next(said, None)

    def order(self, order_id: str, do: str) -> None:
        """Order it with every answer until the end."""
        with self.answered:
            self.orders.append({"id": order_id, "do": do})

    def captures(self, capture_id: str, **wanted: Any) -> None:
        """Ask for a capture with every answer until it has ended, and wait until its branch runs."""
        with self.answered:
            self.capture = {"id": capture_id, "redaction": {"kinds": KINDS}, "seconds": 600, "records": 100, **wanted}
        self.waits(lambda: any(one["id"] == capture_id for one in self.told.captures))

    def captured(self, capture_id: str) -> dict[str, Any]:
        """What it tells of the end of a capture, after it runs without the branch."""

        def ended() -> list[dict[str, Any]]:
            return [one for one in self.told.captures if one["id"] == capture_id and one["status"] == "ended"]

        self.waits(lambda: bool(ended()))
        with self.answered:
            self.capture = None
        self.waits(lambda: b"headgate_capture" not in (self.storage / "effective.yaml").read_bytes())
        return ended()[0]

    def waits(self, there: Callable[[], bool]) -> None:
        until(there, lambda: f"{self.told.known}\n{self.log()}")

    def answer(self, body: bytes) -> bytes:
        message = wire.AgentToServer.FromString(body)
        with self.answered:
            self.told.take(message)
            answer = wire.ServerToAgent(instance_uid=message.instance_uid)
            if message.sequence_num == 0:
                answer.connection_settings.opamp.heartbeat_interval_seconds = 1
            if self.offered and not self.status_of(self.offered[0]):
                answer.remote_config.config_hash = self.offered[0]
                answer.remote_config.config.config_map[""].body = self.offered[1].encode()
            if self.orders or self.capture:
                answer.custom_message.capability, answer.custom_message.type = CAPABILITY, "order"
                answer.custom_message.data = json.dumps({"orders": self.orders, "capture": self.capture}).encode()
            return answer.SerializeToString()


@contextmanager
def supervised_host(folder: Path) -> Iterator[SupervisedHost]:
    """A host that runs until the block ends."""
    host = SupervisedHost(folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            answer = host.answer(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    host.address = f"http://127.0.0.1:{server.server_port}/v1/opamp"
    with listening(server):
        host.start()
        try:
            yield host
        finally:
            host.stop()
