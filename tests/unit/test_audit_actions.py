"""The actions of the record of changes: every route that changes something names one of the documented list."""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from fastapi import FastAPI

from headgate.audit.actions import Action
from headgate.http.auditing import actions_of
from headgate.http.parts import routes_of
from headgate.http.routing import Route
from tests.support.endpoints import ENDPOINTS

ROOT = Path(__file__).parents[2]
CHANGES_NOTHING = [endpoint.label for endpoint in ENDPOINTS if endpoint.recorded.startswith("changes nothing")]
# A host has no credential of a person; the delivery itself writes the record, in its own transaction.
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


def test_every_action_that_a_route_names_is_in_the_list() -> None:
    named = {action for _, route in routes() for action in actions_of(route)}

    assert {"version.published", "member.removed", "fleet.token_renewed"} <= named <= set(get_args(Action))


def test_every_action_of_the_list_is_used() -> None:
    listed = ROOT / "shared/headgate/audit/actions.py"
    code = "".join(
        path.read_text() for top in ("shared", "functions") for path in (ROOT / top).rglob("*.py") if path != listed
    )

    assert [action for action in get_args(Action) if f'"{action}"' not in code] == []


def test_a_form_records_through_its_operation_alone() -> None:
    """One table of what can be changed, the routes of the API: a form that recorded by itself would be a second one."""
    recording = {
        str(path.relative_to(ROOT / "functions"))
        for path in (ROOT / "functions").rglob("*.py")
        if re.search(r"\b(record_change|audit\.append|audit\.entry)\b", path.read_text())
    }

    assert recording == {"web/commands.py", "fleets/api/instances.py"}
