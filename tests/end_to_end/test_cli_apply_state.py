"""What a pull request writes into the folder of `headgate apply`, and what somebody does by hand on the server."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.agents_of_service import post_to
from tests.support.cli_apply import applied, configurations, filled, steps
from tests.support.cli_support import EDGE, Cli, Founder
from tests.support.local_service import LocalService
from tests.support.opamp_agent import Agent

pytestmark = pytest.mark.end_to_end

CAREFUL = "groups:\n  Default: {configuration: c0, rollout: {preset: careful}}\n"
PLAIN = "groups:\n  Default: {configuration: c0}\n"


def state(cli: Cli) -> tuple[Path, dict[str, Any]]:
    (file,) = (cli.folder / "all" / ".headgate").iterdir()
    return file, json.loads(file.read_text())


@pytest.mark.parametrize("knows_the_ids", [False, True])
def test_a_forged_state_makes_nothing_an_applys_own(cli: Cli, knows_the_ids: bool) -> None:
    # All by the credential that applies.
    with cli.api() as api:
        draft = api.post("/configurations", json={"name": "draft", "yaml": EDGE}).json()["id"]
        used = api.post("/configurations", json={"name": "used", "yaml": EDGE}).json()["id"]
        assert api.post(f"/configurations/{used}/versions/1/publish").is_success
        fleet = api.post("/fleets", json={"label": "by hand", "type": "server-supervisor"}).json()["id"]
        body = {"name": "web", "configuration_id": used, "version_number": 1}
        group = api.post(f"/fleets/{fleet}/deployments", json=body).json()["id"]
    filled(cli, 1)
    applied(cli, "--yes")
    file, content = state(cli)
    forged = {"draft": ("configurations", draft), "used": ("configurations", used), "by hand": ("fleets", fleet)}
    for name, (kind, id_) in {**forged, f"{fleet}/web": ("groups", group)}.items():
        content[kind][name] = {"id": id_ if knows_the_ids else "", "created": True}
    file.write_text(json.dumps(content))
    result = applied(cli, "--prune", "--yes")
    # What has no id could be adopted by the first one, and removed by the next.
    again = applied(cli, "--prune", "--yes")

    assert {step["action"] for step in [*result["steps"], *again["steps"]]} <= {"left_out"}
    assert bool(result["steps"]) == knows_the_ids
    with cli.api() as api:
        there = [
            *(f"/configurations/{one}" for one in (draft, used)),
            *(f"/fleets/{fleet}", f"/fleets/{fleet}/deployments/{group}"),
        ]
        assert [api.get(path).json().get("archived_at", "there") for path in there] == [None, None, "there", "there"]


def test_a_forged_entry_for_a_name_of_the_folder_is_not_taken_for_its_creation(cli: Cli) -> None:
    with cli.api() as api:
        assert api.post("/configurations", json={"name": "c0", "yaml": EDGE.replace("5s", "1s")}).is_success
    filled(cli, 2)
    applied(cli, "--yes")
    file, content = state(cli)
    content["configurations"]["c0"]["created"] = True
    file.write_text(json.dumps(content))
    # The same pull request takes the file away.
    (cli.folder / "all/configurations/c0.yaml").unlink()
    (cli.folder / "all/configurations/c0.tests/body.yaml").unlink()
    (cli.folder / "all/configurations/c0.tests").rmdir()

    assert steps(applied(cli, "--prune", "--yes")) == ["left_out configuration c0: none"]
    assert set(configurations(cli)) == {"c0", "c1"}


def test_a_forged_state_removes_nothing_that_another_folder_applied_with_the_same_credential(cli: Cli) -> None:
    filled(cli, 2)
    cli.write("all/fleets/servers.yaml", PLAIN)
    applied(cli, "--yes")
    _, content = state(cli)
    (cli.folder / "all").rename(cli.folder / "theirs")
    cli.write("all/configurations/mine.yaml", EDGE)
    applied(cli, "--yes")
    mine, own = state(cli)
    # What the server shows of the other folder's id is not the id.
    assert {one["managed_by"] for one in configurations(cli).values()}.isdisjoint({content["folder"], own["folder"]})
    mine.write_text(json.dumps({**content, "folder": own["folder"]}))
    pruned = applied(cli, "--prune", "--yes")

    assert {step["action"] for step in pruned["steps"]} == {"left_out"}
    assert set(configurations(cli)) == {"c0", "c1", "mine"}


def test_a_folder_changes_nothing_of_another_one_unless_it_takes_it_over(cli: Cli) -> None:
    filled(cli, 1)
    cli.write("all/fleets/servers.yaml", PLAIN)
    applied(cli, "--yes")
    (cli.folder / "all").rename(cli.folder / "theirs")
    filled(cli, 1)
    cli.write("all/fleets/servers.yaml", PLAIN)
    assert applied(cli, "--yes")["steps"] == [], "both want the same"
    cli.write("all/configurations/c0.yaml", EDGE.replace("5s", "9s"))
    refused = applied(cli, "--yes", code=1)
    adopted = applied(cli, "--adopt", "--yes")
    again = applied(cli, "--yes")
    (cli.folder / "all").rename(cli.folder / "ours")
    (cli.folder / "theirs").rename(cli.folder / "all")
    back = applied(cli, "--prune", "--yes", code=1)

    assert steps(refused)[:1] == ["refused configuration c0: none"]
    assert "another folder applies it" in refused["steps"][0]["reason"]
    assert steps(adopted) == [
        "change configuration c0: done",
        "publish configuration c0: done",
        "change group servers/Default: done",
        "assign group servers/Default: done",
    ]
    assert adopted["steps"][0]["changes"][0] == "taken over from another folder"
    assert again["steps"] == []
    assert {step["action"] for step in back["steps"]} == {"refused"}
    assert configurations(cli)["c0"]["latest_version"] == 2


def test_an_archived_one_that_no_apply_created_is_not_an_applys_after_it_was_restored(cli: Cli) -> None:
    with cli.api() as api:
        made = api.post("/configurations", json={"name": "c0", "yaml": EDGE}).json()["id"]
        assert api.post(f"/configurations/{made}/versions/1/publish").is_success
        assert api.post(f"/configurations/{made}/archive").is_success
    filled(cli, 2)
    applied(cli, "--yes")

    assert state(cli)[1]["configurations"]["c0"]["created"] is False
    assert state(cli)[1]["configurations"]["c1"]["created"] is True


def test_a_forged_state_hides_no_difference(cli: Cli) -> None:
    filled(cli, 2, publish=False)
    applied(cli, "--yes")
    theirs = EDGE.replace("5s", "99s")
    with cli.api() as api:
        there = configurations(cli)["c0"]
        assert api.patch(f"/configurations/{there['id']}/versions/1", json={"yaml": theirs}).is_success
    # As if an apply had seen, after that change, what the folder holds.
    file, content = state(cli)
    content["configurations"]["c0"]["seen"]["updated_at"] = configurations(cli)["c0"]["updated_at"]
    file.write_text(json.dumps(content))
    planned = applied(cli, "--dry-run")

    assert steps(planned) == ["change configuration c0: planned"]
    assert "99s" in str(planned["steps"][0]["diff"])
    assert steps(applied(cli, "--yes")) == ["change configuration c0: done"]
    assert applied(cli, "--dry-run")["requests"] == 2


def test_a_forged_state_deletes_no_tests(cli: Cli) -> None:
    filled(cli, 2)
    applied(cli, "--yes")
    (cli.folder / "all/configurations/c0.tests/body.yaml").unlink()
    (cli.folder / "all/configurations/c0.tests").rmdir()
    file, content = state(cli)
    content["configurations"]["c0"]["seen"]["tests"] = "forged"
    file.write_text(json.dumps(content))
    done = cli.run("apply", "-f", "all", "--dry-run")

    assert (done.code, "Plan: nothing to do; 2 unchanged" in done.out) == (0, True)
    assert "configuration c0: the folder has no tests for it" in done.err


def test_another_credential_reads_what_it_did_not_see_itself(
    service: LocalService, founder: Founder, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    token, admin = founder.admin(tmp_path.name[:100])
    cli = Cli(tmp_path / "work", service.base_url, token)
    with admin:
        accounts = f"{service.base_url}/api/v1/app/service-accounts"
        (account,) = admin.get(accounts).json()["items"]
        body = {"name": "plans", "write_access": False}
        reads = admin.post(f"{accounts}/{account['id']}/tokens", json=body).json()["value"]
    filled(cli, 3)
    applied(cli, "--yes")
    planned = applied(cli, "--dry-run", SERVICE_API_TOKEN=reads)

    assert (planned["steps"], planned["requests"]) == ([], 2 + 2 * 3)
    # It is of the same service account, so it sees what would be removed.
    (cli.folder / "all/configurations/c2.yaml").unlink()
    (cli.folder / "all/configurations/c2.tests/body.yaml").unlink()
    (cli.folder / "all/configurations/c2.tests").rmdir()
    pruned = applied(cli, "--dry-run", "--prune", SERVICE_API_TOKEN=reads)
    assert steps(pruned) == ["archive configuration c2: planned"]


def test_the_default_group_of_a_new_fleet_gets_its_version_at_once_and_the_next_one_in_steps(cli: Cli) -> None:
    filled(cli, 1)
    cli.write("all/fleets/servers.yaml", CAREFUL)
    first = applied(cli, "--yes")
    with cli.api() as api:
        (fleet,) = api.get("/fleets").json()["items"]
        (group,) = api.get(f"/fleets/{fleet['id']}/deployments").json()["items"]
        cli.write("all/configurations/c0.yaml", EDGE)
        second = applied(cli, "--yes")
        rollouts = api.get(f"/fleets/{fleet['id']}/deployments/{group['id']}/rollouts").json()["items"]

    assert steps(first)[-1] == "assign group servers/Default: done"
    assert group["version_number"] == 1
    assert steps(second)[-1] == "roll_out group servers/Default: done"
    assert [one["strategy"] is None for one in rollouts] == [False, True]


def test_a_rollout_that_somebody_started_in_a_group_without_one_in_the_folder_is_left_alone(cli: Cli) -> None:
    filled(cli, 1)
    cli.write("all/fleets/servers.yaml", PLAIN)
    applied(cli, "--yes")
    with cli.api() as api, httpx.Client(base_url=cli.url) as client:
        (fleet,) = api.get("/fleets").json()["items"]
        (group,) = api.get(f"/fleets/{fleet['id']}/deployments").json()["items"]
        Agent(post_to(client, api, fleet["id"], group["id"])).start()
        path = f"/configurations/{group['configuration_id']}/versions"
        assert api.post(path, json={"yaml": EDGE}).is_success
        assert api.post(f"{path}/2/publish").is_success
        rollouts = f"/fleets/{fleet['id']}/deployments/{group['id']}/rollouts"
        body = {"configuration_id": group["configuration_id"], "version_number": 2}
        rollout = api.post(rollouts, json=body).json()["id"]
        # The folder follows: its text is that of version 2, which is on its way.
        cli.write("all/configurations/c0.yaml", EDGE)
        under_way = applied(cli, "--yes")
        cli.write("all/configurations/c0.yaml", EDGE.replace("5s", "7s"))
        another = applied(cli, "--yes")
        status = api.get(f"{rollouts}/{rollout}").json()["status"]
        assert api.post(f"{rollouts}/{rollout}/abort").is_success
        after = applied(cli, "--yes")

    assert steps(under_way) == ["left_out group servers/Default: none"]
    assert "the rollout of c0 v2 is under way" in under_way["steps"][0]["reason"]
    assert steps(another)[-1] == "left_out group servers/Default: none"
    assert "a rollout of another version is under way" in another["steps"][-1]["reason"]
    assert status == "in_progress"
    assert steps(after) == ["assign group servers/Default: done"]
