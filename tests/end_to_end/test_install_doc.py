"""docs/fleets.md does what it says: its lines, run as they stand, bring a host to Applied and remove it."""

import os
import re
import subprocess
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
    walk = page[page.index("## From a fleet to Applied") : page.index("### The three platforms")]
    lines = "set -eu\n" + "".join(re.findall(r"```sh\n(.*?)```", walk, re.DOTALL))
    variables = {**os.environ, "HEADGATE_URL": service.base_url, "SERVICE_API_TOKEN": service.read_write_token}
    with alone_with(13143):
        done = subprocess.run(
            ["bash", "-c", lines], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False, timeout=300
        )

    assert done.returncode == 0, done.stderr
    first, *_, last = re.findall(r'"state":"(\w+)".*?"version_number":(\w+)', done.stdout)
    assert first[1] == "null"
    assert last == ("applied", "1")
    assert done.stdout.rstrip().endswith(f"Removed from {tmp_path}/edge-host.")
    assert not (tmp_path / "edge-host").exists()
