"""What the file of a build says, and who is answered so."""

import json
import os
import time
from pathlib import Path

import pytest
from starlette.requests import Request

from headgate.checker import NotInstalled
from headgate.foundation.errors import Unavailable, code_of, not_ready
from headgate.http import problems
from headgate_engine.checker.errors import BeingBuilt, BuildFailed
from headgate_engine.checker.installed import Installed

VERSION = "0.139.0"


def write(folder: Path, state: object) -> Path:
    file = folder / f"{VERSION}.building"
    file.write_text(state if isinstance(state, str) else json.dumps(state))
    return file


@pytest.mark.parametrize(
    ("seconds", "left", "retry_after"), [(840, "14 minutes", 15), (9, "a minute", 9), (0, "a minute", 2)]
)
def test_a_build_says_how_far_it_is(tmp_path: Path, seconds: int, left: str, retry_after: int) -> None:
    write(tmp_path, {"percent": 7, "seconds_left": seconds})
    with pytest.raises(BeingBuilt) as raised:
        Installed(tmp_path).binary(VERSION)

    assert raised.value.detail == f"The collector {VERSION} is being built on this machine: 7 % done, about {left} left"
    assert raised.value.retry_after == retry_after


def test_a_build_in_two_stages_says_when_verdicts_are_possible_and_when_it_is_whole(tmp_path: Path) -> None:
    write(tmp_path, {"percent": 7, "seconds_left": 840, "first_seconds_left": 42})
    with pytest.raises(BeingBuilt, match="about a minute left until the first verdicts, about 14 minutes until it is"):
        Installed(tmp_path).binary(VERSION)


def test_the_first_program_answers_until_the_whole_one_is_there(tmp_path: Path) -> None:
    write(tmp_path, {"percent": 30, "seconds_left": 600})
    first, whole = tmp_path / f"{VERSION}.first" / "otelcol-contrib", tmp_path / VERSION / "otelcol-contrib"
    first.parent.mkdir()
    first.touch()
    installed = Installed(tmp_path)

    assert (installed.binary(VERSION), installed.versions()) == (first, (VERSION,))
    assert installed.is_first(installed.binary(VERSION))
    assert installed.whole_build(VERSION) is not None
    whole.parent.mkdir()
    whole.touch()
    assert (installed.binary(VERSION), installed.versions()) == (whole, (VERSION,))
    assert not installed.is_first(installed.binary(VERSION))
    assert installed.whole_build(VERSION) is None


def test_a_failed_build_says_why(tmp_path: Path) -> None:
    write(tmp_path, {"failed": "no space left"})
    with pytest.raises(BuildFailed, match="could not be built: no space left"):
        Installed(tmp_path).binary(VERSION)


@pytest.mark.parametrize("state", ["", "[]", "{", {"percent": "7"}, {"percent": 7}], ids=str)
def test_a_file_that_says_nothing_counts_for_nothing(tmp_path: Path, state: object) -> None:
    write(tmp_path, state)
    with pytest.raises(NotInstalled):
        Installed(tmp_path).binary(VERSION)


def test_the_file_of_a_build_that_was_killed_counts_for_a_minute(tmp_path: Path) -> None:
    file = write(tmp_path, {"percent": 7, "seconds_left": 60})
    os.utime(file, (0, time.time() - 120))
    with pytest.raises(NotInstalled):
        Installed(tmp_path).binary(VERSION)


def test_a_collector_that_is_there_is_used_while_the_next_is_built(tmp_path: Path) -> None:
    write(tmp_path, {"percent": 7, "seconds_left": 60})
    binary = tmp_path / VERSION / "otelcol-contrib"
    binary.parent.mkdir()
    binary.touch()

    assert Installed(tmp_path).binary(VERSION) == binary


def test_whoever_asked_the_part_answers_with_its_code() -> None:
    error = Unavailable("the YAML was not checked")
    error.__cause__ = BeingBuilt("it is being built", 5)

    assert code_of(error) == "collector_being_built"
    assert not_ready(error) is error.__cause__
    assert code_of(Unavailable("another outage")) == "unavailable"


def test_an_error_that_is_its_own_cause_comes_from_no_part() -> None:
    error = Unavailable("an outage")
    error.__cause__ = error

    assert not_ready(error) is None
    assert code_of(error) == "unavailable"


@pytest.mark.parametrize(("retry_after", "level"), [(5, "info"), (None, "warning")])
def test_those_who_wait_for_a_build_do_not_fill_its_terminal(
    retry_after: int | None, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged: list[str] = []
    for name in ("info", "warning"):
        monkeypatch.setattr(problems.logger, name, lambda *_, name=name, **__: logged.append(name))
    error = Unavailable("the YAML was not checked")
    error.__cause__ = BeingBuilt("it is being built", retry_after)
    problems._domain_error(Request({"type": "http", "state": {}}), error)

    assert logged == [level]
