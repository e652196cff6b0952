"""The supervisor's build: what makes it anew, and what it says of itself."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def printed(module: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What `python -m supervisor_build` of that copy of the module prints."""
    environment = {
        "PYTHONPATH": f"{ROOT / 'layers' / 'collector'}:{module}",
        "HOME": str(module),
        "PATH": "/usr/bin:/bin",
    }
    command = [sys.executable, "-m", "supervisor_build", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def digest(module: Path, architecture: str = "amd64") -> str:
    program = "import sys, supervisor_build as b; print(b.digest(b.Target.named(sys.argv[1])))"
    environment = {"PYTHONPATH": f"{ROOT / 'layers' / 'collector'}:{module}"}
    command = [sys.executable, "-c", program, architecture]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """A copy of the module."""
    return Path(shutil.copytree(ROOT / "layers" / "supervisor", tmp_path / "supervisor"))


def test_what_goes_into_the_program_makes_it_anew_and_nothing_else_does(module: Path) -> None:
    before = digest(module)

    (module / "internal" / "guard" / "guard_test.go").write_text("package guard\n")
    (module / "Makefile").write_text("")
    assert digest(module) == before
    assert digest(module, "arm64") != before
    for name in ("main.go", "go.sum", "internal/relay/relay.go"):
        (module / name).write_text((module / name).read_text() + "\n")
        assert digest(module) != before
        before = digest(module)


def test_the_list_of_secrets_makes_both_programs_anew(tmp_path: Path) -> None:
    layers = Path(shutil.copytree(ROOT / "layers", tmp_path / "layers"))
    program = """
import supervisor_build as b
from building import collector
target = b.Target.named("amd64")
print(b.digest(target), *(collector.digest(target, version) for version in collector.versions()))
"""

    def digests() -> list[str]:
        environment = {"PYTHONPATH": f"{layers / 'collector'}:{layers / 'supervisor'}"}
        command = [sys.executable, "-c", program]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    before = digests()
    for name in ("written.go", "gitleaks.json"):
        file = layers / "collector" / "secrets" / name
        file.write_text(file.read_text() + "\n")
        after = digests()
        assert not set(before) & set(after)
        before = after
    (layers / "collector" / "secrets" / "corpus_test.go").write_text("package secrets\n")
    assert digests() == before


def test_it_says_which_official_supervisor_it_is(module: Path) -> None:
    assert printed(module, "version").stdout == "0.149.0\n"
    default = (ROOT / "layers" / "collector" / "versions" / "DEFAULT").read_text()
    assert printed(module, "collector-version").stdout == default


def test_without_the_official_supervisor_there_is_no_version(module: Path) -> None:
    (module / "go.mod").write_text("module x\n\ngo 1.25.0\n")
    done = printed(module, "version")

    assert (done.returncode, done.stderr) == (1, "layers/supervisor/go.mod does not name the official supervisor\n")


def test_an_unknown_command_is_told_how(module: Path) -> None:
    done = printed(module, "supervise")

    assert done.returncode == 2
    assert "supervisor [amd64|arm64 " in done.stderr
