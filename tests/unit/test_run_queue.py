"""Turns of test runs in a queue: who may wait, whose turn it is, and when a place is free again."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from headgate.foundation.ids import encode_id
from headgate.runs.queue import Queue, QueuePlace, TooManyRuns
from headgate_engine.testing.model import LONGEST

AT: Final = datetime(2026, 11, 26, 12, tzinfo=UTC)
RUNS: Final = tuple(encode_id("run", number) for number in range(4))
JOBS: Final = tuple(encode_id("job", number) for number in range(4))


def queue(running: tuple[str, ...] = (), waiting: tuple[str, ...] = ()) -> Queue:
    return Queue("org_1", 1, tuple(QueuePlace(each, AT) for each in running), waiting)


@pytest.mark.parametrize(
    ("before", "has_room"),
    [
        (queue(), True),
        (queue(RUNS[:2]), True),
        (queue(RUNS[:2], RUNS[2:3]), True),
        (queue(RUNS[:2], RUNS[2:4]), False),
        # More wait than may since the limit was lowered.
        (queue(RUNS[:1], RUNS[1:4]), False),
        # A place is free, and those that wait come first.
        (queue(RUNS[:1], RUNS[2:4]), False),
    ],
)
def test_a_run_is_refused_once_as_many_wait_as_may(before: Queue, has_room: bool) -> None:
    if has_room:
        before.require_room(2, 2)
    else:
        with pytest.raises(TooManyRuns, match=f"{len(before.waiting)} test runs of this organization wait"):
            before.require_room(2, 2)


@pytest.mark.parametrize(("running", "has_room"), [(RUNS[:1], True), (RUNS[:2], False)])
def test_where_none_may_wait_a_run_needs_a_free_place(running: tuple[str, ...], has_room: bool) -> None:
    if has_room:
        queue(running).require_room(0, 2)
    else:
        with pytest.raises(TooManyRuns):
            queue(running).require_room(0, 2)


@pytest.mark.parametrize(
    ("before", "turn"),
    [
        (queue(RUNS[:1], RUNS[1:3]), RUNS[1]),
        (queue(RUNS[:2], RUNS[2:]), None),
        (queue(RUNS[:1]), None),
        (queue((), (JOBS[0], RUNS[0])), JOBS[0]),
        # One job at a time: the first that is none has its turn.
        (queue(JOBS[:1], (JOBS[1], RUNS[0])), RUNS[0]),
        (queue(JOBS[:1], JOBS[1:]), None),
    ],
)
def test_the_first_that_waits_has_its_turn_while_there_is_a_place(before: Queue, turn: str | None) -> None:
    assert before.next(places=2, jobs=1) == turn


def test_a_run_waits_once_and_moves_from_waiting_to_its_place() -> None:
    waiting = queue().enter(RUNS[0]).enter(RUNS[1]).enter(RUNS[0])
    begun = waiting.begin(RUNS[1], AT)

    assert (waiting.waiting, begun.waiting) == (RUNS[:2], RUNS[:1])
    assert begun.place(RUNS[1]) == QueuePlace(RUNS[1], AT)
    assert begun.place(RUNS[0]) is None
    assert [begun.holds(each) for each in RUNS[:3]] == [True, True, False]
    assert begun.begin(RUNS[1], AT + LONGEST).places == (QueuePlace(RUNS[1], AT + LONGEST),)
    assert begun.leave(*RUNS) == replace(begun, places=(), waiting=())
    assert begun.leave(RUNS[2]) == begun


@pytest.mark.parametrize(("later", "stays"), [(timedelta(0), True), (timedelta(milliseconds=1), False)])
def test_a_place_is_lost_after_the_longest_time_that_a_run_takes(later: timedelta, stays: bool) -> None:
    assert (queue(RUNS[:1]).without_lost(AT + LONGEST + later) == queue(RUNS[:1])) is stays
