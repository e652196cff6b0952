"""Each sentence of the docs that installs the command line, followed where nothing else is. `make trust` only."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from scripts.releasing import programs, wheels
from scripts.releasing.source import CheckoutSource, copy_tracked, version
from tests.support.cli_support import EDGE
from tests.support.ports import free_port
from tests.support.service import READY, ROOT

pytestmark = pytest.mark.full

SENTENCE: Final = re.compile(r"pipx? (?:install|inject) (?:headgate|\.|\"[^\"]+\")[^`#\n),;]*")
# Operators' pages, with commands for wheels that they have made: tests/contract/test_release.py.
NOT_THERE: Final = ("releasing.md",)
REPOSITORY: Final = re.compile(r"git\+https://github\.com/YOUR-ORGANIZATION/headgate(@v[0-9.]+)?")
INITIALIZE: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"processId": None, "capabilities": {}},
}


def sentences() -> list[str]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    texts = [page.read_text(encoding="utf-8") for page in pages if page.name not in NOT_THERE]
    return sorted({REPOSITORY.sub("CHECKOUT", match.strip()) for text in texts for match in SENTENCE.findall(text)})


@pytest.fixture(scope="module")
def constraints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Names the wheels of this checkout, so that no registry's package of the same name is installed."""
    folder = tmp_path_factory.mktemp("dist")
    source = CheckoutSource("0" * 40, 1_763_000_000, False, version())
    paths = [
        wheels.command_line(source, folder),
        wheels.local_service(source, folder),
        wheels.collector(source, programs.built(programs.here()), folder),
    ]
    lines = [f"{path.name.partition('-')[0].replace('_', '-')} @ {path.as_uri()}\n" for path in paths]
    (folder / "constraints.txt").write_text("".join(lines))
    return folder / "constraints.txt"


def bare(folder: Path) -> dict[str, str]:
    """An environment with a Python and pip of its own, and without what these tests have installed."""
    subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HEADGATE", "XDG", "PYTHON"))}
    (folder / "home").mkdir()
    return {
        **kept,
        "HOME": str(folder / "home"),
        "PATH": f"{folder}/bin:{folder}/env/bin:/usr/bin:/bin",
        "PIPX_HOME": str(folder / "pipx"),
        "PIPX_BIN_DIR": str(folder / "bin"),
        "PIPX_DEFAULT_PYTHON": str(folder / "env" / "bin" / "python"),
        "HEADGATE_URL": f"http://127.0.0.1:{free_port()}",
        "SERVICE_API_TOKEN": "sv_x",
    }


@pytest.mark.parametrize("sentence", sentences())
def test_what_an_install_sentence_promises_works_with_what_it_installs(
    sentence: str, constraints: Path, tmp_path: Path
) -> None:
    environment = bare(tmp_path)
    is_of_checkout = "CHECKOUT" in sentence or re.search(r"install \"?\.", sentence) is not None
    if not is_of_checkout:
        environment["PIP_CONSTRAINT"] = str(constraints)
        environment["PIP_FIND_LINKS"] = f"{constraints.parent} {environment.get('PIP_FIND_LINKS', '')}"
    if sentence.startswith("pipx"):
        subprocess.run(["pip", "install", "--quiet", "pipx"], env=environment, check=True)
    ran(["sh", "-c", sentence.replace("CHECKOUT", ROOT.as_uri())], environment, ROOT)

    works("local" if "[local]" in sentence else extra_of(sentence), environment, tmp_path)


def test_what_make_dev_installs_has_the_language_server_and_the_demo(tmp_path: Path) -> None:
    environment = bare(tmp_path)
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    copy_tracked(
        checkout, "Makefile", "README.md", "LICENSE", "NOTICE", "pyproject.toml", "requirements", "cli", "shared"
    )
    copy_tracked(checkout, "engine", "local", "layers")
    ran(["make", ".venv/.runs"], environment, checkout)

    environment["PATH"] = f"{checkout}/.venv/bin:/usr/bin:/bin"
    works("lsp", environment, tmp_path)
    works("demo", environment, tmp_path)


def extra_of(sentence: str) -> str:
    extra = re.search(r"\[(\w+)\]", sentence)
    return extra.group(1) if extra else "headgate-collector" if "headgate-collector" in sentence else ""


def works(extra: str, environment: Mapping[str, str], folder: Path) -> None:
    """Fails unless the command line does what this extra is for."""
    assert ran(["headgate", "--version"], environment, folder).startswith("headgate")
    for group in ("config edit", "apply", "test", "policy"):
        ran(["headgate", *group.split(), "--help"], environment, folder)
    (folder / "edge.yaml").write_text(EDGE)
    match extra:
        case "":
            refused = subprocess.run(
                ["headgate", "validate", "--local", "edge.yaml"],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert "headgate-collector" in refused.stderr, refused
        case "headgate-collector":
            assert ": valid on otelcol-contrib" in ran(
                ["headgate", "validate", "--local", "edge.yaml"], environment, folder
            )
        case "lsp":
            body = json.dumps(INITIALIZE)
            message = f"Content-Length: {len(body)}\r\n\r\n{body}"
            answer = ran(["headgate", "lsp"], environment, folder, message)
            assert '"renameProvider"' in answer
        case "demo":
            refused = subprocess.run(
                ["headgate", "demo"], cwd=folder, env=environment, capture_output=True, text=True, check=False
            )
            # There is no server; without the extra it does not come so far.
            assert environment["HEADGATE_URL"] in refused.stderr, refused
        case "local":
            serves(environment, folder)
        case _:
            pytest.fail(f"no test knows what the extra {extra} is for")


def serves(environment: Mapping[str, str], folder: Path) -> None:
    command = ["headgate", "dev", "--port", str(free_port()), "--data", "data"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        printed = ""
        for line in process.stdout:
            printed += line
            if READY in line:
                break
        process.terminate()
        process.communicate()
    assert READY in printed


def ran(command: list[str], environment: Mapping[str, str], folder: Path, text: str = "") -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, input=text, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout + done.stderr
