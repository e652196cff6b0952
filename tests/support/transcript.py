"""The commands of a page, as they stand there, run by one shell in a folder; and what the page says that they print."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.support.service import ROOT

# What is another each time.
_CHANGES: Final = (
    (re.compile(r"\b(run|cfg|flt|rol)_[0-9a-z]{26}\b"), "<id>"),
    (re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}"), "<time>"),
    (re.compile(r"\b0\.\d{3}\.\d+\b"), "<version>"),
    (re.compile(r"\b\d+\.\d s\b"), "<seconds>"),
)
_SEPARATOR: Final = "--- next command ---"


def section(page: str, heading: str) -> str:
    """The text below a heading, such as `## How`, up to the next one of its level or a higher one."""
    level = heading.partition(" ")[0]
    text = (ROOT / page).read_text().split(f"{heading}\n", 1)[1]
    return re.split(rf"^#{{1,{len(level)}}} ", text, maxsplit=1, flags=re.MULTILINE)[0]


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def transcript(text: str) -> list[tuple[str, str]]:
    """Each command of the terminal, with its here-document, and what is shown after it."""
    found = []
    for block in blocks(text, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            if "<<'YAML'" in command:
                document, _, shown = shown.partition("\nYAML\n")
                command = f"{command}\n{document}\nYAML"
            found.append((command, shown))
    return found


def shell(lines: list[str], url: str, token: str, folder: Path) -> list[str]:
    """What one shell shows for each line, standard error too. `headgate` is this command line, signed in."""
    # A command may find something wrong; what it says of that is in the text.
    script = "\n".join(f"{line}\necho '{_SEPARATOR}'" for line in lines)
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    (bin_folder / "headgate").write_text(f'#!/bin/sh\nexec {sys.executable} -m headgate_cli.main "$@"\n')
    (bin_folder / "headgate").chmod(0o755)
    environment = {
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT / 'cli'}:{ROOT / 'engine'}",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "HEADGATE_URL": url,
        "SERVICE_API_TOKEN": token,
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
    return done.stdout.split(f"{_SEPARATOR}\n")[: len(lines)]


def plain(text: str) -> str:
    """The text without what is another each time."""
    for pattern, word in _CHANGES:
        text = pattern.sub(word, text)
    return text
