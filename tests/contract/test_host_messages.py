"""The messages between our supervisor and the service: bytes that the Go tests write, read by the service.

`layers/supervisor/internal/host/golden_test.go` says what they hold, and writes them.
"""

import hashlib
import json
import re
from pathlib import Path

from headgate.configurations.delivery import DISCARDING
from headgate.instances.reported.host import Exporter, HostCounters
from headgate.opamp import messages
from headgate.opamp.messages import Reply
from headgate_opamp import opamp_pb2 as wire

GOLDEN = Path(__file__).parents[2] / "layers" / "supervisor" / "internal" / "host" / "testdata"


def test_the_service_reads_what_a_host_reports() -> None:
    report = messages.decode((GOLDEN / "report.binpb").read_bytes()).host

    assert report is not None
    assert (report.supervisor_version, report.name, report.labels) == ("1.2.3", "web-1", {"zone": "a"})
    assert (report.text_hash, report.drifted) == (hashlib.sha256(b"receivers: {a: 1}\n").hexdigest(), ())
    assert (report.exits, report.last_exits) == (1, ("2026-01-01T00:00:01Z",))
    exporters = {"otlphttp/a": Exporter(5, 2, 0.25)}
    delivered = {"logs": 3, "traces": 2}
    assert report.counters == HostCounters(30, 7, 0, 5, 2, 0, 0.25, exporters, delivered, 150 << 20, 1_500)


def test_the_host_and_the_service_know_the_same_exporters_that_deliver_nothing() -> None:
    source = (GOLDEN.parent / "discards.go").read_text()
    (listed,) = re.findall(r"^var discarding = \[\]string\{(.*)\}$", source, re.MULTILINE)

    assert set(re.findall(r'"(\w+)"', listed)) == DISCARDING


def test_a_host_reads_what_the_service_orders() -> None:
    names = ("restart", "retry", "components")
    orders = [{"id": f"ord_01k9z6v7w8x9y0a1b2c3d4e5f{n}", "do": do} for n, do in enumerate(names, 6)]

    assert Reply(b"0123456789abcdef", orders=orders).encode() == (GOLDEN / "order.binpb").read_bytes()


def test_the_hash_of_components_is_that_of_their_names() -> None:
    message = wire.AgentToServer.FromString((GOLDEN / "report.binpb").read_bytes())
    components = json.loads(message.custom_message.data)["components"]

    assert components["list"] == sorted(components["list"])
    assert components["hash"] == hashlib.sha256("\n".join(components["list"]).encode()).hexdigest()
