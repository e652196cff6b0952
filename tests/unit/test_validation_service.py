"""What becomes of a validation whose checker fails: the plain command's verdict, or the word that there is none."""

from pathlib import Path

import pytest

from headgate import checker
from headgate.checker import NoChecker, PlainVerdict, Refused
from headgate_engine.validation import service as validation
from headgate_engine.validation.model import (
    CollectorVersionNotInstalled,
    ComponentNotInBuild,
    NotChecked,
    TooCostly,
    YamlInvalid,
)
from tests.support.askers import ASKER
from tests.support.faulty import VERSION, install

pytestmark = pytest.mark.usefixtures("faulty_checker")


@pytest.mark.parametrize("failure", ["crash", "kill", "garbage", "refused", "panicked", "answer"])
def test_the_plain_command_decides_where_the_checker_fails(failure: str) -> None:
    valid = validation.validate(f"{failure}/fine", asker=ASKER)
    invalid = validation.validate(f"{failure}/invalid", asker=ASKER)

    assert (valid.valid, valid.version, list(valid.errors)) == (True, VERSION, [])
    assert not invalid.valid
    assert [found.message for found in invalid.errors] == ["service: has no pipelines\nsecond line"]


@pytest.mark.parametrize("failure", ["crash", "kill", "unreasoned"])
def test_where_both_fail_nothing_was_checked(failure: str) -> None:
    with pytest.raises(NotChecked, match=r"; the YAML was not checked$"):
        validation.validate(f"crash/{failure}", asker=ASKER)


def test_a_text_on_which_a_component_crashes_is_invalid_and_no_outage() -> None:
    result = validation.validate("component_crash/fine", asker=ASKER)

    assert (result.valid, result.valid_on_host) == (False, False)
    assert [(found.code, found.component_path, found.message) for found in result.errors] == [
        ("crash", "processors::example", "panic: out of my depth")
    ]


def test_so_is_one_on_which_the_plain_command_crashes() -> None:
    result = validation.validate("kill/component_crash", asker=ASKER)

    assert [found.code for found in result.errors] == ["crash"]


def test_what_is_too_costly_is_refused_at_once_and_its_field_named() -> None:
    with pytest.raises(TooCostly) as raised:
        validation.validate("too_costly/fine", asker=ASKER)

    assert [(error.loc, error.message) for error in raised.value.errors] == [(("body", "yaml"), "on command")]


@pytest.fixture
def no_plain_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain command is not to be asked."""

    def asked(*_: object, **__: object) -> PlainVerdict:
        raise AssertionError("the plain command was asked")

    monkeypatch.setattr(checker.COLLECTORS, "validate_plainly", asked)


@pytest.mark.usefixtures("no_plain_command")
def test_what_took_too_much_is_too_costly_and_the_next_question_is_answered() -> None:
    for _ in range(3):
        with pytest.raises(TooCostly, match="on command"):
            validation.validate("exceeded/fine", asker=ASKER)
    with pytest.raises(TooCostly, match="on command"):
        validation.lint_yaml("too_costly/fine", asker=ASKER)


@pytest.mark.usefixtures("no_plain_command")
def test_the_plain_command_is_not_given_a_text_whose_price_is_too_high_or_unknown() -> None:
    with pytest.raises(TooCostly, match="on command"):
        validation.validate("crash-dear/fine", asker=ASKER)
    with pytest.raises(NotChecked, match=r"; the YAML was not checked$"):
        validation.validate("crash-unpriced/fine", asker=ASKER)


@pytest.mark.usefixtures("no_plain_command")
def test_an_official_release_is_not_given_one_either(monkeypatch: pytest.MonkeyPatch) -> None:
    def official(op: str, *_: object, **__: object) -> dict[str, object]:
        if op == "validate":
            raise NoChecker("This collector has no check command")
        raise Refused("too_costly", "on command")

    monkeypatch.setattr(checker.COLLECTORS, "call", official)

    with pytest.raises(TooCostly, match="on command"):
        validation.validate("fine", asker=ASKER)


def test_a_version_that_is_not_installed_is_the_requests_fault_and_those_that_are_are_listed(tmp_path: Path) -> None:
    install(tmp_path / "1.10.0")
    (tmp_path / "1.9.9").mkdir()
    with pytest.raises(CollectorVersionNotInstalled) as raised:
        validation.validate("answer/fine", "9.9.9", asker=ASKER)

    assert raised.value.detail == f"Collector version 9.9.9 is not installed; installed: {VERSION}, 1.10.0"
    assert [error.loc for error in raised.value.errors] == [("body", "version")]


def test_the_default_collector_that_is_not_there_is_an_outage(tmp_path: Path) -> None:
    (tmp_path / VERSION / "otelcol-contrib").unlink()

    with pytest.raises(NotChecked, match=r"is not installed; installed: none; the YAML was not checked"):
        validation.validate("answer/fine", asker=ASKER)


def test_variables_of_the_plain_command_are_named_and_missing_ones_warned_of() -> None:
    result = validation.validate("crash# ${env:A} ${env:B:-b} ${env:C}/fine", env={"C": "c"}, asker=ASKER)

    assert [(variable.name, variable.has_default) for variable in result.environment] == [
        ("A", False),
        ("B", True),
        ("C", False),
    ]
    assert [(found.code, found.message) for found in result.warnings] == [
        ("unset_variable", "The environment variable A has no value and no default")
    ]


def test_requiring_validity_raises_with_every_finding() -> None:
    with pytest.raises(YamlInvalid) as raised:
        validation.require_valid("crash/invalid", VERSION, asker=ASKER)

    (error,) = raised.value.errors
    assert (error.loc, error.message, error.component_path) == (
        ("body", "yaml"),
        "service: has no pipelines\nsecond line",
        "service",
    )


def test_a_failing_linter_checked_nothing() -> None:
    with pytest.raises(NotChecked, match=r"nothing was checked$"):
        validation.lint_yaml("crash/fine", asker=ASKER)
    with pytest.raises(NotChecked, match=r"nothing was checked$"):
        validation.lint_expressions("log", {"conditions": ["true"]}, asker=ASKER)


@pytest.mark.parametrize("answer", ["component_not_in_build/fine", "crash/unknown"])
def test_what_only_a_reduced_build_calls_unknown_was_not_checked(answer: str, faulty_collectors: Path) -> None:
    """By its check process, and where that dies by its plain command."""
    install(faulty_collectors / "1.10.0", "reduced")

    with pytest.raises(ComponentNotInBuild) as raised:
        validation.validate(answer, "1.10.0", asker=ASKER)

    assert raised.value.detail.startswith("receivers::hostmetrics")
    assert "lacks the receiver hostmetrics" in raised.value.detail
    assert raised.value.detail.endswith("has it, or have 1.10.0 built whole")


def test_what_a_whole_build_calls_unknown_is_unknown(faulty_collectors: Path) -> None:
    install(faulty_collectors / "1.2.4", "release")

    for version in (VERSION, "1.2.4"):
        result = validation.validate("crash/unknown", version, asker=ASKER)
        (error,) = result.errors
        assert (result.valid, error.component_path) == (False, "receivers::hostmetrics/a")


def test_an_unknown_component_of_a_build_that_cannot_be_asked_what_it_lacks_was_not_checked(
    faulty_collectors: Path,
) -> None:
    install(faulty_collectors / "1.10.0", "misdescribed")

    with pytest.raises(NotChecked):
        validation.validate("crash/unknown", "1.10.0", asker=ASKER)
