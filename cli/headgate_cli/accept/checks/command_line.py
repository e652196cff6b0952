"""The exit codes of the command line against this server."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from headgate_cli.accept import expect
from headgate_cli.accept.bench import EDGE, Bench
from headgate_cli.accept.model import check

_SECONDS: Final = 100
_CASES: Final = (
    (0, ("validate", "right.yaml")),
    (1, ("validate", "broken.yaml")),
    (2, ("validate", "--no-such-option")),
)


@check("cli.exit-codes", "The command line ends with 0, 1, 2 or 3, as its help says.")
def exit_codes(bench: Bench) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "right.yaml").write_text(EDGE, encoding="utf-8")
        Path(folder, "broken.yaml").write_text(EDGE.replace("[debug]", "[nothing]"), encoding="utf-8")
        problems = [_ended(bench, folder, code, *arguments) for code, arguments in _CASES]
        problems.append(_ended(bench, folder, 3, "whoami", SERVICE_API_TOKEN=f"sv_{bench.run_id * 5}abc"))
    expect.none_broken([problem for problem in problems if problem])


def _ended(bench: Bench, folder: str, code: int, *arguments: str, **more: str) -> str:
    """Run the command, and describe how its end differs from the expected one; empty if it does not."""
    variables = {"HEADGATE_URL": bench.given.url, "SERVICE_API_TOKEN": bench.given.token, **more}
    command = [sys.executable, "-m", "headgate_cli.main", *arguments]
    # Not the variables of a workflow, in which some commands print for its runner.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")} | variables
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"`headgate {' '.join(arguments)}` did not end within {_SECONDS} s"
    if done.returncode == code:
        return ""
    return f"`headgate {' '.join(arguments)}` ended with {done.returncode}, not {code}: {expect.shown(done.stderr)}"
