"""The OpAMP bridge of the OpenTelemetry operator, built from its repository, and the operator's resources."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tests.support.go_programs import compiled
from tests.support.kubernetes import Cluster
from tests.support.ports import free_port
from tests.support.sources import repository_files

_REPOSITORY: Final = "open-telemetry/opentelemetry-operator"
# Release 0.158.0, which the module proxy did not have.
_COMMIT: Final = "be8944414a876f17fcdeb5a59b86b8866fb5c88e"
ACCOUNT: Final = "headgate-opamp-bridge"
"""The service account that the operator creates for an `OpAMPBridge` that is called headgate."""


def definitions() -> list[dict[str, Any]]:
    """The operator's definitions of an `OpenTelemetryCollector` and an `OpAMPBridge`."""
    folder = repository_files(_REPOSITORY, _COMMIT) / "config/crd/bases"
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
    source = repository_files(_REPOSITORY, _COMMIT)
    program = compiled("operator-opamp-bridge", source, "./cmd/operator-opamp-bridge", commit=_COMMIT)
    command: list[object] = [program, "--config-file", file]
    command += ["--kubeconfig-path", cluster.kubeconfig(account), "--heartbeat-interval", "1s"]
    for option in ("--listen-addr", "--health-listen-addr"):
        command += [option, f"127.0.0.1:{free_port()}"]
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
