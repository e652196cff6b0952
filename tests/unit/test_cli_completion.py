"""What a shell completes: commands, files, and the names that the server has."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.answering import Answer, Server, serving

FLEET = "flt_01m7xx1hyrfzpvacqe78v66545"
LISTS = {
    "/configurations": [
        {"id": "cfg_01m7xx1hyrfzpvacqe78v66545", "name": "edge"},
        {"id": "cfg_02m7xx1hyrfzpvacqe78v66545", "name": "; touch pwned"},
        {"id": "cfg_03m7xx1hyrfzpvacqe78v66545", "name": "--token=sv_y"},
    ],
    "/fleets": [{"id": FLEET, "label": "shops"}],
    f"/fleets/{FLEET}/deployments": [{"id": "dep_01m7xx1hyrfzpvacqe78v66545", "name": "Default"}],
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    def answer(asked: str) -> Answer:
        path = asked.removeprefix("GET /api/v1/public").partition("?")[0]
        return 200, {}, {"items": LISTS[path], "next_cursor": None}

    with serving() as running:
        running.answering = answer
        yield running


def completed(folder: Path, server_url: str, line: str) -> list[str]:
    """What bash offers at the end of the line, by the script that the command prints."""
    words = [*shlex.split(line), *([""] if line.endswith(" ") else [])]
    array = " ".join(map(shlex.quote, words))
    script = (
        f'eval "$(headgate completion bash)" 2>/dev/null; compopt() {{ echo "files"; }}; '
        f"COMP_WORDS=({array}); COMP_CWORD={len(words) - 1}; _headgate_completion headgate; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    variables = {**os.environ, "PATH": path, "HOME": str(folder)}
    variables |= {"HEADGATE_URL": server_url, "SERVICE_API_TOKEN": "sv_x"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("headgate vali", ["validate"]),
        ("headgate validate ed", ["files"]),
        # Ids stand for names that a shell would run, or the command would take for an option.
        ("headgate config show ", ["edge", "cfg_02m7xx1hyrfzpvacqe78v66545", "cfg_03m7xx1hyrfzpvacqe78v66545"]),
        ("headgate deployment assign shops De", ["Default"]),
    ],
)
def test_bash_completes(tmp_path: Path, server: Server, line: str, offered: list[str]) -> None:
    assert completed(tmp_path, server.url, line) == offered


def test_a_server_that_does_not_answer_offers_nothing(tmp_path: Path) -> None:
    assert completed(tmp_path, "http://127.0.0.1:9", "headgate config show ed") == []
