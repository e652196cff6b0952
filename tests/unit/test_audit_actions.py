"""The actions of the record of changes: every route that changes something names its own."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from headgate.http.auditing import actions_of, audited
from headgate.http.parts import routes_of
from headgate.http.routing import Route
from tests.support.endpoints import ENDPOINTS

ROOT = Path(__file__).parents[2]
CHANGES_NOTHING = [endpoint.label for endpoint in ENDPOINTS if endpoint.recorded.startswith("changes nothing")]
# At an approval in the browser, and where a host has no credential of a person: the delivery of secrets writes the
# record in its own transaction.
NAMED_BY_NO_ROUTE = {"login.approved", "install.secrets_delivered", "instance.secrets_delivered"}
RECORDED_BY_THE_SERVICE = ["POST /api/v1/fleet-install/{platform}/{deployment_id}/secrets"]


def routes() -> Iterator[tuple[str, Route]]:
    for app in sorted((ROOT / "functions").glob("*/app.py")):
        application = getattr(importlib.import_module(f"{app.parent.name}.app"), "app", None)
        if isinstance(application, FastAPI):
            for route in routes_of(application):
                if isinstance(route, Route):
                    yield from ((f"{method} {route.path}", route) for method in route.methods)


def test_every_route_that_changes_something_names_its_actions() -> None:
    without = {endpoint for endpoint, route in routes() if not endpoint.startswith("GET ") and not actions_of(route)}

    assert without == {*CHANGES_NOTHING, *RECORDED_BY_THE_SERVICE}


def test_every_action_that_a_service_records_is_named_by_a_route() -> None:
    named = {action for _, route in routes() for action in actions_of(route)}
    recorded = {
        action
        for path in (ROOT / "shared").rglob("*.py")
        for action in re.findall(r'audit\.(?:entry|entry_\w+|append)\([^"]*"([a-z_]+\.[a-z_]+)"', path.read_text())
    }

    assert {"member.removed", "fleet.token_renewed"} <= recorded
    assert recorded - named == NAMED_BY_NO_ROUTE


def test_an_action_that_is_not_a_noun_and_what_was_done_is_refused() -> None:
    with pytest.raises(ValueError, match="publish_version"):
        audited("version.published", "publish_version")


def test_a_form_records_through_its_operation_alone() -> None:
    """One table of what can be changed, the routes of the API: a form that recorded by itself would be a second one."""
    recording = {
        str(path.relative_to(ROOT / "functions"))
        for path in (ROOT / "functions").rglob("*.py")
        if re.search(r"\b(record_change|audit\.append|audit\.entry)\b", path.read_text())
    }

    assert recording == {"web/commands.py", "fleets/api/instances.py"}
