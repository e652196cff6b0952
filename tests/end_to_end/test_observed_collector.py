"""A collector that Headgate did not install, with the collector's own OpAMP extension, in an observed fleet."""

import csv
import io
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import yaml

from headgate.foundation.settings import settings
from tests.api.test_available_components import LISTING
from tests.support.cli_support import Cli
from tests.support.opamp_agent import Agent
from tests.support.ports import free_port

_COLLECTOR = Path(settings().collectors_dir) / settings().collector_version / "otelcol-contrib"
_BASE = {
    "receivers": {"nop": {}},
    "exporters": {"nop": {}},
    "service": {
        "telemetry": {"metrics": {"level": "none"}},
        "pipelines": {"logs": {"receivers": ["nop"], "exporters": ["nop"]}},
    },
}


_TEXT = """\
receivers: {{{receiver}: }}
exporters: {{nop: }}
service: {{pipelines: {{logs: {{receivers: [{receiver}], exporters: [nop]}}}}}}
"""

_RESOURCE = """\
apiVersion: opentelemetry.io/v1beta1
kind: OpenTelemetryCollector
metadata: {{name: {name}, namespace: shop}}
spec: {{config: {config}}}
status: {{version: {version}, scale: {{replicas: 1}}}}
"""


def _post(composed: dict[str, object], body: bytes) -> bytes:
    headers = {"authorization": f"Bearer {composed['token']}"}
    return httpx.post(str(composed["endpoint"]), content=body, headers=headers).raise_for_status().content


@contextmanager
def _collector(folder: Path, text: str, token: str) -> Iterator[subprocess.Popen[bytes]]:
    """The plain program with what `fleet observe` printed merged into its configuration."""
    config, more = folder / "config.yaml", folder / "observe.yaml"
    config.write_text(yaml.safe_dump(_BASE))
    more.write_text(text)
    command = [str(_COLLECTOR), "--config", str(config), "--config", str(more)]
    log = (folder / "collector.log").open("wb")
    with log, subprocess.Popen(command, env={"HEADGATE_FLEET_TOKEN": token}, stdout=log, stderr=log) as process:
        try:
            yield process
        finally:
            process.terminate()


def _state(cli: Cli, fleet: str, state: str) -> dict[str, object]:
    """The one collector of the fleet as soon as it is in that state."""
    seen: list[dict[str, object]] = []
    for _ in range(300):
        seen = cli.run("fleet", "instances", fleet, "--json").json
        if len(seen) == 1 and seen[0]["state"] == state:
            return seen[0]
        time.sleep(0.1)
    raise AssertionError(seen)


