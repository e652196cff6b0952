"""Which process of the pool answers, and when one is replaced."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.checker import Asker, Checker, CheckerFailed
from headgate_engine.checker.limits import Limits
from headgate_engine.checker.pool import Pool
from tests.support.faulty import LIMITS, VERSION, install
from tests.support.processes import wait_until

ANN, BOB = Asker("org_1", "tok_ann"), Asker("org_1", "tok_bob")


@pytest.fixture
def make_pool(faulty_collectors: Path) -> Iterator[Callable[[Limits], Pool]]:
    pools = []

    def make(limits: Limits) -> Pool:
        pools.append(Pool(faulty_collectors / VERSION / "otelcol-contrib", limits, max_asking=4, max_bound=4))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


def test_the_process_that_was_used_last_answers_so_that_not_all_wear_out_together(
    make_checker: Callable[[Limits], Checker],
) -> None:
    checker = make_checker(replace(LIMITS, processes=2))

    def ask(asker: Asker) -> object:
        return checker.call("any", {"seconds": 0.05}, asker=asker)["pid"]

    with ThreadPoolExecutor(2) as askers:
        wait_until(lambda: len(set(askers.map(ask, (ANN, BOB)))) == 2)

    assert len({checker.call("any", {}, asker=BOB)["pid"] for _ in range(4)}) == 1


def test_a_process_is_replaced_after_its_last_call_and_not_before(make_pool: Callable[[Limits], Pool]) -> None:
    pool = make_pool(replace(LIMITS, recycle_calls=3))
    for _ in range(2):
        pool.ask(ANN, "any", {})
    # It ends the processes unless one starts, as a replacement would.
    pool.rest()
    before = pool.pids()
    for _ in range(3):
        pid = pool.ask(ANN, "any", {})["pid"]

    assert before == []
    wait_until(lambda: pid not in pool.pids() and pool.has_idle())


def test_the_process_that_was_idle_for_longest_makes_room(make_pool: Callable[[Limits], Pool]) -> None:
    pool = make_pool(LIMITS)
    pids = {number: pool.ask(Asker(f"org_{number}", "tok"), "any", {})["pid"] for number in range(4)}
    pool.ask(Asker("org_0", "tok"), "any", {})

    pool.ask(Asker("org_5", "tok"), "any", {})

    assert pids[1] not in pool.pids()
    assert pids[0] in pool.pids()


def test_a_collector_that_cannot_start_is_not_started_for_each_question(
    make_pool: Callable[[Limits], Pool], faulty_collectors: Path
) -> None:
    install(faulty_collectors / VERSION, "crashes")
    pool = make_pool(replace(LIMITS, retry_start_seconds=600))
    with pytest.raises(CheckerFailed, match=r"exited with status 2: panic$"):
        pool.ask(ANN, "any", {})
    install(faulty_collectors / VERSION)

    with pytest.raises(CheckerFailed, match=r"exited with status 2: panic$"):
        pool.ask(ANN, "any", {})


def test_a_process_makes_room_before_another_one_starts(make_pool: Callable[[Limits], Pool]) -> None:
    pool = make_pool(LIMITS)
    before = {pool.ask(Asker(f"org_{number}", "tok"), "any", {})["pid"] for number in range(4)}
    with ThreadPoolExecutor(1) as threads:
        hanging = threads.submit(pool.ask, Asker("org_5", "tok"), "any", {"do": "hang"})
        wait_until(lambda: not before.issuperset(pool.pids()))
        processes = len(pool.pids())
        pool.close()

        assert isinstance(hanging.exception(), CheckerFailed)
    assert processes == 4
