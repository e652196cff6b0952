"""What a command imports, which each start pays for, and what it says if an extra is not installed."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.releasing import wheels
from tests.support.cli_in_process import Run
from tests.support.service import ROOT

PROGRAM = """\
import sys
from headgate_cli import main
sys.argv = ["headgate", "whoami"]
try:
    main.main()
except SystemExit:
    print(*sys.modules)
"""


def test_a_command_that_calls_the_server_imports_a_light_client_only() -> None:
    plain = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    environment = {**plain, "HEADGATE_URL": "http://127.0.0.1:1", "SERVICE_API_TOKEN": "sv_x"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)

    modules = set(done.stdout.split())
    assert "http.client" in modules
    assert not modules & {"httpx", "urllib.request", "certifi", "yaml", "rich"}


def test_commands_that_need_no_collector_import_what_their_wheel_has_of_the_engine() -> None:
    """The folder `local` is imported once a collector is installed, whose wheel brings the rest of the engine."""
    packed = {Path(name).stem for name in wheels.LIGHT}
    modules = [path for path in (ROOT / "cli/headgate_cli").rglob("*.py") if path.parent.name != "local"]
    assert [
        f"{path.name}: {name}" for path in modules for name in imported_of_the_engine(path) if name not in packed
    ] == []


def imported_of_the_engine(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("headgate_engine"):
            inside = (node.module or "").split(".")[1:]
            yield from inside[:1] or [alias.name for alias in node.names]


def test_without_the_extra_lsp_says_how_to_install_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    code, _, error = run("lsp --local")

    assert code == 1
    assert 'pip install ".[lsp]"' in error
