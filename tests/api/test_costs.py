"""What sending costs: prices that Admins set, and what exporters sent at them."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from configurations.app import app as configurations_app
from fleets.app import app
from headgate.fleets.prices import Price, PriceList
from headgate.instances.series.costs import Export, ExportDay
from tests.api.test_series import counted
from tests.support.counting_hosts import CountingHost
from tests.support.fleet_of_agents import Clock, Fleet, ann, fleet, now
from tests.support.in_process import TestClient
from tests.support.members import API
from tests.support.page_visitor import member_at, send_form
from tests.support.world import joined, session_of

__all__ = ["ann", "counted", "fleet", "now"]
PER_GB: dict[str, Any] = {"exporter": "otlphttp", "host": None, "per": "gigabyte", "amount": "250"}
PER_MILLION = {**PER_GB, "per": "million_records", "amount": "10.5"}
PATH = f"{API}/fleets/prices"
# Of twelve minutes with 1,800 records each, a tenth is dropped, and of 540 and 1,080 a hundredth fails.
SENT = 12 * (1_800 - 180 - 5 - 10)
BYTES = 12 * 1_620 * 20


def text(endpoint: str) -> str:
    exporter = f"otlphttp: {{endpoint: '{endpoint}'}}"
    return f"exporters: {{{exporter}}}\nservice: {{pipelines: {{logs: {{receivers: [nop], exporters: [nop]}}}}}}\n"


@pytest.fixture
def admin(fleet: Fleet) -> TestClient:
    """To the API, as an Admin's session."""
    organization_id = fleet.member.organization_id
    headers = dict(session_of(joined(organization_id, "admin"), organization_id))
    return TestClient(app, raise_server_exceptions=False, headers=headers)


def set_prices(admin: TestClient, *prices: dict[str, Any], **headers: str) -> dict[str, Any]:
    response = admin.put(PATH, json={"currency": "EUR", "prices": [*prices]}, headers=headers)
    assert response.status_code == 200, response.text
    saved: dict[str, Any] = response.json()
    return saved


def costs(fleet: Fleet, path: str = "") -> dict[str, Any]:
    response = fleet.member.http.get(f"{API}/fleets/{fleet.id}{path}/costs", params={"days": 1})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_what_exporters_sent_costs_what_an_admin_set(
    fleet: Fleet, counted: list[CountingHost], admin: TestClient
) -> None:
    set_prices(admin, PER_GB, PER_MILLION)

    answer = costs(fleet)

    (export,) = answer["exports"]
    cost = round(BYTES * 250 / 1e9 + SENT * 10.5 / 1e6, 6)
    assert (export["pipelines"], export["component"], export["exporter"]) == (["logs"], "otlphttp", "otlphttp")
    assert [(day["at"], day["records"], day["bytes"], day["cost"]) for day in export["days"]] == [
        ("2026-11-21T00:00:00Z", SENT, BYTES, cost)
    ]
    assert (answer["total"], answer["currency"], answer["resolution"], export["unpriced"]) == (cost, "EUR", 3_600, None)
    assert costs(fleet, f"/deployments/{fleet.deployment_id}") == answer


def test_nothing_is_listed_without_a_price(fleet: Fleet, counted: list[CountingHost]) -> None:
    assert (costs(fleet)["exports"], costs(fleet)["total"]) == ([], 0)


def test_the_price_of_a_host_goes_before_that_of_any_host(
    fleet: Fleet, counted: list[CountingHost], admin: TestClient
) -> None:
    fleet.change(
        configuration_id=fleet.configuration_id,
        version_number=fleet.publish(text("https://${env:BACKEND}:443/v1")),
    )
    env = f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}/env"
    assert fleet.member.http.patch(env, json={"variables": {"BACKEND": "a.example.com"}}).status_code == 200
    set_prices(admin, PER_GB, {**PER_GB, "host": "A.example.com", "amount": "1000"})

    (export,) = costs(fleet)["exports"]

    assert export["host"] == "a.example.com"
    assert [price["amount"] for price in export["prices"]] == ["1000"]
    assert export["cost"] == round(BYTES * 1_000 / 1e9, 6)


