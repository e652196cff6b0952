"""Programs that are forked end as those that are started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import cli_forked
from tests.support.forking import forked
from tests.support.service import ROOT


@pytest.mark.parametrize("line", ["--version", "config list", "no-such-command", "completion", "validate /nonexistent"])
def test_a_forked_command_prints_and_ends_as_a_started_one(line: str, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": f"{ROOT}/cli:{ROOT}/engine"}
    started = subprocess.run(
        [sys.executable, "-m", "headgate_cli.main", *line.split()],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=False,
    )
    ended = cli_forked.run(line.split(), tmp_path, environment)

    assert (ended.returncode, ended.stdout) == (started.returncode, started.stdout)
    # A command that is started by its module is told so in its usage.
    assert ended.stderr.splitlines()[-1:] == started.stderr.splitlines()[-1:]


def test_a_forked_command_that_cannot_print_says_so_in_its_status(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    with Path("/dev/full").open("w") as full, (tmp_path / "err").open("w") as error:
        streams = (0, full.fileno(), error.fileno())
        with forked("headgate", ["completion", "bash"], tmp_path, environment, streams, 60) as command:
            status = command.wait()

    assert status != 0
