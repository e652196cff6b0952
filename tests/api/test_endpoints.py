"""The table of endpoints is that of the routes: what goes through all endpoints leaves none out."""

from tests.support.endpoints import ENDPOINTS
from tests.support.routes import operations


def test_the_table_has_every_route_once() -> None:
    assert sorted(endpoint.label for endpoint in ENDPOINTS) == sorted(operations())


def test_every_endpoint_has_a_right_request() -> None:
    assert [endpoint.label for endpoint in ENDPOINTS if not endpoint.requests] == []


def test_what_may_change_something_says_what_it_records() -> None:
    silent = [
        endpoint.label
        for endpoint in ENDPOINTS
        if endpoint.method != "GET" and not (endpoint.recorded or (endpoint.action and endpoint.target))
    ]

    assert silent == []
