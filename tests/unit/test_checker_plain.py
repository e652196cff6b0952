"""What is made of the plain command's end: a verdict, or the word that there is none."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.checker import CheckerBusy, CheckerFailed, PlainVerdict
from headgate.checker.limits import MEBIBYTE, Limits
from headgate.checker.plain import PlainCommand, refuse_what_reads_outside
from tests.unit.faulty import install

LIMITS = Limits(processes=1, queue_seconds=0.1, request_seconds=60, kill_bytes=300 * MEBIBYTE)


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    return install(tmp_path)


def test_status_0_is_valid(binary: Path) -> None:
    assert PlainVerdict(valid=True, message="") == PlainCommand(LIMITS).validate(binary, "fine", {})


def test_status_1_with_an_error_text_is_invalid_and_the_text_is_kept_whole(binary: Path) -> None:
    verdict = PlainCommand(LIMITS).validate(binary, "invalid", {})

    assert PlainVerdict(valid=False, message="service: has no pipelines\nsecond line") == verdict


@pytest.mark.parametrize("what", ["crash", "kill", "grow", "unreasoned"])
def test_a_death_is_no_verdict(binary: Path, what: str) -> None:
    with pytest.raises(CheckerFailed, match="ended with status"):
        PlainCommand(LIMITS).validate(binary, what, {})


@pytest.mark.parametrize("what", ["hang", "stop"])
def test_a_hang_is_no_verdict(binary: Path, what: str) -> None:
    with pytest.raises(CheckerFailed, match="did not answer in time"):
        PlainCommand(replace(LIMITS, request_seconds=0.2)).validate(binary, what, {})


def test_much_output_blocks_nothing(binary: Path) -> None:
    assert PlainCommand(LIMITS).validate(binary, "chatter", {}).valid


def test_what_cannot_be_run_is_no_verdict(binary: Path) -> None:
    with pytest.raises(CheckerFailed, match="could not launch"):
        PlainCommand(LIMITS).validate(binary.with_name("nothing"), "fine", {})


@pytest.mark.parametrize("env", [{"A": "x" * 1_000_000}, {"A": "\0"}])
def test_an_environment_that_no_process_can_have_is_no_verdict(binary: Path, env: dict[str, str]) -> None:
    with pytest.raises(CheckerFailed, match="could not launch"):
        PlainCommand(LIMITS).validate(binary, "fine", env)


def test_the_command_has_the_callers_variables_only(binary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")

    verdict = PlainCommand(LIMITS).validate(binary, "environment", {"A": "1", "LC_CTYPE": "C.UTF-8"})

    assert json.loads(verdict.message) == {"A": "1", "LC_CTYPE": "C.UTF-8", "AWS_EC2_METADATA_DISABLED": "true"}


def test_a_text_that_names_the_variable_of_ours_finds_it_empty(binary: Path) -> None:
    text = "# ${env:AWS_EC2_METADATA_DISABLED}/environment"

    verdict = PlainCommand(LIMITS).validate(binary, text, {"A": "1", "LC_CTYPE": "C.UTF-8"})

    assert json.loads(verdict.message) == {"A": "1", "LC_CTYPE": "C.UTF-8"}


def test_who_waits_too_long_for_a_place_is_told_so(binary: Path) -> None:
    command = PlainCommand(LIMITS)
    with command.place(), pytest.raises(CheckerBusy, match="busy for"):
        command.validate(binary, "fine", {})


@pytest.mark.parametrize(
    "yaml",
    [
        "a: ${file:/etc/passwd}",
        "a: ${https://example.com/x}",
        "a: ${ file:/etc/passwd}",
        "a: ${s3://bucket/key}",
        "a: ${yaml:b}",
        "a: ${${env:SCHEME}:/etc/passwd}",
        "a: ${env:A:-${file:/etc/passwd}}",
        'a: "\\x24{file:/etc/passwd}"',
        'a: "\\u0024{file:/etc/passwd}"',
        'a: "\\U00000024{file:/etc/passwd}"',
        'a: "$\\x7bfile:/etc/passwd}"',
        'a: "$\\\n  {file:/etc/passwd}"',
        "a: !!binary JHtmaWxlOi9ldGMvcGFzc3dkfQ==",
        "a: !<tag:yaml.org,2002:binary> JHtmaWxlOi9ldGMvcGFzc3dkfQ==",
        "%TAG !x! tag:yaml.org,2002:\n---\na: !x!binary JHtmaWxlOi9ldGMvcGFzc3dkfQ==",
        "a: ${env:A:-} $${env:A:-}{file:/etc/passwd}",
        "a: $${file:/etc/passwd}",
    ],
)
def test_a_text_that_may_read_what_is_outside_of_it_is_not_run(yaml: str) -> None:
    with pytest.raises(CheckerFailed, match="outside"):
        refuse_what_reads_outside(yaml, {})


def test_a_variable_that_may_bring_such_a_text_is_not_run() -> None:
    with pytest.raises(CheckerFailed, match="outside"):
        refuse_what_reads_outside("a: ${env:A}", {"A": "${file:/etc/passwd}"})


@pytest.mark.parametrize(
    "yaml",
    [
        "a: ${env:A}",
        "a: ${A}",
        "a: ${env:A:-b/c:d}",
        "a: ${env:A}:${env:B}",
        "a: $orgvar:A",
        "a: $$b",
        'b != "x" # 100%',
    ],
)
def test_an_ordinary_text_is_run(yaml: str) -> None:
    refuse_what_reads_outside(yaml, {"A": "plain"})
