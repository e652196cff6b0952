"""`headgate price` and `headgate fleet costs` against a server that answers what a test wants."""

import json
from typing import Any

from tests.support.answering import Answer, Server
from tests.support.cli_in_process import Run

FLEET = "flt_0123456789abcdefghjkmnpq0r"
PRICE = {"exporter": "otlphttp", "host": "api.example.com", "per": "gigabyte", "amount": "0.25"}
OTHER = {"exporter": "otlphttp", "host": None, "per": "million_records", "amount": "1"}


def known(*prices: dict[str, Any]) -> dict[str, Any]:
    return {"currency": "EUR", "prices": [*prices], "updated_at": None, "updated_by": None}


def served(server: Server, *prices: dict[str, Any]) -> None:
    """A server that has these prices, and takes others."""

    def answer(asked: str) -> Answer:
        body = json.loads(server.requests[-1][2]) if asked.startswith("PUT") else known(*prices)
        return 200, {"ETag": '"prices-3"'}, body

    server.answering = answer


def put(server: Server) -> dict[str, Any]:
    asked, headers, body = server.requests[-1]
    assert asked == "PUT /api/v1/public/fleets/prices"
    assert headers["If-Match"] == '"prices-3"'
    found: dict[str, Any] = json.loads(body)
    return found


def test_a_price_is_set_beside_the_others_of_the_state_that_was_read(server: Server, run: Run) -> None:
    served(server, PRICE, OTHER)

    code, out, _ = run("price set otlphttp --host API.example.com --per-gb 0.5 --per-million 2")

    added = [{**PRICE, "amount": "0.5"}, {**PRICE, "per": "million_records", "amount": "2"}]
    assert put(server) == {"currency": "EUR", "prices": [OTHER, *added]}
    assert (code, out) == (0, "3 prices in EUR\n")


def test_the_prices_of_one_destination_are_removed(server: Server, run: Run) -> None:
    served(server, PRICE, OTHER)

    run("price remove otlphttp")

    assert put(server)["prices"] == [PRICE]
    code, _, err = run("price remove otlp")
    assert (code, "there is no price of otlp to any host" in err) == (1, True)


def test_a_change_by_somebody_else_is_not_lost(server: Server, run: Run) -> None:
    changed: Answer = (412, {}, {"code": "prices_changed", "detail": "x", "status": 412})
    server.answering = lambda asked: changed if asked.startswith("PUT") else (200, {"ETag": "x"}, known(PRICE))

    code, _, err = run("price set otlp --per-gb 1")

    assert (code, "repeat the command" in err) == (1, True)


def test_costs_say_each_day_and_why_one_is_not_known(server: Server, run: Run) -> None:
    day = {"at": "2026-11-22T00:00:00Z", "records": 2_000_000, "bytes": 4_000_000_000, "cost": 1.0}
    export = {"pipelines": ["logs"], "component": "otlphttp/a", "exporter": "otlphttp", "host": "api.example.com"}
    exports = [
        {**export, "prices": [PRICE], "unpriced": None, "cost": 1.0, "days": [day]},
        {**export, "host": None, "prices": [], "unpriced": "no_price", "cost": None, "days": [{**day, "cost": None}]},
    ]
    answer = {"begin": "2026-11-22T00:00:00Z", "end": "2026-11-22T12:00:00Z", "resolution": 3_600, "currency": "EUR"}
    server.answering = lambda _: (200, {}, {**answer, "total": 1.0, "left_out": 0, "exports": exports})

    code, out, _ = run(f"fleet costs {FLEET} --days 1")

    assert code == 0
    heading, first, second, by_day, last = out.splitlines()
    assert " ".join(first.split()) == "logs | otlphttp/a api.example.com 0.25 GB 2,000,000 4,000,000,000 1.00 EUR"
    assert second.endswith("no price")
    assert by_day == "2026-11-22: 1.00 EUR"
    assert "counted in hours" in last
    assert "EUR PER" in heading


def test_no_costs_lead_to_prices(server: Server, run: Run) -> None:
    server.answering = lambda _: (200, {}, {"exports": []})

    assert "headgate price set --help" in run(f"fleet costs {FLEET}")[1]
