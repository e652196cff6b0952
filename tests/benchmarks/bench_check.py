"""What a pause in typing costs: requests, invocations of the checker, table calls and milliseconds.

python -m tests.benchmarks.bench_check [--rounds 25] [--longest 5254] [--pause 0.4]

Texts of transform processors (two statements each), and the gallery's; each is sent with another comment every time and
`remember=false`, as an editor's is, and after a pause, as the console's editor makes before it asks. The service is a
process of its own, asked over HTTP. The base is what cannot be left out: the collector's own dry run in its process,
and one request that only identifies (GET /identity). `verdict` is POST /validate, `whole` the same with lint, policies
and pipelines. Times are medians in milliseconds and ratios are to the base, all in turns; first on the machine as it
is, then beside a process that is always busy. Each is given by the clock, and as processor time of the service and the
collector's, which hardly changes on a machine that does other work.
"""

import argparse
import http.client
import itertools
import json
import multiprocessing
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import pytest

from headgate.checker import Checker
from headgate.foundation.log import logger
from headgate.foundation.settings import settings
from headgate.storage import aws
from headgate_engine.checker.installed import Installed
from headgate_engine.checker.limits import default_limits
from tests.support.askers import ASKER
from tests.support.aws import aws_for
from tests.support.service import Service, running_service
from tests.support.world import PUBLIC, World, founded, service

LINES: Final = (25, 109, 1_054, 5_254)
PAUSE: Final = 0.4
"""Seconds that the console's editor waits for the next letter before it asks."""
FLOWS: Final = Path(__file__).parents[2] / "flows"
VERDICT: Final = f"{PUBLIC}/validate?remember=false"
WHOLE: Final = f"{PUBLIC}/validate?lint=true&policies=true&graph=true&remember=false"


class Spent(NamedTuple):
    """What a question took, in milliseconds."""

    clock: float
    processor: float


class Desk:
    """One who asks the service over a connection that stays open, and the collector itself."""

    def __init__(self, running: Service, pause: float) -> None:
        self._pid = running.pid
        self._http = http.client.HTTPConnection(urlsplit(running.base_url).netloc, timeout=60)
        self._headers = {"Authorization": f"Bearer {running.read_write_token}", "Content-Type": "application/json"}
        installed = Installed(Path(settings().collectors_dir))
        self._checker = Checker(installed, settings().collector_version, default_limits())
        self._pause = pause
        self._number = itertools.count()

    def close(self) -> None:
        self._http.close()
        self._checker.close()

    def identify(self) -> Spent:
        return self._spent(lambda: self._send("GET", f"{PUBLIC}/identity", None), self._pid)

    def check(self, path: str, text: str) -> Spent:
        body = json.dumps({"yaml": self._another(text)})
        return self._spent(lambda: self._send("POST", path, body), self._pid)

    def dry_run(self, text: str) -> Spent:
        """By the clock as long as the process itself says that it takes, without the way to it and back."""
        answers: list[Mapping[str, object]] = []
        question = {"yaml": self._another(text), "env": {}}

        def ask() -> None:
            answers.append(self._checker.call("dry_run", question, asker=ASKER, timeout=60))

        spent = self._spent(ask, *self._checker.pids())
        return spent._replace(clock=float(str(answers[0]["milliseconds"])))

    def _another(self, text: str) -> str:
        return f"{text}# {next(self._number)}\n"

    def _send(self, method: str, path: str, body: str | None) -> None:
        self._http.request(method, path, body, self._headers)
        answer = self._http.getresponse()
        content = answer.read()
        assert answer.status == 200, (path, answer.status, content)

    def _spent(self, work: Callable[[], None], *pids: int) -> Spent:
        time.sleep(self._pause)
        processor, began = _processor_seconds(pids), time.perf_counter()
        work()
        clock = time.perf_counter() - began
        return Spent(clock * 1000, (_processor_seconds(pids) - processor) * 1000)


def _processor_seconds(pids: Sequence[int]) -> float:
    """Of these processes and their descendants that run now."""
    # clock_getcpuclockid(3): the clock of another process.
    seconds = 0.0
    for pid in _with_descendants(pids):
        with suppress(OSError):  # it has ended
            seconds += time.clock_gettime((~pid << 3) | 2)
    return seconds


