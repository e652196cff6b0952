"""What a host tells and does: the real supervisor and collector, and a stand-in for the service."""

import hashlib
import http.client
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from headgate.opamp.reasons import cause
from headgate_opamp import opamp_pb2 as wire
from tests.support.fleet_host import LOG
from tests.support.listening import listening
from tests.support.ports import free_port
from tests.support.programs import cached_programs
from tests.support.sink import Sink, sink
from tests.support.supervised_host import SupervisedHost, supervised_host, text_hash

FAILED, APPLIED = wire.RemoteConfigStatuses_FAILED, wire.RemoteConfigStatuses_APPLIED
PORT, METRICS = free_port(), free_port()


class Backend(BaseHTTPRequestHandler):
    """Takes what is sent to `/good`, and lets nobody in elsewhere."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200 if self.path.startswith("/good") else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def backend() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    with listening(server):
        yield f"http://127.0.0.1:{server.server_port}"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SupervisedHost]:
    """One host for all tests; each offers what it needs."""
    with supervised_host(tmp_path_factory.mktemp("host")) as one:
        yield one


def flowing(endpoint: str, comment: str = "", *, receivers: str = "", processors: str = "") -> str:
    """Takes OTLP, and sends it to that endpoint."""
    metrics = f"{{pull: {{exporter: {{prometheus: {{host: 127.0.0.1, port: {METRICS}}}}}}}}}"
    both = "[otlp, otlp/b]" if receivers else "[otlp]"
    return f"""\
# {comment} ${{env:SECRET}}
receivers:
  otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{PORT}"}}}}}}
{receivers}
exporters:
  otlphttp/backend:
    {{endpoint: "{endpoint}", headers: {{key: "${{env:SECRET}}"}}, retry_on_failure: {{enabled: false}}}}
service:
  telemetry: {{metrics: {{readers: [{metrics}]}}}}
  pipelines:
    logs: {{receivers: {both}, processors: [{processors}], exporters: [otlphttp/backend]}}
