"""`scripts/ensure_source` with a real git, which reads GitHub's repository from a mirror on this machine."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.service import ROOT


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror"
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    (folder / "go.mod").write_text("module example\n")
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com")
    for words in (("add", "."), (*identity, "commit", "--quiet", "--no-gpg-sign", "--message", "Begin")):
        subprocess.run(["git", "-C", folder, *words], check=True)
    return folder


def _ensured(mirror: Path, commit: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(mirror.parent),
        "HEADGATE_CACHE": str(mirror.parent / "cache"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{mirror}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/example/source",
    }
    command = [ROOT / "scripts" / "ensure_source", "example/source", commit]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_the_files_of_a_commit_are_fetched_once(mirror: Path) -> None:
    commit = subprocess.check_output(["git", "-C", mirror, "rev-parse", "HEAD"], text=True).strip()
    first = _ensured(mirror, commit)
    mirror.rename(mirror.with_name("gone"))
    second = _ensured(mirror, commit)

    assert (first.returncode, first.stdout) == (0, second.stdout), first.stderr
    assert [path.name for path in Path(first.stdout.strip()).iterdir()] == ["go.mod"]


def test_a_commit_that_cannot_be_fetched_fails_with_the_way_out_and_leaves_nothing(mirror: Path) -> None:
    refused = _ensured(mirror, "0" * 40)

    assert refused.returncode == 1
    assert "url.MIRROR.insteadOf https://github.com/example/source" in refused.stderr
    assert list((mirror.parent / "cache/sources/source").iterdir()) == []
