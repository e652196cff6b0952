"""What a command imports, which each start pays for, and what it says if an extra is not installed."""

import os
import subprocess
import sys

import pytest

from tests.support.cli_in_process import Run

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


def test_without_the_extra_lsp_says_how_to_install_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    code, _, error = run("lsp --local")

    assert code == 1
    assert 'pip install ".[lsp]"' in error