def test_a_host_that_was_changed_within_the_hour_is_not_known(
    fleet: Fleet, counted: list[CountingHost], admin: TestClient, now: Clock
) -> None:
    for host in ("a", "b"):
        number = fleet.publish(text(f"https://{host}.example.com"))
        fleet.change(configuration_id=fleet.configuration_id, version_number=number)
        now.moves(seconds=1)
    set_prices(admin, {**PER_GB, "host": "a.example.com"})

    (export,) = costs(fleet)["exports"]

    assert (export["host"], export["cost"], export["unpriced"]) == (None, None, "no_price")


def test_bytes_that_nobody_measured_cost_an_unknown_sum() -> None:
    prices = PriceList("EUR", [Price("otlp", None, "gigabyte", "1")])
    sent = Export(["logs"], "otlp", None, [ExportDay(0, 5, 0), ExportDay(86_400, 5, 2_000_000_000)])

    priced = sent.priced(prices)

    assert [day.cost for day in priced.days] == [None, 2]
    assert priced.cost == 2
    assert priced.unpriced == "bytes_not_measured"


BAD: dict[str, dict[str, Any]] = {
    "prices.0.amount": {"amount": "1e9"},
    "prices.0.exporter": {"exporter": "otlp http"},
    "prices.0.host": {"host": "https://a.example.com/"},
    "prices.0.per": {"per": "byte"},
}


@pytest.mark.parametrize("place", BAD)
def test_what_is_not_a_price_is_refused_with_its_place(fleet: Fleet, admin: TestClient, place: str) -> None:
    response = admin.put(PATH, json={"currency": "EUR", "prices": [{**PER_GB, **BAD[place]}]})

    assert response.status_code == 422
    assert ".".join(map(str, response.json()["errors"][0]["loc"][1:])) == place
    assert fleet.member.http.get(PATH).json()["prices"] == []


def test_prices_are_set_by_admins_each_once_and_of_the_state_that_they_saw(fleet: Fleet, admin: TestClient) -> None:
    twice = admin.put(PATH, json={"currency": "EUR", "prices": [PER_GB, PER_GB]})
    assert (twice.status_code, "two prices per gigabyte of otlphttp" in twice.json()["detail"]) == (422, True)
    assert fleet.member.http.put(PATH, json={"currency": "EUR", "prices": []}).status_code == 403

    def put(amount: int) -> int:
        body = {"currency": "EUR", "prices": [{**PER_GB, "amount": str(amount)}]}
        return admin.put(PATH, json=body, headers={"If-Match": '"prices-0"'}).status_code

    with ThreadPoolExecutor(4) as pool:
        statuses = [*pool.map(put, range(1, 5))]

    assert sorted(statuses) == [200, 412, 412, 412]
    (price,) = fleet.member.http.get(PATH).json()["prices"]
    assert price["amount"] == str(1 + statuses.index(200))


def test_the_pages_show_costs_once_an_admin_has_typed_prices(fleet: Fleet, counted: list[CountingHost]) -> None:
    admin = member_at(app, fleet.member.organization_id, "admin")
    home = f"/organizations/{fleet.member.organization_id}"
    group = f"{home}/fleets/{fleet.id}/deployments/{fleet.deployment_id}"
    configuration = f"{home}/configurations/{fleet.configuration_id}"
    number = fleet.publish(text("https://a.example.com"))
    fleet.change(configuration_id=fleet.configuration_id, version_number=number)
    at_configurations = member_at(configurations_app, fleet.member.organization_id)
    assert "What sending costs" not in admin.get(group).text

    wrong = send_form(admin, f"{home}/fleets/prices", "", currency="EUR", prices="otlphttp 1\n", etag="*")
    saved = send_form(
        admin, f"{home}/fleets/prices", "", currency="EUR", prices="otlphttp a.example.com 250 gigabyte", etag="*"
    )

    price = "otlphttp a.example.com 1 gigabyte"
    twice = send_form(admin, f"{home}/fleets/prices", "", currency="EUR", prices=f"{price}\n{price}", etag="*")

    assert (wrong.status_code, "Line 1: Give an exporter" in wrong.text) == (422, True)
    assert (twice.status_code, "There are two prices per gigabyte of otlphttp" in twice.text) == (422, True)
    assert saved.status_code == 303
    for page in (admin.get(group).text, at_configurations.get(configuration).text):
        assert "What sending costs" in page
        assert "<code>a.example.com</code>" in page
        assert "250 EUR a GB" in page
        assert "0.10 EUR" in page
        assert "style=" not in page
    assert "250 EUR a GB" in member_at(app, fleet.member.organization_id).get(f"{home}/fleets/prices").text
