"""The processes of versions beside the default one: started by a question, ended when nobody asks any more."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.checker import Checker, NoChecker
from tests.support.askers import ASKER
from tests.support.faulty import LIMITS, install
from tests.support.processes import wait_until

MakeChecker = Callable[..., Checker]
OTHERS = ("1.10.0", "1.11.0", "1.12.0", "1.13.0")


@pytest.fixture
def others(faulty_collectors: Path) -> Path:
    for version in OTHERS:
        install(faulty_collectors / version)
    return faulty_collectors


@pytest.fixture
def checker(others: Path, make_checker: MakeChecker) -> Checker:
    return make_checker(replace(LIMITS, idle_seconds=60))


def pid(checker: Checker, version: str) -> object:
    return checker.call("any", {}, asker=ASKER, version=version)["pid"]


def test_nothing_of_them_runs_before_the_first_question(checker: Checker) -> None:
    checker.warm()
    wait_until(lambda: bool(checker.pids()))

    assert [checker.pids(version) for version in OTHERS] == [[]] * 4


def test_a_version_answers_again_and_again_by_the_same_process(checker: Checker) -> None:
    assert len({pid(checker, "1.10.0") for _ in range(5)}) == 1
    assert pid(checker, "1.10.0") != pid(checker, "1.11.0")


def test_it_ends_when_nobody_has_asked_for_a_while_and_starts_again(others: Path, make_checker: MakeChecker) -> None:
    checker = make_checker(replace(LIMITS, idle_seconds=0.3))
    first, default = pid(checker, "1.10.0"), pid(checker, "1.2.3")

    wait_until(lambda: checker.pids("1.10.0") == [])

    assert checker.pids() == [default]
    assert pid(checker, "1.10.0") != first
    wait_until(lambda: checker.pids("1.10.0") == [])


def test_it_does_not_end_in_the_middle_of_an_answer(others: Path, make_checker: MakeChecker) -> None:
    checker = make_checker(replace(LIMITS, idle_seconds=0.1))

    answer = checker.call("any", {"seconds": 1, "echo": "here"}, asker=ASKER, version="1.10.0")

    assert answer["echo"] == "here"
    wait_until(lambda: checker.pids("1.10.0") == [])


def test_only_two_versions_beside_the_default_one_have_processes(checker: Checker) -> None:
    for version in OTHERS:
        pid(checker, version)

    assert [bool(checker.pids(version)) for version in OTHERS] == [False, False, True, True]


def test_a_version_that_answers_is_not_crowded_out(checker: Checker, make_checker: MakeChecker, others: Path) -> None:
    checker = make_checker(replace(LIMITS, processes=4))
    answered = []
    asking = threading.Thread(
        target=lambda: answered.append(
            checker.call("any", {"seconds": 1.5, "echo": "here"}, asker=ASKER, version="1.10.0")["echo"]
        )
    )
    asking.start()
    wait_until(lambda: bool(checker.pids("1.10.0")))
    for version in OTHERS[1:]:
        pid(checker, version)
    asking.join()

    assert answered == ["here"]


def test_a_binary_in_the_place_of_another_one_is_asked_at_once(checker: Checker, others: Path) -> None:
    install(others / "1.10.0", "release")
    with pytest.raises(NoChecker):
        pid(checker, "1.10.0")
    install(others / "1.10.0")
    first = pid(checker, "1.10.0")
    install(others / "1.10.0", "reduced")

    assert pid(checker, "1.10.0") != first
    assert len(checker.pids("1.10.0")) == 1


def test_the_predecessors_process_finishes_its_answer(make_checker: MakeChecker, others: Path) -> None:
    checker = make_checker(replace(LIMITS, processes=4))
    answered = []
    asking = threading.Thread(
        target=lambda: answered.append(
            checker.call("any", {"seconds": 1, "echo": "here"}, asker=ASKER, version="1.10.0")["echo"]
        )
    )
    asking.start()
    wait_until(lambda: bool(checker.pids("1.10.0")))
    install(others / "1.10.0", "reduced")
    pid(checker, "1.10.0")
    asking.join()

    assert answered == ["here"]


def test_a_question_whose_binary_is_replaced_before_a_process_took_it_is_answered(
    make_checker: MakeChecker, others: Path
) -> None:
    checker = make_checker(replace(LIMITS, processes=4))
    with ThreadPoolExecutor(1) as asking:
        for round_ in range(10):
            answer = asking.submit(checker.call, "any", {"echo": round_}, asker=ASKER, version="1.10.0")
            install(others / "1.10.0", *["reduced"][: round_ % 2])
            pid(checker, "1.10.0")

            assert answer.result()["echo"] == round_


def test_closing_ends_all_of_them(checker: Checker) -> None:
    for version in OTHERS[:2]:
        pid(checker, version)
    checker.close()

    assert [checker.pids(version) for version in OTHERS[:2]] == [[], []]
