"""README's first ten minutes, line by line as they stand."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.service import ROOT, Service, running_service

pytestmark = pytest.mark.end_to_end

# What is another each time.
_CHANGES = (
    (re.compile(r"\b(run|cfg)_[0-9a-z]{26}\b"), "<id>"),
    (re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}"), "<time>"),
    (re.compile(r"\b0\.\d{3}\.\d+\b"), "<version>"),
)


def section() -> str:
    text = (ROOT / "README.md").read_text()
    return re.split(r"^## ", text.split("## The first ten minutes\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", section(), flags=re.MULTILINE | re.DOTALL)


def transcript() -> list[tuple[str, str]]:
    """Each command of the terminal, with its here-document, and what is shown after it."""
    found = []
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            if "<<'YAML'" in command:
                text, _, shown = shown.partition("\nYAML\n")
                command = f"{command}\n{text}\nYAML"
            found.append((command, shown))
    return found


def shell(lines: list[str], service: Service, folder: Path) -> list[str]:
    """What one shell shows for each, standard error too."""
    separator = "--- next command ---"
    # A command may find something wrong; what it says of that is in the text.
    script = "\n".join(f"{line}\necho '{separator}'" for line in lines)
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    (bin_folder / "headgate").write_text(f'#!/bin/sh\nexec {sys.executable} -m headgate_cli.main "$@"\n')
    (bin_folder / "headgate").chmod(0o755)
    environment = {
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "cli"),
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "HEADGATE_URL": service.base_url,
        "SERVICE_API_TOKEN": service.read_write_token,
    }
    done = subprocess.run(
        ["bash", "-uo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=240,
    )
    return done.stdout.split(f"{separator}\n")[: len(lines)]


def plain(text: str) -> str:
    for pattern, word in _CHANGES:
        text = pattern.sub(word, text)
    return text


def test_the_first_ten_minutes_are_as_they_are_written(tmp_path: Path) -> None:
    written = transcript()
    (curl,) = blocks("sh")
    data = tmp_path / "data"
    with running_service(data) as service:
        *shown, listed = shell([*(command for command, _ in written), curl.strip()], service, tmp_path)

    for (command, expected), said in zip(written, shown, strict=True):
        assert plain(said) == plain(expected), command
    (shop,) = json.loads(listed)["items"]
    assert (shop["name"], shop["latest_version"], shop["published_version"]) == ("shop", 2, 1)

    with running_service(data) as service:
        again = service.client().get(f"/configurations/{shop['id']}").json()
    assert again["yaml"] == (tmp_path / "shop.yaml").read_text()
