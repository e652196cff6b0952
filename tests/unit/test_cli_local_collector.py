"""The collector of `--local`: what it gets of its caller, and how its failures are told apart."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate_cli import local_collector
from headgate_cli.local_collector import CollectorFailed, LocalCollector, NoCollector, NotInstalled, Refused
from tests.support.faulty import VERSION, install
from tests.support.processes import wait_until_ended
from tests.support.service import ROOT

MEMORY = 300 << 20
PARENT = """
import sys, time
from pathlib import Path
from headgate_cli.local_collector import LocalCollector

collector = LocalCollector(Path(sys.argv[1]))
collector.ask("any", {})
print(collector.pid, flush=True)
time.sleep(3600)
"""


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("collectors") / VERSION, "sealed")


@pytest.fixture
def collector(binary: Path) -> Iterator[LocalCollector]:
    with LocalCollector(binary, MEMORY) as started:
        yield started


def test_it_gets_no_variable_of_the_caller(collector: LocalCollector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_API_TOKEN", "secret")

    assert collector.ask("any", {})["environment"] == {}


def test_it_has_nothing_of_the_caller_but_the_channel(collector: LocalCollector, tmp_path: Path) -> None:
    with (tmp_path / "open").open("w"):
        collector.ask("any", {})
    descriptors = {
        int(one.name): str(one.readlink()).split(":")[0] for one in Path(f"/proc/{collector.pid}/fd").iterdir()
    }
    folder = Path(f"/proc/{collector.pid}/cwd").readlink()

    assert {number: descriptors[number] for number in range(4)} == {
        0: "/dev/null",
        1: "/dev/null",
        2: "pipe",
        3: "socket",
    }
    assert str(tmp_path / "open") not in descriptors.values()
    assert list(folder.iterdir()) == []


def test_it_dumps_no_core_and_holds_bounded_memory(collector: LocalCollector) -> None:
    collector.ask("any", {})
    limits = Path(f"/proc/{collector.pid}/limits").read_text().splitlines()
    bounds = {line[:26].strip(): line[26:].split()[:2] for line in limits}

    assert bounds["Max core file size"] == ["0", "0"]
    assert bounds["Max data size"] == [str(MEMORY)] * 2


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("crash", "the collector exited with status 2: panic: on command; nothing was checked"),
        ("kill", "the collector was killed by SIGKILL; nothing was checked"),
        ("grow", r"the collector exited with status 2: (fatal error: .*memory|SIG\w+: ).*; nothing was checked"),
        ("panicked", "the collector panicked on this text; nothing was checked"),
        ("garbage", "the collector sent something else than an answer; nothing was checked"),
        ("list", "the collector sent something else than an answer; nothing was checked"),
        ("deep", "the collector sent something else than an answer; nothing was checked"),
        ("other_id", "the collector answered another question; nothing was checked"),
        ("flood", "the collector answered more than 32 MB"),
        ("half", "the collector exited with status 0; nothing was checked"),
    ],
)
def test_a_failure_is_told_and_the_next_question_answered(collector: LocalCollector, what: str, message: str) -> None:
    with pytest.raises(CollectorFailed) as failed:
        collector.ask("any", {"do": what})

    assert re.match(message, failed.value.message)
    assert collector.ask("any", {"echo": "again"})["echo"] == "again"


@pytest.mark.parametrize("what", ["hang", "stop", "half_open"])
def test_a_collector_that_does_not_answer_is_ended(collector: LocalCollector, what: str) -> None:
    collector.ask("any", {})
    pid = collector.pid
    assert pid is not None
    with pytest.raises(CollectorFailed, match="did not answer in time"):
        collector.ask("any", {"do": what}, seconds=0.2)

    wait_until_ended(pid)


def test_what_it_prints_is_not_an_answer(collector: LocalCollector) -> None:
    assert collector.ask("any", {"do": "chatter", "echo": 1})["echo"] == 1


def test_a_refusal_leaves_it_running_and_an_excess_ends_it(collector: LocalCollector) -> None:
    with pytest.raises(Refused) as refused:
        collector.ask("any", {"do": "refused"})
    pid = collector.pid
    assert (refused.value.code, pid is None) == ("refused", False)

    with pytest.raises(Refused) as exceeded:
        collector.ask("any", {"do": "exceeded"})
    assert (exceeded.value.code, collector.pid) == ("too_costly", None)
    assert collector.ask("any", {})["pid"] != pid


def test_it_ends_with_the_command_however_that_ends(binary: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(binary)]
    parent = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": f"{ROOT / 'cli'}:{ROOT / 'engine'}"}
    )
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.kill(pid, signal.SIGSTOP)  # so that it cannot see its channel close

        parent.kill()

    wait_until_ended(pid)


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        (
            "release",
            "is an official release, which has no `check` command: install one with `pip install headgate-collector`, "
            "build one with `make collector`",
        ),
        ("crashes", "does not start: "),
        ("", "is not a collector of Headgate"),  # it installs no filter of system calls
    ],
)
def test_a_binary_that_cannot_check_confined_is_refused(tmp_path: Path, variant: str, message: str) -> None:
    with LocalCollector(install(tmp_path, variant)) as collector, pytest.raises(NoCollector) as refused:
        collector.ask("any", {})

    assert message in refused.value.message
    assert collector.pid is None


def test_a_file_that_is_not_a_program_is_refused(tmp_path: Path) -> None:
    with LocalCollector(tmp_path / "nothing") as collector, pytest.raises(NoCollector) as refused:
        collector.ask("any", {})

    assert refused.value.message.endswith(
        "nothing does not start: could not launch the collector: No such file or directory"
    )


def test_the_default_collector_is_the_one_that_make_builds() -> None:
    assert (ROOT / "layers/collector/versions/DEFAULT").read_text().strip() == local_collector.DEFAULT


def test_collectors_are_found_where_make_puts_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADGATE_COLLECTORS_DIR", raising=False)
    monkeypatch.delenv("HEADGATE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(
        NoCollector, match=r"there is no collector in .*: install one with .*, build one with `make collector`"
    ):
        local_collector.find()

    for version in ("0.9.0", "0.10.0", "not-a-version"):
        folder = tmp_path / "headgate" / "collectors" / version
        folder.mkdir(parents=True)
        (folder / "otelcol-contrib").touch()

    assert local_collector.installed() == ["0.9.0", "0.10.0"]
    assert local_collector.find().parent.name == "0.10.0"
    assert local_collector.find("0.9.0").parent.name == "0.9.0"
    with pytest.raises(NotInstalled) as refused:
        local_collector.find("0.1.0")
    assert refused.value.message == "Collector version 0.1.0 is not installed; installed: 0.9.0, 0.10.0"
