"""Files of other projects at a commit, which tests build or read."""

import subprocess
from functools import cache
from pathlib import Path

from tests.support.service import ROOT


@cache
def repository_files(repository: str, commit: str) -> Path:
    """The folder of a GitHub repository's files, fetched at the first use; a test fails where they cannot be."""
    command: list[str | Path] = [ROOT / "scripts" / "ensure_source", repository, commit]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())
