"""Rollouts on real hosts with telemetry: supervisor, collector, and the service that judges what they send.

tests/benchmarks/bench_rollout_hosts.py has three hosts, 50 records a second, and the figures.
"""

from collections.abc import Iterator

import pytest

from tests.support import rolling_hosts
from tests.support.fleet_host import until
from tests.support.local_service import LocalService
from tests.support.rolling_hosts import Hosts

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="module")
def group(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    service = LocalService(tmp_path_factory.mktemp("hosts") / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS="1")
    service.start()
    try:
        with rolling_hosts.hosts(tmp_path_factory.mktemp("web"), service.client(), number=2, a_second=10) as found:
            yield found
    finally:
        service.stop()


# The next test has a canary that fails, and test_rollouts.py of the API both outcomes.
@pytest.mark.full
def test_a_good_version_reaches_all_and_a_wrong_backend_only_the_canary(group: Hosts) -> None:
    good = group.publish("good")
    assert group.ends(group.start(good, "a good version", 2, 1))["status"] == "completed"
    assert group.running() == dict.fromkeys(group.hosts, good)
    # What a collector took it passed on, also while it was replaced.
    assert {name: loss.lost for name, loss in group.losses().items()} == dict.fromkeys(group.hosts, 0)

    wrong = group.publish("wrong", backend=group.backend.wrong)
    halted = group.ends(group.start(wrong, "a wrong backend", 600, 1))

    # It was applied and healthy, which no gate on states would have stopped.
    assert (halted["status"], halted["step"]) == ("rolled_back", 1)
    (failure,) = halted["failures"]
    assert failure["gate"] == "send_failed"
    assert failure["message"].startswith("100 % of what it sent failed, before 0 %")
    group.all_run(good)
    group.flow()


_METRICS = '    metrics: {readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: "${env:METRICS_PORT}"}}}}]}'
_OTLP = "exporters: [otlphttp]"


@pytest.mark.full
def test_no_text_hides_from_the_gates_what_its_version_loses(group: Hosts) -> None:
    before = group.running()[group.canary]
    off = ((_METRICS, "    metrics: {level: none}"),)
    blind = group.publish("blind", backend=group.backend.wrong, instead=off)

    ended = group.ends(group.start(blind, "a wrong backend without metrics", 600, 1))

    assert (ended["status"], ended["step"]) == ("rolled_back", 1)
    assert {failure["gate"] for failure in ended["failures"]} == {"send_failed"}
    until(lambda: group.running()[group.canary] == before, group.log)


def test_a_version_that_throws_telemetry_away_is_refused_by_its_text(group: Hosts) -> None:
    debug = group.publish("debug", instead=((_OTLP, "exporters: [debug]"), ("exporters:\n", "exporters:\n  debug:\n")))

    refused = group.asks(debug, "debug", 1, 1)

    assert (refused.status_code, refused.json()["code"]) == (409, "nothing_delivered")
    assert "no exporter that delivers logs" in refused.json()["detail"]


# test_rollouts.py has the gate in memory.
@pytest.mark.full
def test_a_version_whose_file_is_nowhere_is_taken_back_by_what_its_hosts_count(group: Hosts) -> None:
    good = group.running()[group.canary]
    assert good is not None
    nowhere = group.publish(
        "nowhere",
        instead=((_OTLP, "exporters: [file]"), ("exporters:\n", "exporters:\n  file: {path: /dev/null}\n")),
    )

    ended = group.ends(group.start(nowhere, "a file that is nowhere", 600, 1))

    assert (ended["status"], ended["step"]) == ("rolled_back", 1)
    assert {failure["gate"] for failure in ended["failures"]} == {"delivery"}
    group.all_run(good)


def test_a_collector_that_ends_on_the_canary_takes_the_version_back(group: Hosts) -> None:
    ends = group.publish("ends")
    good = group.running()[group.canary]
    rollout = group.start(ends, "a collector that ends", 600, 1)
    group.until(rollout, lambda shown: bool(shown["hosts"] and shown["hosts"]["applied"] == 1))

    ended = group.crash(group.canary, rollout)

    assert (ended["status"], ended["step"]) == ("rolled_back", 1)
    assert {failure["gate"] for failure in ended["failures"]} & {"crash_loop", "restarts"}
    until(lambda: group.running()[group.canary] == good, group.log)
    group.flow()
