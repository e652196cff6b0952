"""When a capture waits, runs and has failed, and what a sample of a host may hold."""

import json
import tracemalloc
import zlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from headgate.captures.model import Capture, CaptureTarget, Status
from headgate.captures.samples import DEEPEST, MOST_BYTES, NotASample, require_sample
from headgate.deployments.versions import Assignment
from headgate.foundation.principal import Principal
from headgate.instances.orders.captured import Reason
from headgate_engine.collector import StableSignal

AT: Final = datetime(2026, 11, 26, 12, tzinfo=UTC)
MOMENT: Final = timedelta(milliseconds=1)
BEGINS_BY: Final = AT + timedelta(minutes=6)
HOUR: Final = timedelta(hours=1)
CAPTURE: Final = Capture(
    *("cap_1", "flt_1", "dep_1", "ins_1", "web-1", Assignment("cfg_1", 1)),
    CaptureTarget("logs", "logs", "batch", "log", "true", 10, 60),
    *(AT, Principal("user", "usr_1", "Ann")),
)


@pytest.mark.parametrize(
    ("started", "at", "status"),
    [
        (None, BEGINS_BY, "pending"),
        (None, BEGINS_BY + MOMENT, "expired"),
        (None, BEGINS_BY + timedelta(days=1), "expired"),
        (AT, AT + timedelta(seconds=60) + HOUR, "running"),
        (AT, AT + timedelta(seconds=60) + HOUR + MOMENT, "failed"),
        (BEGINS_BY, BEGINS_BY + timedelta(seconds=60) + HOUR, "running"),
    ],
)
def test_a_capture_waits_six_minutes_for_its_host_and_then_an_hour_for_its_end(
    started: datetime | None, at: datetime, status: Status
) -> None:
    capture = replace(CAPTURE, started_at=started)

    assert (capture.status(at), capture.is_open(at)) == (status, status in ("pending", "running"))


@pytest.mark.parametrize(
    ("reason", "status"),
    [("expired", "expired"), ("lost", "failed"), ("bad_sample", "failed"), ("records", "completed")],
)
def test_a_capture_that_ended_has_the_status_of_its_reason(reason: Reason, status: Status) -> None:
    ended = replace(CAPTURE, started_at=AT, ended_at=AT + HOUR, reason=reason)

    assert ended.status(AT) == status
    assert ended.expires_at == AT + HOUR + timedelta(days=30)
    assert CAPTURE.expires_at == BEGINS_BY + timedelta(seconds=60) + timedelta(days=30)


def logs(*records: object) -> dict[str, object]:
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(records)}]}]}


def metrics(*metrics: object) -> object:
    return {"resourceMetrics": [{"scopeMetrics": [{"metrics": list(metrics)}]}]}


def nested(levels: int) -> object:
    return {"in": nested(levels - 1)} if levels else 1


def packed(*documents: object) -> bytes:
    return zlib.compress(b"\n".join(json.dumps(document).encode() for document in documents))


def padded(size: int) -> bytes:
    """A sample of so many bytes once it is unpacked."""
    bare = len(json.dumps(logs({"body": ""})))
    return packed(logs({"body": "a" * (size - bare)}))


GAUGE: Final = {"name": "a", "gauge": {"dataPoints": [{}, {}]}}


@pytest.mark.parametrize(
    ("sample", "signal", "records"),
    [
        (packed(logs({}, {}), logs({})), "logs", 3),
        (packed(metrics(GAUGE, GAUGE)), "metrics", 4),
        (packed(logs(*[{}] * 10)), "logs", 10),
        (padded(MOST_BYTES), "logs", 1),
        # The document, its resource, its scope and the lists of these are seven levels with the record.
        (packed(logs(nested(DEEPEST - 6))), "logs", 1),
    ],
)
def test_a_sample_has_the_records_that_its_host_counted(sample: bytes, signal: StableSignal, records: int) -> None:
    require_sample(sample, signal, records, 10)
    for wrong in (records - 1, records + 1):
        with pytest.raises(NotASample, match="up to 10 were asked for"):
            require_sample(sample, signal, wrong, 10)


@pytest.mark.parametrize(
    ("sample", "signal", "records", "why"),
    [
        (packed(logs(*[{}] * 11)), "logs", 11, "11 records"),
        (packed(logs()), "logs", 0, "0 records"),
        (padded(MOST_BYTES + 1), "logs", 1, "over 1,048,576 bytes"),
        (packed(logs(nested(DEEPEST - 5))), "logs", 1, "deeper than 48"),
        (b"{}", "logs", 1, "not compressed"),
        (packed(logs({}))[:-1], "logs", 1, "one whole stream"),
        (packed(logs({})) + b"a", "logs", 1, "one whole stream"),
        (zlib.compress(b"{"), "logs", 1, "not JSON"),
        (packed([]), "logs", 1, "not a document"),
        (packed(logs({})), "traces", 1, "resourceSpans alone"),
        (packed({**logs({}), "more": []}), "logs", 1, "resourceLogs alone"),
        (packed(logs("text")), "logs", 1, "not one of objects"),
        (packed({"resourceLogs": {}}), "logs", 1, "not one of objects"),
        (packed(metrics({**GAUGE, "sum": {}})), "metrics", 2, "not one kind"),
        (packed(metrics({"name": "a"})), "metrics", 1, "not one kind"),
        (packed(metrics({"gauge": []})), "metrics", 1, "not one kind"),
    ],
)
def test_what_is_not_a_sample_is_refused_with_the_reason(
    sample: bytes, signal: StableSignal, records: int, why: str
) -> None:
    with pytest.raises(NotASample, match=why):
        require_sample(sample, signal, records, 10)


def test_a_sample_that_unpacks_to_far_more_takes_no_more_memory_than_one_may_have() -> None:
    bomb = zlib.compress(bytes(64 * MOST_BYTES))
    tracemalloc.start()
    try:
        with pytest.raises(NotASample, match="over 1,048,576 bytes"):
            require_sample(bomb, "logs", 1, 10)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert most < 8 * MOST_BYTES
