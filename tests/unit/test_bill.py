"""The bill: the documents have what the script computes, and it grows with what is used."""

from dataclasses import replace
from pathlib import Path

import pytest

from scripts import bill
from scripts.bill import MeasuredUse, StackBill
from tests.support.aws import read_template

ROOT = Path(__file__).parents[2]
STACK = StackBill.of(read_template())
PRICES = bill.read()
COMPANY = bill.COLUMNS[1]


@pytest.mark.parametrize("page", sorted(bill.PAGES))
def test_the_documents_have_the_computed_tables(page: str) -> None:
    text = (ROOT / "docs" / page).read_text()

    assert text == bill.written(text, [*bill.PAGES[page](STACK, PRICES)])


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({"hosts": 20_000}, "HTTP API"),
        ({"hosts": 20_000}, "KMS: key, requests"),
        ({"organizations": 20}, "Lambda: environments of tenants"),
        ({"runs": 40_000}, "Test runs"),
        ({"validations": 400_000}, "Lambda: time"),
        ({"requests": 4_000_000}, "Logs"),
        ({"interval": 30}, "DynamoDB: reads"),
    ],
)
def test_what_is_used_more_costs_more(more: dict[str, int], line: str) -> None:
    before, after = (bill.bill(use, STACK, PRICES) for use in (COMPANY, replace(COMPANY, **more)))

    assert after.lines[line] > before.lines[line]
    assert after.total > before.total


def test_requests_above_the_threshold_cost_less() -> None:
    assert PRICES.http_api(300e6) == pytest.approx(300)
    assert PRICES.http_api(400e6) == pytest.approx(390)


def test_one_interval_for_all_times_costs_what_was_measured_before() -> None:
    """At 30 s the hosts of a company cost some $2,300, as the tables of docs/fleet-scale.md had it before."""
    hosts = bill.bill(MeasuredUse(10_000, interval=30, earlier=True), STACK, PRICES)

    assert 2_200 < hosts.total < 2_500


def test_each_price_has_a_source_and_each_unit_a_measurement_or_an_assumption() -> None:
    document = bill.yaml.safe_load(bill.PRICES.read_text())

    assert [name for name, price in document["prices"].items() if not price.get("source")] == []
    assert [name for name, unit in document["units"].items() if not (unit.get("measured") or unit.get("assumed"))] == []
