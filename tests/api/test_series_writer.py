"""What hosts count is added once to their groups: whatever restarts, is late, is told again or is written at once."""

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate.foundation.ids import encode_id, new_uuid
from headgate.instances.series import store
from headgate.instances.series.model import HOUR, MINUTE, SLOT, spread
from headgate.storage.retry import LostRace
from headgate.storage.table import fleets as table
from headgate_local import streams
from headgate_local.template import Template
from series.app import handler
from tests.support import sizes
from tests.support.aws import read_template
from tests.support.counting_hosts import KEYS, CountingHost, cells, image, require_sums
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now

__all__ = ["ann", "fleet", "now"]

BEGIN = 1_764_000_000
SOME = settings(max_examples=sizes.either(12, 300), suppress_health_check=[*HealthCheck])
Records = list[dict[str, Any]]

LIFE = st.lists(
    st.tuples(
        st.sampled_from([30, 180, 185, 400, 7_200]),
        st.integers(0, 5_000),
        st.sampled_from(["counts", "counts", "counts", "restarts", "clock set back"]),
    ),
    min_size=1,
    max_size=8,
)


def group() -> str:
    return encode_id("dep", new_uuid(datetime.now(UTC)))


def records_of(
    lives: Sequence[Sequence[tuple[int, int, str]]], groups: Sequence[str]
) -> tuple[Records, list[CountingHost]]:
    """The stream of hosts that live so, in the order of its times, and the hosts."""
    records: list[tuple[int, dict[str, Any]]] = []
    hosts = []
    for number, life in enumerate(lives):
        host, at = CountingHost(BEGIN * 1_000), BEGIN + 7 * number
        instance_id, deployment_id = f"ins_{number:026d}", groups[number % len(groups)]
        first, before = at, image(instance_id, deployment_id, 1, at, host.totals(), at)
        records.append((at, {"NewImage": before}))
        for revision, (gap, accepted, what) in enumerate(life, 2):
            at += gap
            if what != "counts":
                host.restarts(at * 1_000 if what == "restarts" else host.run - 5_000)
            host.counts(accepted, gap * 1_000)
            after = image(instance_id, deployment_id, revision, at, host.totals(), first)
            change = {"NewImage": after, "OldImage": before}
            records.append((at, change))
            before = after
        hosts.append(host)
    records.sort(key=lambda record: record[0])
    return [{"dynamodb": {"SequenceNumber": str(n), **change}} for n, (_, change) in enumerate(records, 1)], hosts


def deliver(records: Records) -> int | None:
    """Tell the function. Returns from which number on it wants them again, None if it is done with all of them."""
    answer: Any = handler({"Records": [*records]}, None)
    failures = answer["batchItemFailures"]
    return int(failures[0]["itemIdentifier"]) if failures else None


@SOME
@given(lives=st.lists(LIFE, min_size=1, max_size=4), seed=st.integers(0, 2**32))
def test_all_that_hosts_count_is_added_once(
    aws_here: Template, lives: list[list[tuple[int, int, str]]], seed: int
) -> None:
    chance, groups = Random(seed), [group(), group()]
    records, hosts = records_of(lives, groups)
    done = 0
    while done < len(records):
        # Some of what was told before is told again; and of some batches the writer does one part and then dies.
        begin, end = chance.randint(max(0, done - 4), done), chance.randint(done + 1, len(records))
        saved = store.save
        left = chance.randint(0, 3)

        def dies(*arguments: Any, save: Any = saved) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            save(*arguments)

        if chance.random() < 0.3:
            with patch.object(store, "save", dies):
                try:
                    deliver(records[begin:end])
                except KeyboardInterrupt:
                    continue
        else:
            assert deliver(records[begin:end]) is None
        done = end

    for place, deployment_id in enumerate(groups):
        expected = sum((host.ever for host in hosts[place :: len(groups)]), Counter())
        require_sums(deployment_id, expected)


def test_writers_at_once_add_each_change_once(aws_here: Template) -> None:
    deployment_id = group()
    lives = [[(180, 100 + 10 * host, "counts")] * 5 for host in range(8)]
    records, hosts = records_of(lives, [deployment_id])
    batches = [records[place : place + 8] for place in range(0, len(records), 8)]
    for batch in batches:
        # An execution that Lambda took for lost goes on beside the one that it started again.
        with ThreadPoolExecutor(4) as pool:
            assert set(pool.map(deliver, [batch] * 4)) == {None}

    require_sums(deployment_id, sum((host.ever for host in hosts), Counter()))


