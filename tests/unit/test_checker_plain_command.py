"""What is made of the plain command's end: a verdict, or the word that there is none."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.checker import CheckerBusy, CheckerFailed, PlainVerdict
from headgate_engine.checker.limits import MEBIBYTE, Limits
from headgate_engine.checker.plain_command import PlainCommand
from headgate_engine.checker.variables import rename
from tests.support.faulty import install

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
def test_a_death_is_not_a_verdict(binary: Path, what: str) -> None:
    with pytest.raises(CheckerFailed, match="ended with status"):
        PlainCommand(LIMITS).validate(binary, what, {})


@pytest.mark.parametrize("what", ["hang", "stop"])
def test_a_hang_is_not_a_verdict(binary: Path, what: str) -> None:
    with pytest.raises(CheckerFailed, match="did not answer in time"):
        PlainCommand(replace(LIMITS, request_seconds=0.2)).validate(binary, what, {})


def test_much_output_blocks_nothing(binary: Path) -> None:
    assert PlainCommand(LIMITS).validate(binary, "chatter", {}).valid


def test_what_cannot_be_run_is_not_a_verdict(binary: Path) -> None:
    with pytest.raises(CheckerFailed, match="could not launch"):
        PlainCommand(LIMITS).validate(binary.with_name("nothing"), "fine", {})


@pytest.mark.parametrize("env", [{"A": "x" * 1_000_000}, {"A": "\0"}])
def test_an_environment_that_no_process_can_have_is_not_a_verdict(binary: Path, env: dict[str, str]) -> None:
    with pytest.raises(CheckerFailed, match="could not launch"):
        PlainCommand(LIMITS).validate(binary, "# ${env:A}/fine", env)


def test_the_command_has_the_variables_that_the_text_refers_to_under_names_of_ours(
    binary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    text = "# ${env:AWS_CONFIG_FILE} ${GODEBUG} ${env:UNSET} ${env:AWS_CONFIG_FILE}/environment"
    env = {"AWS_CONFIG_FILE": "1", "GODEBUG": "2", "PATH": "/bin"}

    verdict = PlainCommand(LIMITS).validate(binary, text, env)

    ours = {"AWS_EC2_METADATA_DISABLED": "true", "HOME": "/", "ZONEINFO": "/zones.zip"}
    assert json.loads(verdict.message) == {"AWS_CONFIG_FILE": "1", "GODEBUG": "2", **ours}  # put back in the message


def test_no_variable_of_a_caller_is_one_of_the_process() -> None:
    renamed = rename("a: ${env:TZ:-x} ${TZ}\n${env:B}: ${env:TZ} # ${C}", {"TZ": "/etc", "B": "", "PATH": "/bin"})

    first, second, third = (f"HEADGATE_VAR_{number}_" for number in range(3))
    assert renamed.yaml == f"a: ${{env:{first}:-x}} ${{{first}}}\n${{env:{second}}}: ${{env:{first}}} # ${{{third}}}"
    assert renamed.env == {first: "/etc", second: ""}


def test_a_message_has_the_callers_names_even_where_they_are_like_ours() -> None:
    names = [f"N{number}" for number in range(11)]
    renamed = rename(" ".join(f"${{{name}}}" for name in names) + " HEADGATE_VAR_1_", {})

    said = "HEADGATE_VAR_1_ HEADGATE_VAR__1_ HEADGATE_VAR__10_"
    assert renamed.in_the_callers_names(said) == "HEADGATE_VAR_1_ N1 N10"


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
        "\ufeff%TAG ! tag:yaml.org,2002:\n---\na: !binary JHtmaWxlOi9ldGMvcGFzc3dkfQ==",
        "#\r%TAG ! tag:yaml.org,2002:\n---\na: !binary JHtmaWxlOi9ldGMvcGFzc3dkfQ==",
        "#\u2028%TAG ! tag:yaml.org,2002:\n---\na: !binary JHtmaWxlOi9ldGMvcGFzc3dkfQ==",
        "a: !%21binary JHtmaWxlOi9ldGMvcGFzc3dkfQ==",
        "a: ${file:-/etc/passwd}",
        "a: ${yaml:-5}",
        "a: ${A:-5}",
        "a: ${env:A:-!!binary JHtmaWxlOi9ldGMvcGFzc3dkfQ==}",
        "a: ${env:A:-} $${env:A:-}{file:/etc/passwd}",
        "a: $${file:/etc/passwd}",
    ],
)
def test_a_text_that_may_read_what_is_outside_of_it_is_not_run(yaml: str) -> None:
    with pytest.raises(CheckerFailed, match="outside"):
        rename(yaml, {})


@pytest.mark.parametrize(
    "value",
    [
        "${file:/etc/passwd}",
        '"\\x24{file:/etc/passwd}"',
        "!!binary JHtmaWxlOi9ldGMvcGFzc3dkfQ==",
        "%TAG ! tag:yaml.org,2002:",
        "\ufeff%TAG ! tag:yaml.org,2002:",
        "!%21binary JHtmaWxlOi9ldGMvcGFzc3dkfQ==",
    ],
)
def test_a_variable_that_may_bring_such_a_text_is_not_run(value: str) -> None:
    with pytest.raises(CheckerFailed, match="outside"):
        rename("a: ${env:A}", {"A": value})


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
    rename(yaml, {"A": "plain"})
