"""Observed agents by the official client library of OpAMP (opamp-go): answers, waits, processor, memory and money.

python -m tests.benchmarks.bench_observed [--agents 300] [--transport http,websocket] [--join 20] [--minutes 1]
    [--interval 60] [--deaf] [--no-baseline]

The agents start one after the other, `--join` of them in a second, each with its description, health and effective
configuration. Then all report for `--minutes`. With `--deaf` they report every 30 s whatever the service tells them,
as the collector's own extension does over WebSocket. The baseline of the waits is the library's own server, which
decodes and answers the same messages and stores nothing.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headgate_local import template
from scripts import bill
from tests.support.go_programs import go
from tests.support.ports import free_port
from tests.support.service import ROOT, service_of_many_agents
from tests.support.spent import Spent

HEAD = (
    f"{'':<40} {'agents':>7} {'open':>6} {'sent':>8} {'answered':>8} {'a second':>8} {'p50 ms':>8} {'p99 ms':>8} "
    f"{'longest':>8} {'processor':>9} {'ms each':>7} {'MB':>5} {'load':>5}"
)
TRANSPORTS = {"http": "http", "websocket": "ws"}
SILENT_SECONDS = 30
DEAF_SECONDS = 30


@dataclass
class Generator:
    """The agents, and the process that answers them."""

    process: subprocess.Popen[str]
    pid: int
    since: Spent
    began: float

    def figures(self, name: str) -> None:
        """Print what happened since the last time. `processor` is the part of one that the service had."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        seen: Mapping[str, Any] = json.loads(self.process.stdout.readline())
        until, now = Spent.by(self.pid), time.monotonic()
        took, spent = now - self.began, until.service - self.since.service
        self.since, self.began = until, now
        print(
            f"{name:<40} {seen['started']:>7} {seen['open']:>6} {seen['sent']:>8} {seen['answered']:>8} "
            f"{seen['answered'] / took:>8.1f} {seen['p50']:>8.0f} {seen['p99']:>8.0f} {seen['longest']:>8.0f} "
            f"{spent / took:>9.2f} {spent * 1_000 / max(1, seen['sent']):>7.2f} {until.megabytes:>5} "
            f"{os.getloadavg()[0]:>5.1f}",
            flush=True,
        )
        print(f"  bytes in {seen['bytes_out']:,}, out {seen['bytes_in']:,}", end="")
        print("".join(f"; {n} x {kind}" for kind, n in sorted(seen["outcomes"].items())), flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--agents", type=int, default=300)
    arguments.add_argument("--transport", default="http,websocket")
    arguments.add_argument("--join", type=float, default=20)
    arguments.add_argument("--minutes", type=float, default=1)
    arguments.add_argument("--interval", type=int, default=60)
    arguments.add_argument("--deaf", action="store_true")
    arguments.add_argument("--no-baseline", action="store_true")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        program = built(Path(temporary))
        print(f"A message every {DEAF_SECONDS if chosen.deaf else chosen.interval} s of each agent\n{HEAD}", flush=True)
        for transport in chosen.transport.split(",") if not chosen.no_baseline else ():
            with reference(program) as (pid, address):
                load(
                    program, pid, f"{TRANSPORTS[transport]}://{address}/v1/opamp", "", f"baseline, {transport}", chosen
                )
        with (
            service_of_many_agents(Path(temporary) / "data", chosen.interval) as running,
            running.client() as client,
        ):
            body = {"label": "Observed", "type": "server-supervisor", "mode": "observed"}
            fleet = client.post("/fleets", json=body).raise_for_status().json()["id"]
            token = client.post(f"/fleets/{fleet}/observe", json={"client": "extension"}).raise_for_status().json()
            for transport in chosen.transport.split(","):
                url = token["endpoint"].replace("http", TRANSPORTS[transport], 1)
                load(program, running.pid, url, token["token"], f"Headgate, {transport}", chosen)
                counts = client.get("/fleets").raise_for_status().json()["items"][0]["instances"]
                print(f"  listed: { {state: n for state, n in counts.items() if n} }", flush=True)
    money(chosen.agents, chosen.interval)


def built(folder: Path) -> Path:
    """The generator; Go's own cache makes it quick the second time."""
    program = folder / "load"
    environment = {
        **os.environ,
        "CGO_ENABLED": "0",
        "GOFLAGS": "-mod=readonly",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
    directory = ROOT / "tests" / "opamp_client"
    subprocess.run([go(), "build", "-o", program, "./load"], cwd=directory, env=environment, check=True)
    return program


@contextmanager
def reference(program: Path) -> Iterator[tuple[int, str]]:
    """The library's own server: its process and its address."""
    address = f"127.0.0.1:{free_port()}"
    with subprocess.Popen([program, "-serve", address]) as process:
        try:
            time.sleep(1)
            yield process.pid, address
        finally:
            process.terminate()


# The same instances over each transport.
SEED = uuid.uuid4().hex


def load(program: Path, pid: int, url: str, token: str, name: str, chosen: argparse.Namespace) -> None:
    """Start all agents, let them report, and end them."""
    command: list[str | Path] = [
        program,
        "-url",
        url,
        "-agents",
        str(chosen.agents),
        "-join",
        str(chosen.join),
        "-seed",
        SEED,
    ]
    if chosen.deaf:
        command.append("-heeds=false")
    with subprocess.Popen(
        command,
        env={**os.environ, "HEADGATE_FLEET_TOKEN": token},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        generator = Generator(process, pid, Spent.by(pid), time.monotonic())
        try:
            left = chosen.agents / chosen.join + SILENT_SECONDS
            while left > 0:
                time.sleep(min(left, 60))
                left -= 60
                generator.figures(f"{name}: join")
            left = chosen.minutes * 60
            while left > 0:
                time.sleep(min(left, 60))
                left -= 60
                generator.figures(f"{name}: report")
        finally:
            process.kill()


def money(agents: int, interval: int) -> None:
    """The bill of a month on AWS for as many hosts, by `scripts/prices.yaml`."""
    stack, prices = bill.StackBill.of(template.read()), bill.read()
    use = bill.MeasuredUse(hosts=agents)
    for seconds in sorted({DEAF_SECONDS, interval}):
        month = bill.bill(replace(use, interval=seconds), stack, prices)
        print(
            f"{agents:,} hosts on AWS, every {seconds} s: ${month.total:,.0f} a month, "
            f"{month.messages / 1e6:,.0f} million messages"
        )


if __name__ == "__main__":
    main()
