"""How many messages senders may send: who waits, for how long, and that everybody has a turn."""

import heapq
import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import pytest

from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.opamp import pace
from headgate.opamp.pace import LONGEST_WAIT, SenderPace

RATE, AT_ONCE = 100.0, 1_000.0
HOSTS = 10_000


def test_ten_thousand_hosts_that_return_at_once_are_all_heard() -> None:
    """Each sends its message again when it was told to, as agents do; then it sends heartbeats."""
    random.seed(37)
    turns, heard = SenderPace(), dict[int, float]()
    waiting = [(0.0, host) for host in range(HOSTS)]
    refused: Counter[int] = Counter()
    while waiting:
        at, host = heapq.heappop(waiting)
        wait = turns.wait("token", RATE, AT_ONCE, at)
        if wait:
            refused[host] += 1
            heapq.heappush(waiting, (at + pace.TooManyMessages("token", wait).retry_after, host))
        else:
            heard[host] = at
    by_second = Counter(int(at) for at in heard.values())

    assert len(heard) == HOSTS
    assert max(heard.values()) < 3 * HOSTS / RATE
    assert max(count for second, count in by_second.items() if second > 1) <= 3 * RATE
    assert max(refused.values()) <= 5


def test_the_message_of_one_token_does_not_wait_for_those_of_another() -> None:
    turns = SenderPace()
    waits = [turns.wait("busy", RATE, AT_ONCE, 0.0) for _ in range(5_000)]

    assert (max(waits) > 1, turns.wait("quiet", RATE, AT_ONCE, 0.0)) == (True, 0.0)


def test_nobody_waits_so_long_that_a_host_counts_as_stale() -> None:
    turns = SenderPace()
    waits = [turns.wait("busy", RATE, AT_ONCE, 0.0) for _ in range(200_000)]

    assert max(waits) <= LONGEST_WAIT


def test_turns_are_given_up_to_five_minutes_ahead_and_then_anew() -> None:
    turns = SenderPace()
    waits = [turns.wait("busy", 1.0, 1.0, 0.0) for _ in range(302)]

    assert waits[:301] == [float(turn) for turn in range(301)]
    assert waits[301] < 300


def test_a_large_message_counts_as_several() -> None:
    turns = SenderPace()
    turns.charge("large", 1.0, 10.0, 0.0, 64.0)

    assert turns.wait("large", 1.0, 10.0, 0.0) > 0
    assert turns.wait("large", 1.0, 10.0, 12.0) == 0.0


def test_senders_that_were_not_heard_for_longest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "_MOST_KNOWN", 10)
    turns = SenderPace()
    for sender in range(1_000):
        turns.wait(str(sender), RATE, AT_ONCE, 0.0)

    assert len(turns._accounts) == 10


@pytest.fixture
def at_noon(monkeypatch: pytest.MonkeyPatch) -> str:
    """A credential that sent nothing yet, while time stands still."""
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 11, 26, 12, tzinfo=UTC))
    return new_id("tok")


def sent_before_refusal(send: Callable[[], None]) -> int:
    for count in range(100_000):
        try:
            send()
        except pace.TooManyMessages:
            return count
    raise AssertionError("it sends without an end")


@pytest.mark.parametrize(
    ("instances", "interval", "at_once"), [(5_000, 30, 3_333), (100, 30, 500), (5_000, 300, 3_333)]
)
def test_a_token_sends_ten_seconds_of_twice_the_quick_heartbeats_of_a_full_fleet_at_once(
    instances: int, interval: int, at_once: int, at_noon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADGATE_INSTANCE_LIMIT", str(instances))
    monkeypatch.setenv("HEADGATE_FLEET_HEARTBEAT_SECONDS", str(interval))
    settings.cache_clear()

    assert sent_before_refusal(lambda: pace.require_turn_of_token(at_noon)) == at_once


def test_a_message_of_640_kib_counts_as_ten_more(at_noon: str) -> None:
    pace.charge_size(at_noon, 640 << 10)
    pace.charge_size(at_noon, (64 << 10) - 1)

    assert sent_before_refusal(lambda: pace.require_turn_of_token(at_noon)) == 3_333 - 10


def test_an_instance_sends_sixty_at_once_and_nobody_uses_up_those_of_another_key(at_noon: str) -> None:
    senders = [(at_noon, b"u", b""), (at_noon, b"u", b"key"), (at_noon, b"v", b""), (at_noon + "2", b"u", b"")]
    sent = [sent_before_refusal(partial(pace.require_turn_of_instance, *sender)) for sender in senders]

    assert sent == [60] * 4


def test_a_host_that_sends_512_kib_again_and_again_has_seven_messages_at_once(at_noon: str) -> None:
    sent = sent_before_refusal(partial(pace.require_turn_of_instance, at_noon, b"u", size=512 << 10))

    assert sent == 7


def test_a_clock_that_was_set_back_makes_nobody_wait_for_as_long() -> None:
    turns = SenderPace()
    before, after = [turns.wait("a", 1.0, 1.0, at) for at in (200.0, 200.0, 100.0)][1:]

    assert (before, after) == (1.0, 2.0)


def test_a_message_costs_its_sender_a_turn_and_time_gives_turns_back() -> None:
    turns = SenderPace()
    waits = [turns.wait("a", 2.0, 3.0, at) for at in (0.0, 0.0, 0.0, 0.0, 0.5, 0.5, 1.0, 99.0, 99.0, 99.0, 99.0)]

    assert [wait > 0 for wait in waits] == [False] * 3 + [True, False, True] + [False] * 4 + [True]
