"""The command line in this process: no process has to start for each line."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from headgate_cli import main
from tests.support.answering import Server

# A line without its `headgate`; its exit code, standard output and standard error.
Run: TypeAlias = Callable[[str], tuple[int, str, str]]


def runner(server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs lines in a folder, which is the home too, signed in to a server."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("HEADGATE_URL", server.url)
    monkeypatch.setenv("SERVICE_API_TOKEN", "sv_x")

    def run(line: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["headgate", *line.split()])
        with pytest.raises(SystemExit) as ended:
            main.main()
        printed = capsys.readouterr()
        return int(str(ended.value.code)), printed.out, printed.err

    return run
