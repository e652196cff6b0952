"""An organization that publishes only what its policies allow: set by an Admin, met by a team in its shell."""

import re
from pathlib import Path

import pytest

from tests.support.cli_support import EDGE, Cli, Founder
from tests.support.local_service import LocalService

pytestmark = pytest.mark.end_to_end

ALLOWED = EDGE.replace("[debug]", "[debug] # headgate: allow debug_exporter_only because it is tried out")
RULE = {
    "name": "batches",
    "expression": "!has(config.processors.batch)",
    "message": "Add a batch processor",
    "severity": "error",
    "examples": [{"yaml": "processors: {batch: {}}", "violated": False}],
}
SETTINGS = {
    "severities": {"debug_exporter_only": "error"},
    "not_suppressible": [],
    "rules": [RULE],
    "publish_requires": ["policies"],
}


def test_a_team_publishes_what_its_organizations_policies_allow(
    service: LocalService, founder: Founder, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    token, admin = founder.admin("Careful")
    team = Cli(tmp_path / "work", service.base_url, token)
    team.write("edge.yaml", EDGE)
    assert team.run("validate", "--policies", "edge.yaml").code == 0

    with admin:
        saved = admin.put("/policies", json=SETTINGS)
    assert saved.status_code == 200, saved.text
    assert "batches" in team.ok("policy", "list")
    team.write("policies.yaml", team.ok("policy", "get"))
    refused = team.run("policy", "set", "policies.yaml")
    assert (refused.code, "requires a session" in refused.err) == (3, True)

    checked = team.run("validate", "--policies", "edge.yaml")
    assert checked.code == 1
    assert "error: " in checked.out
    assert "[debug_exporter_only]" in checked.out
    pushed = team.run("config", "push", "edge.yaml", "--publish")
    assert pushed.code == 1
    assert "Your organization publishes only versions without policy errors" in pushed.err
    assert re.search(r"^  .*line \d+: .* \[debug_exporter_only\]", pushed.err, re.MULTILINE)

    team.write("edge.yaml", ALLOWED)
    assert team.run("validate", "--policies", "edge.yaml").code == 0
    team.ok("config", "push", "edge.yaml", "--publish")
    with team.api() as api:
        (configuration,) = api.get("/configurations").json()["items"]
        path = f"/configurations/{configuration['id']}/versions/{configuration['published_version']}"
        (comment,) = api.get(f"{path}/suppressions").json()["items"]
        assert (comment["code"], comment["used"]) == ("debug_exporter_only", True)
        assert api.post(f"{path}/publish").status_code == 200
