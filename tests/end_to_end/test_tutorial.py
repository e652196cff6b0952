"""docs/tutorial.md, line by line as it stands: from `make dev` to a collector that a rollout has reached, and back."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.ports import alone_with, free_port
from tests.support.service import ROOT
from tests.support.transcript import plain, shell, transcript

pytestmark = pytest.mark.end_to_end

(START, SHOWN_AT_START), *WRITTEN = transcript((ROOT / "docs" / "tutorial.md").read_text())


@contextmanager
def started(command: str, data: Path) -> Iterator[str]:
    """What a command shows until it has named the variables to export; then it runs on, until Ctrl-C."""
    # What `make test` tells its own programs is not for this `make`.
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    variables |= {"HEADGATE_DATA": str(data), "HEADGATE_PORT": str(free_port())}
    with subprocess.Popen(
        ["bash", "-c", f"exec {command}"],
        cwd=ROOT,
        env=variables,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            shown = ""
            for line in process.stdout:
                shown += line
                if "export SERVICE_API_TOKEN" in line:
                    break
            yield shown
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.communicate()


def comparable(text: str, folder: Path) -> str:
    """The text without what is another each time, and without progress, of which a slow machine shows less."""
    moved = text.replace(str(folder), "/home/ada")
    kept = "".join(
        line for line in moved.splitlines(keepends=True) if not re.match(r"in progress: |  note: Step", line)
    )
    return plain(re.sub(r"process \d+", "process <n>", kept))


def without_secrets(text: str) -> str:
    """What the service shows when it is ready, without what belongs to one start."""
    ready = text[text.index("Headgate is ready") :].rstrip()
    patterns = (
        r"(?<=data are in )\S+(?=\.)",
        r"(?<=127\.0\.0\.1:)\d+",
        r"(?<=code=)\S+",
        r"sv_\S+(?=\b)",
        r"(?<=password )\S+",
    )
    return re.sub("|".join(patterns), "<own>", ready)


@pytest.mark.full
def test_every_command_of_the_tutorial_shows_what_is_written(tmp_path: Path) -> None:
    commands = [command for command, _ in WRITTEN]
    with started(START, tmp_path / "data") as shown_at_start, alone_with(13143):
        exports = dict(re.findall(r"export (\w+)=(\S+)", shown_at_start))
        try:
            _, *shown = shell(
                [f"cd {ROOT}", *commands], exports["HEADGATE_URL"], exports["SERVICE_API_TOKEN"], tmp_path
            )
        finally:
            # Removed already, if all went well.
            host = tmp_path / "orders" / "host"
            if host.exists():
                subprocess.run([host / "bin" / "headgate-install", "--uninstall", "--root", host], check=True)

    assert without_secrets(shown_at_start) == without_secrets(SHOWN_AT_START)
    for (command, expected), said in zip(WRITTEN, shown, strict=True):
        assert comparable(said, tmp_path) == comparable(expected, tmp_path), command
