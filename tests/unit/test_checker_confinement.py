"""What a check process may not do, read from what Linux says of it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate_engine.checker.check_process import Child
from headgate_engine.checker.limits import MEBIBYTE, Limits
from tests.support.faulty import install
from tests.support.processes import wait_until_ended

PARENT = """
import sys, threading, time
from pathlib import Path
from headgate_engine.checker.check_process import Child
from headgate_engine.checker.limits import Limits

started = []
starter = threading.Thread(target=lambda: started.append(Child.start(Path(sys.argv[1]), Limits())))
starter.start()
starter.join()
time.sleep(0.2)
started[0].ask("any", {}, 60)
print(started[0].pid, flush=True)
time.sleep(3600)
"""


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    return install(tmp_path)


@pytest.fixture
def child(binary: Path) -> Iterator[Child]:
    started = Child.start(binary, Limits(kill_bytes=300 * MEBIBYTE))
    yield started
    started.kill()


def of(child: Child, name: str) -> Path:
    return Path(f"/proc/{child.pid}/{name}")


def limit(child: Child, name: str) -> str:
    (line,) = [line for line in of(child, "limits").read_text().splitlines() if line.startswith(name)]
    return " ".join(line.removeprefix(name).split()[:2])


def test_it_dumps_no_core_and_holds_bounded_memory(child: Child) -> None:
    assert limit(child, "Max core file size") == "0 0"
    assert limit(child, "Max data size") == f"{300 * MEBIBYTE} {300 * MEBIBYTE}"


def test_it_gains_no_privileges(child: Child) -> None:
    assert "NoNewPrivs:\t1" in of(child, "status").read_text()


def test_it_leads_a_session_of_its_own(child: Child) -> None:
    assert os.getsid(child.pid) == child.pid


def test_it_works_in_an_empty_folder_of_its_own(child: Child) -> None:
    folder = of(child, "cwd").readlink()

    assert list(folder.iterdir()) == []
    assert folder.parents[1].stat().st_mode & 0o777 == 0o700


def test_it_has_no_descriptors_of_its_parents_but_the_channel(child: Child) -> None:
    targets = {int(fd.name): str(fd.readlink()).split(":")[0] for fd in of(child, "fd").iterdir()}

    assert targets == {0: "/dev/null", 1: "/dev/null", 2: "pipe", 3: "socket", 4: f"/proc/{child.pid}/statm"}


def test_it_outlives_the_thread_that_asked_for_it_and_dies_with_its_parent(binary: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(binary)]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": os.pathsep.join(sys.path)})
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.kill(pid, signal.SIGSTOP)  # so that it cannot see its channel close

        parent.kill()

    wait_until_ended(pid)