def test_a_batch_of_which_a_part_fails_comes_again_from_there_on(
    aws_here: Template, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = [group(), group()]
    records, hosts = records_of([[(180, 100, "counts")] * 2] * 2, groups)
    save = store.save

    def fails(deployment_id: str, *rest: Any) -> None:
        if deployment_id == groups[1]:
            raise LostRace
        save(deployment_id, *rest)

    monkeypatch.setattr("headgate.storage.retry._SECONDS", 0.05)
    monkeypatch.setattr(store, "save", fails)
    again = deliver(records)
    monkeypatch.setattr(store, "save", save)

    assert again is not None
    assert again > 1
    assert deliver(records[again - 1 :]) is None
    for deployment_id, host in zip(groups, hosts, strict=True):
        require_sums(deployment_id, host.ever)


def test_a_record_that_cannot_be_read_holds_up_no_other(aws_here: Template) -> None:
    deployment_id = group()
    records, (host,) = records_of([[(180, 100, "counts")]], [deployment_id])
    broken = {
        "dynamodb": {"SequenceNumber": "0", "NewImage": {**records[0]["dynamodb"]["NewImage"], "totals": {"B": "eA=="}}}
    }

    assert deliver([broken, *records]) is None
    require_sums(deployment_id, host.ever)


def test_a_report_is_spread_over_the_minutes_that_it_covers(aws_here: Template) -> None:
    deployment_id = group()
    records, _ = records_of([[(180, 900, "counts")]], [deployment_id])
    deliver(records)

    taken = [counted[0] for key, counted in cells(deployment_id, SLOT) if key == KEYS[0]]

    assert sum(taken) == 900
    assert sorted(taken, reverse=True)[:3] == [300, 300, 300]


def test_many_hosts_are_divided_over_items(aws_here: Template, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headgate.instances.series.buckets._LARGEST_PART", 2)
    deployment_id = group()
    records, hosts = records_of([[(180, 100, "counts")] * 3 for _ in range(12)], [deployment_id])
    for place in range(0, len(records), 12):
        assert deliver(records[place : place + 12]) is None
        assert deliver(records[place : place + 12]) is None

    require_sums(deployment_id, sum((host.ever for host in hosts), Counter()))
    for number in range(12):
        counted = [*store.of_hosts(deployment_id, [f"ins_{number:026d}"], 0, 9_999_999_999)]
        assert sum(numbers[4] for _, numbers in counted) == 300
    assert max(len(part.hosts) for part in store.first_parts(deployment_id, 0, 9_999_999_999)) < 12


@given(
    numbers=st.lists(st.integers(0, 10**12), min_size=1, max_size=3),
    begin=st.integers(BEGIN, BEGIN + 7_200),
    seconds=st.integers(1, 90_000),
    step=st.sampled_from([MINUTE, SLOT, HOUR]),
)
def test_what_is_spread_adds_up(numbers: list[int], begin: int, seconds: int, step: int) -> None:
    shares = [*spread(numbers, begin, begin + seconds, step)]

    assert [sum(column) for column in zip(*(share for _, share in shares), strict=True)] == numbers
    assert all(number >= 0 for _, share in shares for number in share)
    assert [at for at, _ in shares] == [*range(begin - begin % step, begin + seconds, step)]


@pytest.fixture
def stream() -> Iterator[streams.Stream]:
    """What the template's mapping tells the function of the table."""
    with streams.followed(read_template()) as (followed,):
        yield followed


def test_a_host_of_an_older_supervisor_adds_nothing(fleet: Fleet, now: Clock, stream: streams.Stream) -> None:
    agent = fleet.agent()
    agent.start()
    agent.heartbeat()

    # Neither its item nor the events of its timeline are told, as the mapping's filter says.
    assert not stream.records
    assert not [*cells(fleet.deployment_id, SLOT)]


def test_what_is_told_of_series_themselves_is_not_read(aws_here: Template, stream: streams.Stream) -> None:
    table.put({"pk": "series#dep_x", "sk": "slot#0000000000", "start": 0})

    assert not stream.records


def test_what_was_counted_before_an_import_is_not_added(aws_here: Template) -> None:
    deployment_id, host = group(), CountingHost(BEGIN * 1_000)
    host.counts(9_000, 86_400_000)
    imported = image("ins_x", deployment_id, 7, BEGIN + 86_400, host.totals(), BEGIN)
    told = Counter(host.ever)
    host.counts(100, 60_000)
    after = image("ins_x", deployment_id, 8, BEGIN + 86_460, host.totals(), BEGIN)
    without = {name: value for name, value in imported.items() if name != "totals"}

    for old, new in ((None, imported), (without, after)):
        change = {"NewImage": new} | ({"OldImage": old} if old else {})
        assert deliver([{"dynamodb": {"SequenceNumber": "1", **change}}]) is None
    assert not [*cells(deployment_id, SLOT)]
    assert deliver([{"dynamodb": {"SequenceNumber": "2", "OldImage": imported, "NewImage": after}}]) is None
    require_sums(deployment_id, host.ever - told)
