"""What is counted, and that nothing of a request is in it."""

import json
from typing import Any

import pytest

from fleets.app import router as fleets_router
from headgate import metrics
from headgate.checker import CheckerFailed, NoChecker, NotInstalled, PlainVerdict
from headgate.settings import settings
from headgate.validation import service as validation
from tests.askers import ASKER
from tests.conftest import API, JoinWith
from validation.app import router as validation_router

FUNCTION = "headgate-ValidationFunction-1A2B"


@pytest.fixture(autouse=True)
def _as_in_lambda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", FUNCTION)
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "headgate-prod")


def counted(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_request_counts_for_its_function() -> None:
    fields: dict[str, Any] = metrics.of_request(200)

    (directive,) = fields["_aws"]["CloudWatchMetrics"]
    assert directive == {
        "Namespace": "headgate-prod",
        "Dimensions": [["function"], []],
        "Metrics": [{"Name": "Requests", "Unit": "Count"}],
    }
    assert (fields["function"], fields["Requests"]) == (FUNCTION, [1.0])


@pytest.mark.parametrize(("status", "errors"), [(200, None), (404, None), (429, None), (500, [1.0]), (503, [1.0])])
def test_only_the_services_own_errors_are_server_errors(status: int, errors: object) -> None:
    assert metrics.of_request(status).get("ServerErrors") == errors


def test_outside_lambda_nothing_is_counted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("AWS_LAMBDA_FUNCTION_NAME")

    metrics.count("CheckerFallbacks")

    assert (metrics.of_request(500), capsys.readouterr().out) == ({}, "")


@pytest.mark.parametrize(
    ("fault", "names"),
    [(CheckerFailed("it died"), ["CheckerFallbacks"]), (NoChecker("a release"), [])],
    ids=["a checker that died", "a version without one"],
)
def test_a_fallback_of_the_checker_is_counted(
    fault: Exception, names: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> dict[str, object]:
        raise fault

    def decide(*_: object, **__: object) -> PlainVerdict:
        return PlainVerdict(valid=True, message="")

    monkeypatch.setattr(validation.checker, "call", fail)
    monkeypatch.setattr(validation.checker, "validate_plainly", decide)

    assert validation.validate("a: secret", asker=ASKER).valid
    lines = counted(capsys)
    found = [one["Metrics"][0]["Name"] for line in lines for one in line["_aws"]["CloudWatchMetrics"]]
    assert (found, "secret" in str(lines)) == (names, False)


def test_nobody_undoes_a_deployment_by_asking_for_what_it_does_not_have(
    join: JoinWith, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int, bool]] = []

    def tell(status: int, *, fault: bool = True) -> dict[str, object]:
        told.append((status, fault))
        return {}

    def is_not_there(*_: object, **__: object) -> dict[str, object]:
        raise NotInstalled("0.0.1", ("0.139.0",))

    monkeypatch.setattr(metrics, "of_request", tell)
    monkeypatch.setattr(validation.checker, "call", is_not_there)
    monkeypatch.delenv("HEADGATE_FLEET_ENDPOINT", raising=False)
    settings.cache_clear()
    http = join([validation_router, fleets_router], "ann").http
    http.post(f"{API}/validate", json={"yaml": "a: b", "version": "0.0.1"})
    http.post(f"{API}/fleets", json={"label": "a", "type": "server-supervisor"})
    http.post(f"{API}/validate", json={"yaml": "a: b"})

    # The last one is about the collector that has to be there.
    assert told == [(422, True), (503, False), (503, True)]


def test_what_is_no_fault_is_no_server_error() -> None:
    assert "ServerErrors" not in metrics.of_request(503, fault=False)