def test_a_collector_with_the_opamp_extension_is_listed_while_it_runs(cli: Cli) -> None:
    cli.ok("fleet", "create", "existing", "--mode", "observed")
    (composed,) = cli.run("fleet", "observe", "existing", "--json").json
    text, token = str(composed["text"]), str(composed["token"])
    assert token not in cli.ok("fleet", "observe", "existing")

    with _collector(cli.folder, text, token):
        seen = _state(cli, "existing", "running")
        host = str(seen["host_name"])
        shown = cli.ok("fleet", "configuration", "existing", host)
        assert token not in shown
        assert yaml.safe_load(shown)["service"]["extensions"] == ["opamp"]
        (row,) = csv.DictReader(io.StringIO(cli.ok("fleet", "inventory", "existing", "--csv")))
        assert (row["host_name"], row["distribution"]) == (host, "otelcol-contrib")
        assert "receiver/nop" in row["components"]
        assert host in cli.ok("fleet", "inventory", "existing")
        # The extension sent the list of its components when it was asked.
        assert len(row["available"]) == 64
        listed = json.loads(cli.ok("fleet", "instances", "existing", "--component", "exporter/nop", "--json"))
        assert [seen["host_name"] for seen in listed] == [host]
        assert host in cli.ok("fleet", "configurations", "existing")
        found = cli.ok("fleet", "findings", "existing", host, "--to", settings().collector_version)
        assert f"works on collector {settings().collector_version}" in found
        adopted = json.loads(cli.ok("fleet", "adopt", "existing", host, "--name", "adopted", "--json"))
        again = cli.run("fleet", "adopt", "existing", host, "--name", " adopted")
        assert (again.code, "a configuration 'adopted' exists already" in again.err) == (1, True)
        for name, receiver in (("web-2", "nop"), ("web-3", "nopp")):
            agent = Agent(partial(_post, composed), name, capabilities=LISTING)
            agent.start()
            message = agent.message()
            message.effective_config.config_map.config_map[""].body = _TEXT.format(receiver=receiver).encode()
            if name == "web-2":
                # A build without the exporter that its configuration has.
                message.available_components.components["receivers"].sub_component_map["nop"].SetInParent()
            agent.send(message)
        of_fleet = json.loads(cli.run("fleet", "findings", "existing", "--json").out)
        (wrong,) = [each for each in of_fleet["items"] if each["code"] == "unknown_component"]
        assert (wrong["severity"], wrong["count"], wrong["hosts"]) == ("error", 1, ["web-3"])
        assert (of_fleet["checked"], of_fleet["items"][0]["severity"]) == (3, "error")
        (lacking,) = [each for each in of_fleet["items"] if each["code"] == "component_not_in_build"]
        assert (lacking["message"], lacking["hosts"]) == ("The program of the host has no exporter nop", ["web-2"])
        printed = cli.run("fleet", "findings", "existing", "--to", settings().collector_version)
        assert printed.code == 1
        assert "(web-3)" in printed.out
        bridge = Agent(partial(_post, composed), "bridge", capabilities=LISTING)
        bridge.start()
        message = bridge.message()
        for name, receiver in (("edge", "nop"), ("gateway", "nopq")):
            config = json.dumps(yaml.safe_load(_TEXT.format(receiver=receiver)))
            body = _RESOURCE.format(name=name, config=config, version="0.138.0")
            message.effective_config.config_map.config_map[f"shop/{name}"].body = body.encode()
        bridge.send(message)
        of_fleet = json.loads(cli.run("fleet", "findings", "existing", "--json").out)
        assert ["bridge (shop/gateway)"] in [each["hosts"] for each in of_fleet["items"]]
        refused = cli.run("fleet", "findings", "existing", "bridge", "--collector", "shop/gateway")
        assert (refused.code, "is refused" in refused.out) == (1, True)
        of_edge = json.loads(cli.ok("fleet", "findings", "existing", "bridge", "--collector", "shop/edge", "--json"))
        # What the operator says that it runs, and not the bridge's own version.
        assert (of_edge["reported_version"], of_edge["exact"]) == ("0.138.0", False)
        draft = cli.ok("fleet", "adopt", "existing", "bridge", "--collector", "shop/edge", "--dry-run")
        assert set(yaml.safe_load(draft)) == {"receivers", "exporters", "service"}
        assert "shop/edge, shop/gateway" in cli.run("fleet", "adopt", "existing", "bridge").err
    assert adopted["adoption"]["variables"] == []
    written = yaml.safe_load(adopted["adoption"]["yaml"])
    assert ("extensions" in written, "extensions" in written["service"]) == (False, False)
    assert written["service"]["pipelines"]["logs"]["receivers"] == ["nop"]
    assert "adopted" in cli.ok("config", "list")
    assert seen["collector_version"] == settings().collector_version


def test_a_collector_that_is_connected_by_websocket_is_listed_with_its_configuration_and_what_ails_it(cli: Cli) -> None:
    cli.ok("fleet", "create", "connected", "--mode", "observed")
    (composed,) = cli.run("fleet", "observe", "connected", "--websocket", "--json").json
    text = yaml.safe_load(str(composed["text"]))
    assert str(composed["endpoint"]).startswith("ws://")
    # An exporter that tells its status, and cannot deliver.
    lines = cli.folder / "lines.log"
    lines.write_text("a line\n")
    text["receivers"] = {"filelog": {"include": [str(lines)], "start_at": "beginning"}}
    text["exporters"] = {"elasticsearch": {"endpoints": [f"http://127.0.0.1:{free_port()}"]}}
    text["service"]["pipelines"] = {"logs/failing": {"receivers": ["filelog"], "exporters": ["elasticsearch"]}}

    with _collector(cli.folder, yaml.safe_dump(text), str(composed["token"])):
        seen = _state(cli, "connected", "unhealthy")
        host = str(seen["host_name"])
        assert "opamp" in cli.ok("fleet", "configuration", "connected", host)
        # It is unhealthy already while it starts.
        for _ in range(300):
            parts = json.loads(cli.ok("instance", "show", "connected", host, "--json"))["health"]["parts"]
            if any(part["error"] for part in parts):
                break
            time.sleep(0.1)
        (ailing,) = [part for part in parts if part["error"] and len(part["path"]) == 2]
        assert ailing["path"] == ["pipeline:logs/failing", "exporter:elasticsearch"]
        assert (ailing["status"], "connection refused" in ailing["error"]) == ("RecoverableError", True)
        assert ["pipeline:logs", "receiver:nop"] in [part["path"] for part in parts if part["status"] == "OK"]
        assert "exporter:elasticsearch  RecoverableError since" in cli.ok("instance", "show", "connected", host)