"""


def send() -> None:
    """A log record, if somebody takes it."""
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
    try:
        connection.request("POST", "/v1/logs", json.dumps(LOG), {"Content-Type": "application/json"})
        connection.getresponse().read()
    except OSError:
        pass
    finally:
        connection.close()


def hash_of(host: SupervisedHost) -> str:
    found: str = host.told.known.get("config", {}).get("hash", "")
    return found


def counts(host: SupervisedHost, counter: str, above: int) -> bool:
    send()
    return int(getattr(host.told, counter)) > above


def runs_another(host: SupervisedHost, collector: int) -> bool:
    return host.collector() not in (0, collector)


def has_ended(host: SupervisedHost, config_hash: bytes) -> bool:
    return host.status_of(config_hash) in (FAILED, APPLIED)


def test_an_exporter_that_nobody_lets_in_fails_and_one_that_is_let_in_sends(host: SupervisedHost, backend: str) -> None:
    host.applies(flowing(f"{backend}/bad"))
    sent = host.told.sent
    host.waits(partial(counts, host, "failed", 0))
    assert host.told.sent == sent
    assert host.told.known["counters"]["exporters"]["otlphttp/backend"]["sent"] == 0

    host.applies(flowing(f"{backend}/good"))
    failed = host.told.failed
    host.waits(partial(counts, host, "sent", sent))
    assert host.told.failed == failed


def test_the_hash_is_that_of_the_text_that_runs_as_it_was_offered(host: SupervisedHost, backend: str) -> None:
    good = flowing(f"{backend}/good", "before variables are filled in")
    host.applies(good)
    host.waits(lambda: hash_of(host) == text_hash(good))

    refused = host.offer(flowing(f"{backend}/good", processors="nothing"))
    host.waits(lambda: host.status_of(refused) == FAILED)
    assert hash_of(host) == text_hash(good)

    taken = flowing(f"{backend}/good", receivers=f'  otlp/b: {{protocols: {{http: {{endpoint: "127.0.0.1:{PORT}"}}}}}}')
    ends = host.offer(taken)
    host.waits(lambda: host.status_of(ends) == FAILED)
    # The supervisor tries it again and again, until it is offered another one.
    host.waits(lambda: hash_of(host) == text_hash(taken))
    host.applies(good)
    host.waits(lambda: hash_of(host) == text_hash(good))
    assert b"a secret value" not in b"".join(message.SerializeToString() for message in host.told.messages)


def test_a_changed_file_is_told_by_its_keys_and_a_start_writes_damaged_ones_again(
    host: SupervisedHost, backend: str
) -> None:
    host.applies(flowing(f"{backend}/good", "to be changed"))
    effective = host.storage / "effective.yaml"
    whole = yaml.safe_load(effective.read_text())
    effective.write_text(yaml.safe_dump(whole | {"processors": {"batch": None}}))
    host.waits(lambda: host.told.known["config"]["drifted"] == ["processors"])

    host.stop()
    # As a full disk or a power cut leaves what the supervisor writes in place.
    os.truncate(host.storage / "last_recv_remote_config.dat", 100)
    host.start()
    host.waits(lambda: host.told.known["config"]["drifted"] == [])
    assert yaml.safe_load(effective.read_text())["exporters"] == whole["exporters"]


# A disk of 4 MB in the place of the storage, with its files and room for 64 KB: half of what is written.
FULL = """set -e
mkdir "$0.full"
mount -t tmpfs -o size=4m none "$0.full"
cp -a "$0/." "$0.full"
mount --bind "$0.full" "$0"
cat /dev/zero >"$0/filler" 2>/dev/null || truncate -s -64K "$0/filler"
exec "$@"
"""


def test_no_collector_starts_from_the_part_of_its_configuration_that_a_full_disk_takes(
    host: SupervisedHost, backend: str
) -> None:
    keys = ", ".join(f"key-{n}" for n in range(9_000))
    host.applies(flowing(f"{backend}/good") + f"processors: {{batch: {{metadata_keys: [{keys}]}}}}\n")
    host.stop()
    # Without this, its own blocks would be free when it is written again.
    (host.storage / "effective.yaml").unlink()
    host.start("unshare", "--map-root-user", "--mount", "sh", "-c", FULL, str(host.storage))
    process = host.process
    assert process is not None
    host.waits(lambda: process.poll() is not None)
    assert process.returncode == 1
    assert "effective.yaml could not be written whole, so no collector starts from it" in host.log()

    host.start()
    host.waits(lambda: host.collector() != 0)
    assert yaml.safe_load((host.storage / "effective.yaml").read_text())["processors"]


def test_a_restart_restarts_the_collector_once_and_nothing_else(host: SupervisedHost, backend: str) -> None:
    host.applies(flowing(f"{backend}/good", "to be restarted"))
    before, supervisor, messages = host.collector(), host.process, len(host.told.messages)
    host.order("ord_restart", "restart")
    host.waits(lambda: "ord_restart" in host.told.done)
    host.waits(partial(runs_another, host, before))
    after = host.collector()

    # It is still ordered, with every answer.
    messages = len(host.told.messages)
    host.waits(lambda: len(host.told.messages) > messages + 3)
    assert (host.collector(), host.process) == (after, supervisor)
    assert host.told.done.count("ord_restart") == 1
    assert host.told.known["exits"]["since_apply"] == 0
    host.stop()
    host.start()
    host.waits(lambda: host.collector() != 0)
    started, messages = host.collector(), len(host.told.messages)
    host.waits(lambda: len(host.told.messages) > messages + 5)
    assert host.collector() == started


def test_a_retry_forgets_that_the_collector_kept_ending(host: SupervisedHost, backend: str) -> None:
    bad = host.applies(flowing(f"{backend}/good", "ends"))
    for _ in range(3):
        collector = host.collector()
        os.kill(collector, signal.SIGKILL)
        host.waits(partial(runs_another, host, collector))
    host.waits(lambda: host.status_of(bad) == FAILED)
    assert host.told.known["crash_loop"] == {"hash": text_hash(flowing(f"{backend}/good", "ends")), "exits": 3}

    host.order("ord_retry", "retry")
    host.waits(lambda: "ord_retry" in host.told.done and host.told.known["exits"]["since_apply"] == 0)
    # What is offered once more is tried, and nothing calls it failed any more.
    host.applies(flowing(f"{backend}/good", "ends"))


def test_a_collector_that_is_killed_while_a_version_is_tried_is_told_by_the_supervisors_words(
    host: SupervisedHost, backend: str
) -> None:
    host.applies(flowing(f"{backend}/good", "before"))
    killed = b""
    # On a busy machine the supervisor may have called it applied before it is killed.
    for path in ("a", "b", "c"):
        before, killed = host.collector(), host.offer(flowing(f"{backend}/good/{path}"))
        host.waits(partial(runs_another, host, before))
        os.kill(host.collector(), signal.SIGKILL)
        host.waits(partial(has_ended, host, killed))
        if host.status_of(killed) == FAILED:
            break
    assert cause(host.said_of(killed).error_message) == "killed"

    # It is offered again, and runs.
    with host.answered:
        host.told.messages.clear()
    host.waits(lambda: host.status_of(killed) == APPLIED)
    host.waits(lambda: host.healthy() is True)


def test_a_collector_that_hangs_when_it_stops_does_not_make_the_next_version_fail(
    host: SupervisedHost, backend: str
) -> None:
    # The stop takes ten seconds, and the supervisor waits nine for the new version.
    host.stop()
    host.apply_timeout = "9s"
    host.start()
    with sink() as never_answers:
        host.applies(flowing(never_answers.hangs))
        host.waits(partial(is_reached, never_answers))
        good = host.offer(flowing(f"{backend}/good", "after one that hangs"))
        host.waits(partial(has_ended, host, good))
    assert host.status_of(good) == APPLIED
    assert "the collector did not stop within 10s and is killed" in host.log()
    host.stop()
    host.apply_timeout = "2s"
    host.start()


def is_reached(backend: Sink) -> bool:
    send()
    return backend.reached.get("hangs", 0) > 0


def test_components_are_those_of_the_collectors_own_list(host: SupervisedHost) -> None:
    collector = cached_programs()["otelcol-contrib"]
    printed = subprocess.run([collector, "components"], capture_output=True, text=True, check=True, timeout=120).stdout
    listed = yaml.safe_load(printed)
    kinds = ("receiver", "processor", "exporter", "extension", "connector")
    names = sorted(f"{kind}/{one['name']}" for kind in kinds for one in listed[f"{kind}s"])
    host.waits(lambda: "components" in host.told.known)
    known = host.told.known["components"]
    assert known == {"hash": hashlib.sha256("\n".join(names).encode()).hexdigest()}

    host.order("ord_components", "components")
    host.waits(lambda: "ord_components" in host.told.done)
    assert host.told.known["components"] == known | {"list": names}


def test_its_last_message_says_that_it_stops(host: SupervisedHost) -> None:
    host.stop()

    assert host.told.messages[-1].HasField("agent_disconnect")
    host.start()
    host.waits(lambda: not host.told.messages[-1].HasField("agent_disconnect"))


def test_what_a_host_stores_is_its_owners_only(host: SupervisedHost) -> None:
    assert host.process is not None
    host.waits(lambda: host.collector() != 0)
    arguments = Path(f"/proc/{host.process.pid}/cmdline").read_bytes()
    assert b"token" not in arguments
    assert host.storage.stat().st_mode & 0o777 == 0o700
    others = [path.name for path in host.storage.iterdir() if not path.is_dir() and path.stat().st_mode & 0o077]
    assert others == []
    token = Path(f"/proc/{host.collector()}/environ").read_bytes()
    assert b"HEADGATE_FLEET_TOKEN=" not in token
