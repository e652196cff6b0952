"""No process that has read one organization's text ever reads another's, and no credential keeps the others waiting."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from headgate.checker import Asker, Checker, CheckerBusy, CheckerFailed
from headgate_engine.checker.limits import Limits
from headgate_engine.checker.turns import Turns
from tests.support import faulty, sizes
from tests.support.processes import wait_until

LIMITS = replace(faulty.LIMITS, processes=2, spares=1, queue_length=100)
ANN = Asker("org_a", "tok_ann")
ALF = Asker("org_a", "tok_alf")
BOB = Asker("org_b", "tok_bob")
CLO = Asker("org_c", "tok_clo")
QUESTIONS = sizes.either(30, 60)
CRASH_EVERY = 17

MakeChecker = Callable[[Limits], Checker]


def pid_of(checker: Checker, asker: Asker) -> object:
    return checker.call("any", {}, asker=asker)["pid"]


def test_each_organization_has_a_process_of_its_own_and_keeps_it(make_checker: MakeChecker) -> None:
    checker = make_checker(LIMITS)
    first = {asker: pid_of(checker, asker) for asker in (ANN, BOB)}

    assert first[ANN] != first[BOB]
    assert {asker: pid_of(checker, asker) for asker in (ANN, BOB)} == first
    assert pid_of(checker, ALF) == first[ANN]


@pytest.mark.sized
@pytest.mark.parametrize("limits", [LIMITS, Limits(start_seconds=60, queue_seconds=60)], ids=["here", "in Lambda"])
def test_no_process_ever_serves_two_organizations(make_checker: MakeChecker, limits: Limits) -> None:
    """In Lambda there is one process, where an execution environment should ever see a second organization."""
    checker = make_checker(replace(limits, recycle_calls=20, queue_length=100))
    served: list[tuple[object, str]] = []

    def ask(number: int) -> None:
        asker = Asker(f"org_{number * 7 % 5}", f"tok_{number % 11}")
        do = "crash" if number % CRASH_EVERY == 0 else "answer"
        try:
            served.append((checker.call("any", {"do": do}, asker=asker)["pid"], asker.organization_id))
        except CheckerFailed:
            assert do == "crash"

    with ThreadPoolExecutor(12) as askers:
        list(askers.map(ask, range(QUESTIONS)))

    assert len(served) == QUESTIONS - len(range(0, QUESTIONS, CRASH_EVERY))
    assert {pid for pid, _ in served} == {pid for pid, _ in set(served)}
    assert len(set(served)) == len({pid for pid, _ in served})


def test_a_spare_that_has_read_nothing_waits_for_another_organization(make_checker: MakeChecker) -> None:
    checker = make_checker(LIMITS)
    of_ann = pid_of(checker, ANN)
    wait_until(lambda: len(checker.pids()) == 2)
    (spare,) = set(checker.pids()) - {of_ann}

    assert pid_of(checker, BOB) == spare
    wait_until(lambda: len(checker.pids()) == 3)


def test_the_process_that_was_idle_for_longest_leaves(make_checker: MakeChecker) -> None:
    checker = make_checker(LIMITS)
    organizations = [Asker(f"org_{number}", f"tok_{number}") for number in range(6)]
    first = [pid_of(checker, asker) for asker in organizations]
    wait_until(lambda: len(checker.pids()) == 4)

    assert set(first[3:]) < set(checker.pids())
    assert pid_of(checker, organizations[-1]) == first[-1]
    assert pid_of(checker, organizations[0]) != first[0]


def test_another_credential_and_another_organization_are_served_while_one_asks_without_end(
    make_checker: MakeChecker,
) -> None:
    checker = make_checker(LIMITS)
    others: list[int] = []
    with ThreadPoolExecutor(24) as threads:
        # Each would hold a process until it is killed.
        hanging = [threads.submit(checker.call, "any", {"do": "hang"}, asker=ANN) for _ in range(6)]
        try:
            wait_until(lambda: checker.waiting() == 5)
            for asker in (BOB, ALF, CLO) * 10:
                others.append(int(str(checker.call("any", {"echo": 1}, asker=asker)["echo"])))

            assert not any(one.done() for one in hanging)
            assert checker.waiting() == 5
        finally:
            checker.close()
    assert others == [1] * 30
    assert all(isinstance(one.exception(), CheckerFailed) for one in hanging)


def test_many_credentials_of_one_organization_leave_a_process_to_others(make_checker: MakeChecker) -> None:
    checker = make_checker(LIMITS)
    with ThreadPoolExecutor(24) as threads:
        for number in range(10):
            threads.submit(checker.call, "any", {"do": "hang"}, asker=Asker("org_a", f"tok_{number}"))
        try:
            wait_until(lambda: checker.waiting() == 8)

            assert [checker.call("any", {"echo": number}, asker=BOB)["echo"] for number in range(20)] == [*range(20)]
        finally:
            checker.close()


def test_turns_go_round_among_credentials() -> None:
    turns = Turns(Limits(processes=1, queue_seconds=60, queue_length=100))
    order: list[str] = []

    def ask(asker: Asker) -> None:
        with turns.turn(asker):
            order.append(asker.credential_id)

    with ThreadPoolExecutor(24) as threads, turns.turn(CLO):
        for number, asker in enumerate([ANN] * 6 + [BOB] * 2 + [ALF] * 2, start=1):
            threads.submit(ask, asker)
            wait_until(lambda number=number: turns.waiting() == number)

    assert order == ["tok_ann", "tok_bob", "tok_alf", "tok_ann", "tok_bob", "tok_alf", *["tok_ann"] * 4]


def test_the_queue_of_one_credential_is_bounded_and_nobody_elses_is_shorter_for_it() -> None:
    turns = Turns(Limits(processes=1, queue_seconds=60, queue_length=3))
    let_go = threading.Event()

    def ask(asker: Asker) -> None:
        with turns.turn(asker):
            let_go.wait(60)

    with ThreadPoolExecutor(24) as threads:
        waiting = [threads.submit(ask, ANN) for _ in range(4)]
        wait_until(lambda: turns.waiting() == 3)

        with pytest.raises(CheckerBusy, match="3 questions of this credential already wait"), turns.turn(ANN):
            pass

        waiting += [threads.submit(ask, BOB) for _ in range(3)]
        wait_until(lambda: turns.waiting() == 6)
        let_go.set()
        assert [one.result() for one in waiting] == [None] * 7
    assert turns.waiting() == 0


def test_a_turn_that_did_not_come_in_time_leaves_no_place_behind() -> None:
    turns = Turns(Limits(processes=1, queue_seconds=0.05))
    with turns.turn(ANN):
        with pytest.raises(CheckerBusy, match="busy for"), turns.turn(BOB):
            pass
        assert turns.waiting() == 0

    with turns.turn(BOB):
        pass
