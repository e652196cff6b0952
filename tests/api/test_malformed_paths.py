"""What a path says that cannot name anything: 404, and what such a name looks like."""

import pytest

from configurations.app import router as configurations
from fleets.app import router as fleets
from flows.app import router as flows
from testing.app import router as runs
from tests.support.members import API, JoinWith

ROUTERS = [configurations, fleets, flows, runs]


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        (
            "/configurations/zzz",
            "No such configuration: `configuration_id` must be cfg_ and 26 lower-case letters and digits",
        ),
        (
            "/configurations/cfg_01m7xx1hyrfzpvacqe78v66545/versions/0",
            "No such version: `n` must be at least 1",
        ),
        (
            "/configurations/cfg_01m7xx1hyrfzpvacqe78v66545/versions/+1",
            "No such version: `n` must be a whole number",
        ),
        ("/fleets/zzz", "No such fleet: `fleet_id` must be flt_ and 26 lower-case letters and digits"),
        ("/fleets/zzz/instances", "No such fleet: `fleet_id` must be flt_ and 26 lower-case letters and digits"),
        ("/testing/runs/zzz", "No such run: `run_id` must be run_ and 26 lower-case letters and digits"),
        ("/testing/suites/1", "No such suite: `suite_id` must be job_ and 26 lower-case letters and digits"),
        ("/flows/A", "No such slug: `slug` must match the pattern ^[a-z0-9-]{1,64}$"),
    ],
)
def test_a_malformed_path_says_what_is_expected(path: str, detail: str, join: JoinWith) -> None:
    response = join(ROUTERS).http.get(API + path)

    assert (response.status_code, response.json()["code"], response.json()["detail"]) == (404, "not_found", detail)
