"""Pages whose calls the other tests here do not make; test_policies.py looks at the calls."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headgate_local import template
from tests.support import recorded_here
from tests.support.recorded_here import API, YAML, created
from web.visitor import SESSION_COOKIE

pytestmark = pytest.mark.end_to_end

RUN = {"sample": "a", "signal_type": "logs", "target_pipeline": "logs", "collector_version": "0.0.1"}


@pytest.fixture(scope="module", autouse=True)
def recording(aws_here: template.Template, recorded_calls: Path) -> Iterator[None]:
    with recorded_here.recording(recorded_calls / "pages.jsonl"):
        yield


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
