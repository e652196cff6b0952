"""Pauses between attempts of changes that race."""

from types import SimpleNamespace

import pytest

from headgate.storage import retry


def test_pauses_double_up_to_a_bound_and_end_after_fifteen_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now, bounds = [0.0], []

    def longest(low: float, high: float) -> float:
        bounds.append((low, high))
        return high

    monkeypatch.setattr(retry, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(retry, "random", SimpleNamespace(uniform=longest))
    pauses = retry.pauses()
    at_once = [next(pauses) for _ in range(20)]
    now[0] = 15.0
    last = next(pauses)
    now[0] = 15.001

    assert at_once[:7] == [0.005 * 2**attempt for attempt in range(7)]
    assert {*at_once[7:], last} == {0.4}
    assert {low for low, _ in bounds} == {0}
    assert next(pauses, None) is None
