"""Runs that wait for their turn on the real local service, and what becomes of them when it is killed."""

import os
import signal
import time
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.support import processes, run_support, sizes
from tests.support.run_support import own, request
from tests.support.service import running_service

pytestmark = pytest.mark.end_to_end

PLACES: Final = 3
RUNS: Final = sizes.either(5, 14)


def all_of(client: httpx.Client, ids: list[str]) -> list[dict[str, Any]]:
    return [client.get(f"/testing/runs/{one}").json() for one in ids]


@pytest.mark.sized
def test_of_many_runs_at_once_three_are_under_way_and_all_end_in_their_order(tmp_path: Path) -> None:
    with running_service(tmp_path, HEADGATE_RUNS_UNDER_WAY=str(PLACES)) as service, service.client() as client:
        ids = [run_support.start(client, own(number))["id"] for number in range(RUNS)]
        most = 0
        deadline = time.monotonic() + 400
        while True:
            runs = all_of(client, ids)
            if all(one["status"] in run_support.FINAL for one in runs):
                break
            # Read one after the other: those that had begun and not ended at one time are counted below.
            most = max(most, sum(one["status"] == "Running" for one in runs))
            assert time.monotonic() < deadline, [one["status"] for one in runs]
            time.sleep(0.2)

    assert [one["status"] for one in runs] == ["Success"] * RUNS, [one["stderr"] for one in runs]
    assert most >= 1
    for one in runs:
        at = one["started_at"]
        under_way = [other for other in runs if other["started_at"] <= at < other["finished_at"]]
        assert len(under_way) <= PLACES
    # A run begins only when the one three places before it has ended.
    for earlier, later in zip(runs, runs[PLACES:], strict=False):
        ended = sorted(other["finished_at"] for other in runs if other["finished_at"] <= later["started_at"])
        assert len(ended) >= runs.index(later) - PLACES + 1, (earlier, later)


def test_a_service_that_is_killed_ends_what_had_begun_and_begins_what_waited(tmp_path: Path) -> None:
    with running_service(tmp_path, HEADGATE_RUNS_UNDER_WAY="1") as service, service.client() as client:
        ids = [run_support.start(client, request(duration_seconds=30))["id"]]
        ids += [run_support.start(client, request())["id"] for _ in range(2)]
        while not (sandboxed := processes.children(service.pid, "sandbox")):
            time.sleep(0.1)
        before = all_of(client, ids)
        os.kill(service.pid, signal.SIGKILL)
    assert [one["status"] for one in before[1:]] == ["Queued"] * 2
    assert [one["started_at"] for one in before[1:]] == [None] * 2

    with running_service(tmp_path, HEADGATE_RUNS_UNDER_WAY="1") as service, service.client() as client:
        ended = [run_support.finished(client, one) for one in ids]

    assert [one["status"] for one in ended] == ["Error", "Success", "Success"], [one["stderr"] for one in ended]
    assert "interrupted" in ended[0]["stderr"]
    assert ended[1]["finished_at"] <= ended[2]["started_at"]
    for process in sandboxed:
        processes.wait_until_ended(process)
