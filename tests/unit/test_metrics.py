"""What is counted, and that nothing of a request is in it."""

import json
from typing import Any

import pytest

from headgate import checker
from headgate.checker import CheckerFailed, NoChecker, PlainVerdict
from headgate.foundation import metrics
from headgate.foundation.faults import Blame
from headgate_engine.validation import service as validation
from tests.support.askers import ASKER

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
    def fail(op: str, *_: object, **__: object) -> dict[str, object]:
        if op == "price":
            return {}
        raise fault

    def decide(*_: object, **__: object) -> PlainVerdict:
        return PlainVerdict(valid=True, message="")

    monkeypatch.setattr(checker.COLLECTORS, "call", fail)
    monkeypatch.setattr(checker.COLLECTORS, "validate_plainly", decide)

    assert validation.validate("a: secret", asker=ASKER).valid
    lines = counted(capsys)
    found = [one["Metrics"][0]["Name"] for line in lines for one in line["_aws"]["CloudWatchMetrics"]]
    assert (found, "secret" in str(lines)) == (names, False)


@pytest.mark.parametrize(
    ("blame", "names"),
    [("ours", {"Requests", "Outages", "ServerErrors"}), ("aws", {"Requests", "Outages"}), ("caller", {"Requests"})],
)
def test_a_server_error_is_ours_and_an_outage_not_the_callers(blame: Blame, names: set[str]) -> None:
    fields: dict[str, Any] = metrics.of_request(503, blame)

    assert {one["Name"] for one in fields["_aws"]["CloudWatchMetrics"][0]["Metrics"]} == names
