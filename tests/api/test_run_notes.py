"""What a run's `stderr` tells beside the collector's words, and what the test runner is told of a sample."""

import pytest

from testing.app import router
from tests.support.members import API, JoinWith, Member
from tests.support.runs import end, get, leave, make_ready, queued, verdict


@pytest.fixture
def ann(join: JoinWith) -> Member:
    return join([router], "ann")


@pytest.mark.collector
def test_a_run_in_which_nothing_came_out_tells_what_the_sample_was_taken_for(ann: Member) -> None:
    run = queued(ann, status="Running", records_in=6)
    hint = "the sample was taken as OTLP/JSON"
    make_ready(run, nothing_out=hint)
    leave(run, ran=True)
    end(run, verdict(True), out=0)

    assert get(ann, run).json()["stderr"].partition("\n")[2] == f"headgate: note: {hint}\n"


@pytest.mark.collector
def test_a_rule_that_compares_different_types_is_noted_and_bounded(ann: Member) -> None:
    run = queued(ann)
    leave(run, ran=True)
    end(run, {**verdict(True), "note": "it compares\nheadgate: forged"})

    assert get(ann, run).json()["stderr"] == "headgate: note: rule 'some': it compares headgate: forged\n"


LOG = (
    '2026-11-22T10:00:00Z\tinfo\tservice.go:1\tStarting\t{"resource": {"service.name": "x"}}\n'
    '2026-11-22T10:00:01Z\terror\tq.go:2\tno place\t{"resource": {"service.name": "x"}, "error": "é"}\n'
    "example.com/q.run\n\tq@v1/q.go:75\n"
)


@pytest.mark.collector
def test_what_matters_of_the_standard_error_comes_first_and_all_of_it_can_be_read(ann: Member) -> None:
    run = queued(ann)
    path = f"{API}/testing/runs/{run.id}/stderr"
    before = ann.http.get(path)
    leave(run, ran=True, stderr=LOG)
    end(run, verdict(True))
    written = ann.http.get(path)

    assert (before.status_code, before.json()["code"]) == (404, "output_not_ready")
    assert (written.status_code, written.text) == (200, LOG)
    assert written.headers["content-type"] == "text/plain; charset=utf-8"
    assert get(ann, run).json()["stderr"] == (
        '2026-11-22T10:00:01Z\terror\tq.go:2\tno place\t{"error": "é"}\n'
        "2026-11-22T10:00:00Z\tinfo\tservice.go:1\tStarting\n"
    )


@pytest.mark.collector
def test_a_crash_after_the_shutdown_is_noted(ann: Member) -> None:
    run = queued(ann)
    leave(run, ran=True, stderr="panic: late\n")
    end(run, verdict(True))
    answer = get(ann, run).json()

    assert answer["status"] == "Success"
    assert answer["stderr"].startswith("headgate: note: the collector crashed after its shutdown, when the output was")


def test_what_the_caller_says_of_a_sample_is_shown(ann: Member) -> None:
    name = "/var/log/pods/ns_pod_uid/app/0.log"
    run = queued(ann, sample_format="raw", sample_name=name, feature_gates=("+a.b", "-c"))
    answer = get(ann, run).json()

    assert (answer["sample_format"], answer["sample_name"], answer["feature_gates"]) == ("raw", name, ["+a.b", "-c"])
