"""Pages whose calls the other tests here do not make; test_policies.py looks at the calls."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate_local import template
from tests.support import recorded_here
from tests.support.fleet_endpoints import PRICES
from tests.support.recorded_here import API, YAML, created
from web.visitor import SESSION_COOKIE

pytestmark = pytest.mark.end_to_end

RUN = {"sample": "a", "signal_type": "logs", "target_pipeline": "logs", "collector_version": "0.0.1"}


@pytest.fixture(scope="module", autouse=True)
def recording(aws_here: template.Template, recorded_calls: Path) -> Iterator[None]:
    with recorded_here.recording(recorded_calls / "pages.jsonl"):
        yield


def test_costs_are_read_where_versions_run_and_drafts_are_checked(aws_here: template.Template) -> None:
    people = recorded_here.people(aws_here)
    edge = created(people.ann.post(f"{API}/configurations", json={"name": "Edge", "yaml": YAML}))
    assert people.ann.post(f"{API}/configurations/{edge}/versions/1/publish").status_code == 200
    created(people.ada.post(f"{API}/configurations", json={"name": "Draft", "yaml": YAML}))
    fleet = created(people.ann.post(f"{API}/fleets", json={"label": "Costs", "type": "server-supervisor"}))
    (group,) = people.ann.get(f"{API}/fleets/{fleet}/deployments").json()["items"]
    path = f"{API}/fleets/{fleet}/deployments/{group['id']}"
    for done in (
        people.ann.patch(path, json={"configuration_id": edge, "version_number": 1}),
        people.ann.patch(f"{path}/env", json={"variables": {"ZONE": "a"}}),
        people.ada.put(f"{API}/fleets/prices", json=PRICES),
    ):
        assert done.status_code == 200, done.text
    session = {"Cookie": f"{SESSION_COOKIE}={people.browser}", "Authorization": ""}
    home = f"/organizations/{people.organization_id}"
    for page in (f"{home}/configurations/{edge}", f"{home}?check=true"):
        shown = people.ada.get(page, headers=session)
        assert shown.status_code == 200, shown.text


def test_runs_are_listed_by_the_name_of_what_they_tested(aws_here: template.Template) -> None:
    people = recorded_here.people(aws_here)
    edge = created(people.ann.post(f"{API}/configurations", json={"name": "Edge", "yaml": YAML}))
    assert people.ann.post(f"{API}/configurations/{edge}/versions/1/publish").status_code == 200
    tested = people.ann.post(f"{API}/testing/runs", json={**RUN, "configuration_id": edge, "version_number": 1})
    assert tested.status_code == 202, tested.text
    page = f"/organizations/{people.organization_id}/runs"
    session = {"Cookie": f"{SESSION_COOKIE}={people.browser}", "Authorization": ""}
    listed = people.ada.get(page, params={"configuration": "Edge"}, headers=session)

    assert listed.status_code == 200, listed.text
    assert created(tested) in listed.text
