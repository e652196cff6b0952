"""The OpAMP bridge of the OpenTelemetry operator, built from the operator's module, and the operator's resources.

HEADGATE_OPERATOR_SOURCE names a copy of the operator's repository to take in its place, such as a newer release.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from tests.support.kubernetes import Cluster, built
from tests.support.official_supervisor import go
from tests.support.ports import free_port

_MODULE: Final = "github.com/open-telemetry/opentelemetry-operator@v0.143.0"
_SUM: Final = "h1:2W+w0e2vNND5UjStwaf3HICXCB05azOktJzSvaGtygY="
_PACKAGE: Final = "cmd/operator-opamp-bridge"
ACCOUNT: Final = "headgate-opamp-bridge"
"""The service account that the operator creates for an `OpAMPBridge` that is called headgate."""


@cache
def source() -> Path:
    """The operator's files."""
    if named := os.environ.get("HEADGATE_OPERATOR_SOURCE"):
        return Path(named)
    command = [go(), "mod", "download", "-json", _MODULE]
    done = subprocess.run(command, env={**os.environ, "GOFLAGS": "-mod=mod"}, capture_output=True, cwd="/", check=True)
    downloaded = json.loads(done.stdout)
    assert downloaded["Sum"] == _SUM
    return Path(downloaded["Dir"])


def asks_for_rights() -> bool:
    """True for a bridge that asks for all rights when it starts, and ends without them; since 0.158."""
    return (source() / _PACKAGE / "internal/manager/permissions.go").is_file()


def definitions() -> list[dict[str, Any]]:
    """The operator's definitions of an `OpenTelemetryCollector` and an `OpAMPBridge`."""
    folder = source() / "config/crd/bases"
    names = ("opentelemetrycollectors", "opampbridges")
    return [yaml.safe_load((folder / f"opentelemetry.io_{name}.yaml").read_text()) for name in names]


@dataclass
class Bridge:
    process: subprocess.Popen[bytes]
    log_path: Path

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")[-20_000:]


@contextmanager
def bridge(cluster: Cluster, folder: Path, spec: Mapping[str, Any], token: str, account: str) -> Iterator[Bridge]:
    """The program with the configuration that the operator writes of an `OpAMPBridge`, as a service account.

    It sends its health each second, and not every 30 seconds.
    """
    file = folder / "remoteconfiguration.yaml"
    names = ("endpoint", "headers", "capabilities", "standalone", "mode")
    file.write_text(yaml.safe_dump({name: spec[name] for name in names if name in spec}))
    command: list[object] = [built("operator-opamp-bridge", source(), _PACKAGE), "--config-file", file]
    command += ["--kubeconfig-path", cluster.kubeconfig(account), "--heartbeat-interval", "1s"]
    command += ["--listen-addr", f"127.0.0.1:{free_port()}"]
    if asks_for_rights():
        command += ["--health-listen-addr", f"127.0.0.1:{free_port()}"]
    log_path = folder / "bridge.log"
    environment = {"PATH": os.environ["PATH"], "HEADGATE_FLEET_TOKEN": token}
    with log_path.open("wb") as log:
        process = subprocess.Popen([str(word) for word in command], env=environment, stdout=log, stderr=log)
    try:
        yield Bridge(process, log_path)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
