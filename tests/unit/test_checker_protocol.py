"""An engine asks programs of its own protocol only; another one is refused, whatever is asked."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.checker import Checker, Refused, Unusable
from headgate_engine.checker.limits import Limits
from headgate_engine.policies.model import PolicyChoices
from headgate_engine.validation import checking
from headgate_engine.validation import service as validation
from headgate_engine.validation.checking import Parts
from headgate_engine.validation.model import CheckRequest, NotChecked
from tests.support.askers import ASKER
from tests.support.faulty import LIMITS, VERSION, install

MakeChecker = Callable[[Limits], Checker]
ANOTHER = "2.0.0"
REFUSAL = "speaks protocol 2, and this Headgate speaks 1: build it again with `make collector`"


@pytest.fixture
def checker(make_checker: MakeChecker, faulty_collectors: Path) -> Checker:
    """Has a version that speaks the engine's protocol, and one that speaks another."""
    install(faulty_collectors / ANOTHER, "protocol-2")
    return make_checker(LIMITS)


@pytest.mark.parametrize("op", ["validate", "check", "lint", "policies", "prepare", "describe"])
def test_a_program_that_speaks_another_protocol_is_asked_nothing(checker: Checker, op: str) -> None:
    with pytest.raises(Unusable, match=REFUSAL):
        checker.call(op, {"yaml": "x"}, version=ANOTHER, asker=ASKER)


def test_its_plain_command_gives_no_verdict_either(checker: Checker) -> None:
    asker = replace(ASKER, collectors=checker)

    with pytest.raises(NotChecked, match=REFUSAL):
        validation.validate("any", ANOTHER, asker=asker)
    parts = Parts(lint=True, policies=True, graph=True)
    with pytest.raises(NotChecked, match=REFUSAL):
        checking.check(CheckRequest("any", ANOTHER, {}), parts, PolicyChoices(), asker=asker)


def test_a_program_of_a_time_before_there_was_a_number_is_refused(
    make_checker: MakeChecker, faulty_collectors: Path
) -> None:
    install(faulty_collectors / ANOTHER, "protocol-")

    with pytest.raises(Unusable, match="states no protocol, and this Headgate speaks 1: build it again"):
        make_checker(LIMITS).call("any", {}, version=ANOTHER, asker=ASKER)


def test_feature_gates_are_not_tried_on_it(checker: Checker) -> None:
    with pytest.raises(Unusable, match=REFUSAL):
        checker.call("validate", {"yaml": "x", "feature_gates": ["+a"]}, version=ANOTHER, asker=ASKER)


def test_the_version_beside_it_answers(checker: Checker) -> None:
    with pytest.raises(Unusable):
        checker.call("any", {}, version=ANOTHER, asker=ASKER)

    assert checker.call("any", {"echo": 1}, version=VERSION, asker=ASKER)["echo"] == 1


def test_a_program_of_the_protocol_in_its_place_answers(checker: Checker, faulty_collectors: Path) -> None:
    with pytest.raises(Unusable):
        checker.call("any", {}, version=ANOTHER, asker=ASKER)
    install(faulty_collectors / ANOTHER)

    assert checker.call("any", {"echo": 1}, version=ANOTHER, asker=ASKER)["echo"] == 1


def test_where_the_default_version_speaks_another_there_is_no_verdict(
    make_checker: MakeChecker, faulty_collectors: Path
) -> None:
    install(faulty_collectors / VERSION, "protocol-2")
    checker = make_checker(LIMITS)

    with pytest.raises(NotChecked, match=REFUSAL):
        validation.validate("any", asker=replace(ASKER, collectors=checker))
    with pytest.raises(Unusable, match=REFUSAL):
        checker.describe(VERSION, asker=ASKER)


def test_a_refusal_of_the_protocol_is_not_one_of_the_text(checker: Checker) -> None:
    with pytest.raises(Refused):
        checker.call("any", {"do": "refused"}, asker=ASKER)
