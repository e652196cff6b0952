"""The collectors of `--local`: which are found, and what is said of one that cannot be used."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from headgate_cli.api import ServerError
from headgate_cli.local import collectors
from headgate_cli.local.api import LocalApi
from headgate_cli.local.collectors import NoCollector
from headgate_cli.shaped import PlainAnswer
from tests.support.faulty import VERSION, install
from tests.support.processes import wait_until_ended
from tests.support.service import ROOT

PARENT = """
import sys, time
from headgate_cli.local.collectors import checker
from headgate_engine.checker.asker import Asker

collectors = checker("")
Asker("a", "b", collectors).ask("any", {})
print(*collectors.pids(), flush=True)
time.sleep(3600)
"""


def test_it_ends_with_the_command_however_that_ends(tmp_path: Path) -> None:
    install(tmp_path / VERSION, "sealed")
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "HEADGATE_COLLECTORS_DIR": str(tmp_path)}
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, env=environment)
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.kill(pid, signal.SIGSTOP)  # so that it cannot see its channel close

        parent.kill()

    wait_until_ended(pid)


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        (
            "release",
            "is an official release, which has no `check` command: install one with `pip install headgate-collector`, "
            "build one with `make collector`",
        ),
        ("crashes", "cannot be used: "),
    ],
)
def test_a_named_binary_that_cannot_check_is_refused(tmp_path: Path, variant: str, message: str) -> None:
    binary = install(tmp_path, variant)
    with closing(LocalApi(str(binary))) as api, pytest.raises(NoCollector) as refused:
        api.post(PlainAnswer, "/validate", {"yaml": "a: b"})

    assert message in refused.value.message


def test_a_file_that_is_not_a_program_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "nothing"
    file.write_text("x")
    file.chmod(0o755)
    with closing(LocalApi(str(file))) as api, pytest.raises(NoCollector) as refused:
        api.post(PlainAnswer, "/validate", {"yaml": "a: b"})

    assert "nothing cannot be used: " in refused.value.message


def test_a_request_is_refused_in_the_services_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / VERSION, "sealed")
    monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", str(tmp_path))
    rules = [{"name": "a", "condition": "true", "expect": "most", "colour": 1}]
    with closing(LocalApi()) as api, pytest.raises(ServerError) as refused:
        api.create(PlainAnswer, "/testing/runs", {"yaml": "a: b", "sample": "x", "signal_type": "logs", "rules": rules})

    assert refused.value.detail == "body.target_pipeline: This field is required (and 2 more)"
    assert [(error["loc"], error["message"]) for error in refused.value.errors] == [
        (["body", "target_pipeline"], "This field is required"),
        (["body", "rules", 0, "expect"], "This must be one of 'any', 'all', 'none' or 'count'"),
        (["body", "rules", 0, "colour"], "Unknown field"),
    ]


def test_the_default_collector_is_the_one_that_make_builds() -> None:
    assert (ROOT / "layers/collector/versions/DEFAULT").read_text().strip() == collectors.DEFAULT


def test_collectors_are_found_where_make_puts_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADGATE_COLLECTORS_DIR", raising=False)
    monkeypatch.delenv("HEADGATE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(
        NoCollector, match=r"there is no collector in .*: install one with .*, build one with `make collector`"
    ):
        collectors.default()

    for version in ("0.9.0", "0.10.0", "not-a-version"):
        folder = tmp_path / "headgate" / "collectors" / version
        folder.mkdir(parents=True)
        (folder / "otelcol-contrib").touch()

    assert collectors.installed() == ["0.9.0", "0.10.0"]
    assert collectors.default() == "0.10.0"
