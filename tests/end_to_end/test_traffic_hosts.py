"""Numbers over time of a real host: what is sent to its collector is what the series say, and what a change saves."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support import fleet_host
from tests.support.fleet_host import Host, until
from tests.support.local_service import LocalService

pytestmark = pytest.mark.full

RECORDS = 20
REQUESTS = 25
FILTER = """\
processors:
  filter: {{logs: {{log_record: ['IsMatch(body, "debug")']}}}}
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    service = LocalService(tmp_path_factory.mktemp("fleets") / "data", HEADGATE_FLEET_HEARTBEAT_SECONDS="1")
    service.start()
    with fleet_host.host(tmp_path_factory.mktemp("host"), service.client(), "host") as one:
        one.install()
        yield one
    service.stop()


# Half of the records are what the filter drops.
BODIES = [{"body": {"stringValue": "debug" if n % 2 else "order paid"}} for n in range(RECORDS)]
LOAD = {"resourceLogs": [{"scopeLogs": [{"logRecords": BODIES}]}]}


def load(host: Host) -> None:
    for _ in range(REQUESTS):
        assert httpx.post(f"http://127.0.0.1:{host.port}/v1/logs", json=LOAD, timeout=10).status_code == 200


def forecast(host: Host, left: str, right: str) -> dict[str, Any]:
    """What a comparison says that the right text saves of the sample."""
    test = {"name": "load", "target_pipeline": "logs", "signal_type": "logs", "sample": LOAD, "duration_seconds": 2}
    body = {"left": {"yaml": left}, "right": {"yaml": right}, "tests": [test]}
    job = host.api.post("/testing/comparisons", json=body).json()
    path = f"/testing/comparisons/{job['id']}"
    until(lambda: host.api.get(path).json()["status"] in ("Done", "Error"), lambda: str(job))
    saving: dict[str, Any] = host.api.get(path).json()["result"]["tests"][0]["saving"]
    return saving


def sums(host: Host) -> dict[str, dict[str, int]]:
    path = f"/fleets/{host.fleet_id}/deployments/{host.deployment_id}/series"
    found: dict[str, Any] = host.api.get(path, params={"by": "component"}).json()
    names = ("accepted", "sent", "dropped", "failed")
    return {
        line["name"]: {name: sum(one[name] for one in line["points"]) for name in names} for line in found["series"]
    }


def test_what_a_host_was_sent_is_what_its_series_say_and_what_a_filter_saves(host: Host) -> None:
    plain = host.flowing("first")
    host.apply(plain)
    until(host.sends, host.log)
    taken = 1
    load(host)
    taken += RECORDS * REQUESTS

    until(
        lambda: sums(host).get("logs | exporter/file", {}).get("sent") == taken,
        lambda: f"{sums(host)} {host.log()[-2000:]}",
    )
    before = sums(host)
    assert before["logs | receiver/otlp"]["accepted"] == taken
    assert before["logs | processor/attributes"]["sent"] == taken

    filtering = plain.replace("processors:\n  attributes", FILTER.format() + "  attributes").replace(
        "[attributes]", "[filter, attributes]"
    )
    host.apply(filtering)
    until(host.sends, host.log)
    load(host)
    again = RECORDS * REQUESTS
    until(
        lambda: sums(host).get("logs | receiver/otlp", {}).get("accepted", 0) >= taken + again + 1,
        lambda: str(sums(host)),
    )
    until(lambda: sums(host).get("logs | processor/filter", {}).get("accepted", 0) >= again, lambda: str(sums(host)))
    after = sums(host)

    dropped, passed = after["logs | processor/filter"]["dropped"], after["logs | processor/filter"]["accepted"]
    saving = forecast(host, plain, filtering)
    print(before, after, saving)
    assert dropped == again // 2
    # One record more was sent to see that it flows.
    assert (saving["records_in"], saving["left_records"], saving["right_records"]) == (RECORDS, RECORDS, RECORDS // 2)
    assert abs(dropped / passed - (1 - saving["right_records"] / saving["left_records"])) < 0.01
    assert after["logs | exporter/file"]["sent"] - before["logs | exporter/file"]["sent"] == passed - dropped
