"""docs/fleets.md does what it says: its lines, run as they stand, bring a host to Applied and remove it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.local_service import LocalService
from tests.support.ports import alone_with
from tests.support.service import ROOT

pytestmark = pytest.mark.end_to_end


# test_console_fleets.py walks the same way in the browser.
@pytest.mark.full
def test_the_walk_from_a_fleet_to_applied(service: LocalService, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "fleets.md").read_text()
    walk = page[page.index("## From a fleet to Applied") : page.index("## Limits and tokens")]
    (tmp_path / "headgate").write_text(f'#!/bin/sh\nexec {sys.executable} -m headgate_cli.main "$@"\n')
    (tmp_path / "headgate").chmod(0o755)
    lines = "set -eu\n" + "".join(re.findall(r"```sh\n(.*?)```", walk, re.DOTALL))
    variables = {
        **os.environ,
        "HEADGATE_URL": service.base_url,
        "SERVICE_API_TOKEN": service.read_write_token,
        "PYTHONPATH": os.pathsep.join(str(ROOT / folder) for folder in ("cli", "engine")),
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
    }
    with alone_with(13143):
        done = subprocess.run(
            ["bash", "-c", lines], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False, timeout=300
        )

    assert done.returncode == 0, done.stderr
    assert re.search(r"^.*\bidle\b", done.stdout, re.MULTILINE | re.IGNORECASE), done.stdout
    assert re.search(r"^.*\bapplied\b.*\bload\b|^.*\bload\b.*\bapplied\b", done.stdout, re.MULTILINE | re.IGNORECASE)
    assert done.stdout.rstrip().endswith(f"Removed from {tmp_path}/edge-host.")
    assert not (tmp_path / "edge-host").exists()
