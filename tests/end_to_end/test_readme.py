"""README's first ten minutes, line by line as they stand."""

import json
import os
import re
import subprocess
from pathlib import Path

from tests.service import ROOT, Service, running_service


def shell_blocks(heading: str) -> list[str]:
    text = (ROOT / "README.md").read_text()
    section = re.split(r"^## ", text.split(f"## {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    return re.findall(r"^```sh\n(.*?)^```", section, flags=re.MULTILINE | re.DOTALL)


def run(blocks: list[str], service: Service, folder: Path) -> list[str]:
    """The output of each block, all run by one shell."""
    separator = "--- next block ---"
    script = f"\necho '{separator}'\n".join(blocks)
    environment = {
        "PATH": os.environ["PATH"],
        "HEADGATE_URL": service.base_url,
        "SERVICE_API_TOKEN": service.read_write_token,
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return [output.strip() for output in done.stdout.split(separator)]


def test_the_first_ten_minutes_work_as_they_are_written(tmp_path: Path) -> None:
    blocks = shell_blocks("The first ten minutes")
    data = tmp_path / "data"
    with running_service(data) as service:
        identity, _, verdict, configuration_id, patched, published, versions = run(blocks, service, tmp_path)

    assert json.loads(identity)["access"] == "read_write"
    assert json.loads(verdict)["valid"] is False
    (error,) = json.loads(verdict)["errors"]
    assert (error["component_path"].startswith("processors::batch"), error["line"], error["column"]) == (True, 8, 14)
    assert json.loads(patched)["status"] == "draft"
    assert json.loads(published)["status"] == "published"
    assert [version["n"] for version in json.loads(versions)["items"]] == [1]

    with running_service(data) as service:
        again = service.client().get(f"/configurations/{configuration_id}").json()
    assert (again["published_version"], again["yaml"]) == (1, (tmp_path / "edge.yaml").read_text())
