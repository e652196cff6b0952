"""What a path says that cannot name anything: 404, and what such a name looks like."""

import re

import pytest

from configurations.app import router as configurations
from fleets.app import routers as fleets_routers
from flows.app import router as flows
from testing.app import router as runs
from tests.support.in_process import TestClient
from tests.support.members import API, JoinWith
from tests.support.routes import operations
from tests.support.world import PUBLIC, joined, session_of

ROUTERS = [configurations, *fleets_routers, flows, runs]
# Every id in a path of the public API: the operation, and the id that is wrong while the others could name something.
IDS = [
    (operation, name)
    for operation in operations()
    if f" {PUBLIC}/" in operation
    for name in re.findall(r"{(\w+_id)}", operation)
]
PREFIXES = {
    "configuration_id": "cfg",
    "fleet_id": "flt",
    "deployment_id": "dep",
    "instance_id": "ins",
    "webhook_id": "whk",
}


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


@pytest.mark.parametrize(("operation", "name"), IDS)
def test_every_operation_names_the_id_that_is_malformed(operation: str, name: str, organization_id: str) -> None:
    method, path = operation.split(" ")
    noun = re.escape(name.removesuffix("_id").replace("_", " "))
    filled = re.sub(r"{(\w+)}", lambda found: "zzz" if found[1] == name else right(found[1]), path)
    http = TestClient(
        operations()[operation],
        raise_server_exceptions=False,
        headers=dict(session_of(joined(organization_id, "admin"), organization_id)),
    )

    response = http.request(method, filled)

    assert (response.status_code, response.json()["code"]) == (404, "not_found")
    assert re.fullmatch(
        rf"No such {noun}: `{name}` must be [a-z]{{3}}_ and 26 lower-case letters and digits",
        response.json()["detail"],
    )


def right(name: str) -> str:
    """What this parameter could be: it names nothing."""
    prefix = PREFIXES.get(name)
    return f"{prefix}_01m7xx1hyrfzpvacqe78v66545" if prefix else "1"
