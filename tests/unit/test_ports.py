"""Ports of tests that run beside each other."""

import subprocess
import sys
from contextlib import ExitStack

from tests.support.service import ROOT

ASKED = "from tests.support.ports import free_port; print([free_port() for _ in range(120)], flush=True); input()"


def test_processes_beside_each_other_never_get_the_same_port() -> None:
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", ASKED], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            )
            for _ in range(3)
        ]
        printed = [process.stdout.readline() for process in processes if process.stdout]
        ports = [int(port) for line in printed for port in line.strip("[]\n").split(", ")]
        for process in processes:
            process.communicate("\n")
    assert len(set(ports)) == len(ports) == 360
