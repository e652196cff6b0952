"""The local service as a process of its own, for the tests and benchmarks that drive it from outside."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import httpx

from tests.support.forking import forked
from tests.support.ports import free_port

ROOT = Path(__file__).parents[2]
READY = "Headgate is ready."
SIGN_IN_LINK = "/sign-in-link?code="


@dataclass(frozen=True)
class Service:
    """A running service: where it is, and the tokens of its seeded organization."""

    base_url: str
    read_write_token: str
    read_only_token: str
    pid: int
    sign_in_link: str

    def client(self) -> httpx.Client:
        """A client with the read-write token, whose paths are those of the public API."""
        headers = {"Authorization": f"Bearer {self.read_write_token}"}
        return httpx.Client(base_url=f"{self.base_url}/api/v1/public", headers=headers, timeout=120)


@contextmanager
def running_service(data: Path, *, as_people_do: bool = False, **environment: str) -> Iterator[Service]:
    """Start the service with its data in `data`, on a free port unless `environment` names one.

    It answers when this yields, and is stopped after. It is forked from a process that has imported what it needs,
    unless it is to be started `as_people_do`.
    """
    port = environment.get("HEADGATE_PORT") or str(free_port())
    paths = os.pathsep.join(str(ROOT / name) for name in ("shared", "engine", "functions", "local"))
    variables = {
        **os.environ,
        "PYTHONPATH": paths,
        "HEADGATE_PORT": port,
        "HEADGATE_DATA": str(data),
        "HEADGATE_RATE_LIMIT_PER_MINUTE": "1000000",
        "HEADGATE_CHECKS_UNDER_WAY": "1000",
        **environment,
    }
    with (_started if as_people_do else _forked)(variables) as (pid, output):
        sign_in_link = _wait_until_ready(output)
        tokens = json.loads((data / "tokens.json").read_text())
        url = f"http://127.0.0.1:{port}"
        yield Service(url, tokens["read_write_token"], tokens["read_only_token"], pid, sign_in_link)


def service_of_many_agents(data: Path, interval: int) -> AbstractContextManager[Service]:
    """Start the service as people do, for thousands of agents that join at once and report every `interval` seconds."""
    return running_service(
        data,
        as_people_do=True,
        HEADGATE_FLEET_HEARTBEAT_SECONDS=str(interval),
        HEADGATE_INSTANCE_LIMIT="100000",
        HEADGATE_NEW_INSTANCES_PER_MINUTE="100000",
    )


@contextmanager
def _started(variables: Mapping[str, str]) -> Iterator[tuple[int, TextIO]]:
    command = [sys.executable, "-m", "headgate_local"]
    with subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.pid, process.stdout
        finally:
            process.terminate()
            process.communicate()


@contextmanager
def _forked(variables: Mapping[str, str]) -> Iterator[tuple[int, TextIO]]:
    reader, writer = os.pipe()
    streams = (0, writer, 2)
    with os.fdopen(reader) as output, forked("headgate_local", [], ROOT, variables, streams) as process:
        os.close(writer)
        try:
            yield process.pid, output
        finally:
            process.kill(signal.SIGTERM)
            # What it prints while it ends must not fill the pipe.
            output.read()
            process.wait()


def _wait_until_ready(output: TextIO) -> str:
    """The link that it prints once it is ready, which signs in once."""
    for line in output:
        if SIGN_IN_LINK in line:
            return line.split()[-1]
    raise RuntimeError("the service ended before it was ready; it says why on standard error")