def _with_descendants(pids: Sequence[int]) -> Iterator[int]:
    for pid in pids:
        yield pid
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(FileNotFoundError):  # the thread has ended
                children = [int(child) for child in (task / "children").read_text().split()]
                yield from _with_descendants(children)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rounds", type=int, default=25)
    arguments.add_argument("--longest", type=int, default=LINES[-1])
    arguments.add_argument("--pause", type=float, default=PAUSE, help="seconds before each question")
    options = arguments.parse_args()
    texts = {f"{lines} lines": [transforms(lines)] for lines in LINES if lines <= options.longest}
    texts["gallery"] = [file.read_text() for file in sorted(FLOWS.glob("*/collector.yaml"))]
    counts = counted({name: group[0] for name, group in texts.items()})
    with tempfile.TemporaryDirectory() as folder, running_service(Path(folder, "data")) as running:
        desk = Desk(running, options.pause)
        for beside in ("nothing else", "a busy process"):
            print(f"\nbeside {beside} (milliseconds, times the base; requests / invocations / table calls)")
            with busy(beside != "nothing else"):
                table(desk, texts, counts, options.rounds)
        desk.close()


def table(desk: Desk, texts: Mapping[str, Sequence[str]], counts: Mapping[str, str], rounds: int) -> None:
    print(f"{'':<22} {'identity':>8} {'dry run':>8} {'verdict':>15} {'whole':>15}   counts of both")
    for name, group in texts.items():
        medians = measured(desk, group, rounds)
        for measure, ending in (("clock", counts[name]), ("processor", "")):
            identity, dry, verdict, whole = (getattr(spent, measure) for spent in medians)
            base = identity + dry
            print(
                f"{name:<12} {measure:<9} {identity:>8.1f} {dry:>8.1f} {verdict:>8.1f} {verdict / base:>5.2f}x"
                f" {whole:>8.1f} {whole / base:>5.2f}x   {ending}",
                flush=True,
            )


def measured(desk: Desk, group: Sequence[str], rounds: int) -> list[Spent]:
    """Medians of: identity, dry run, verdict, whole."""
    ways: list[Callable[[str], Spent]] = [
        lambda _: desk.identify(),
        desk.dry_run,
        lambda text: desk.check(VERDICT, text),
        lambda text: desk.check(WHOLE, text),
    ]
    spent: list[list[Spent]] = [[] for _ in ways]
    # The first turn is for what is made at its first use.
    for turn in range(-1, max(rounds, len(group))):
        for way, times in zip(ways, spent, strict=True):
            # In turns, so that what else the machine does meets all alike.
            milliseconds = way(group[turn % len(group)])
            if turn >= 0:
                times.append(milliseconds)
    return [Spent(*map(median, zip(*times, strict=True))) for times in spent]


@dataclass
class Asked:
    """The questions to the check process, and the table calls."""

    operations: Counter[str] = field(default_factory=Counter)
    table_calls: int = 0

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        def called(**_: object) -> None:
            self.table_calls += 1

        aws.dynamodb().meta.events.register("before-call.dynamodb", called)
        call = Checker.call

        def counted(checker: Checker, op: str, fields: Any, **options: Any) -> dict[str, object]:
            self.operations[op] += 1
            return call(checker, op, fields, **options)

        patch.setattr(Checker, "call", counted)


def counted(texts: Mapping[str, str]) -> dict[str, str]:
    """Requests, invocations and table calls of a verdict and of the whole, with the service in this process."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for described in aws_for(patch, Path(folder), documented=False):
            with service(described) as client:
                logger.setLevel("ERROR")
                world, asked = founded(client, "Bench"), Asked()
                asked.watch(patch)
                return {
                    name: ", ".join(_counts(world, asked, path, text) for path in (VERDICT, WHOLE))
                    for name, text in texts.items()
                }
    raise AssertionError("no service")


def _counts(world: World, asked: Asked, path: str, text: str) -> str:
    # As the service is asked: with a token.
    credential = world.token("read_write")
    asked.operations.clear()
    asked.table_calls = 0
    world.call(credential, "POST", path, 200, {"yaml": text})
    return f"1 / {asked.operations.total()} / {asked.table_calls}"


@contextmanager
def busy(wanted: bool) -> Iterator[None]:
    process = multiprocessing.get_context("spawn").Process(target=spin, daemon=True)
    if wanted:
        process.start()
    try:
        yield
    finally:
        if wanted:
            process.kill()
            process.join()


def spin() -> None:
    while True:
        pass


def transforms(lines: int) -> str:
    count = max(1, (lines - 14) // 4)
    both = """['set(attributes["a{n}"], "b")', 'set(attributes["c{n}"], body)']"""
    statement = f"      - context: log\n        statements: {both}\n"
    processors = "".join(
        f"  transform/{n}:\n    log_statements:\n{statement.replace('{n}', str(n))}" for n in range(count)
    )
    names = ", ".join(f"transform/{n}" for n in range(count))
    return (
        f"receivers:\n  otlp:\n    protocols:\n      grpc:\nexporters:\n  debug:\nprocessors:\n{processors}service:\n"
        f"  pipelines:\n    logs:\n      receivers: [otlp]\n      processors: [{names}]\n      exporters: [debug]\n"
    )


if __name__ == "__main__":
    main()
