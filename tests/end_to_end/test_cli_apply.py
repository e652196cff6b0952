"""`headgate apply` on the running service: applied once, nothing is left to do; and what comes in between."""

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from tests.support import sizes
from tests.support.agents_of_service import post_observed, post_to
from tests.support.answering import Answer, Server, serving
from tests.support.cli_apply import applied, configurations, filled, steps
from tests.support.cli_support import EDGE, Cli, Founder, until_end
from tests.support.local_service import LocalService
from tests.support.opamp_agent import Agent

pytestmark = pytest.mark.end_to_end

SERVERS = """\
groups:
  Default: {configuration: c0, rollout: {preset: fast}, variables: {ZONE: a}, secrets: [API_KEY]}
  web: {configuration: c1, selector: {role: web}}
"""
CLUSTERS = "type: kubernetes\ngroups:\n  central: {configuration: c1, role: gateway, replicas: 2}\n"


@pytest.mark.sized
def test_a_folder_is_applied_once_and_the_second_plan_is_empty(cli: Cli, between: Server) -> None:
    count = sizes.either(10, 100)
    filled(cli, count)
    first = applied(cli, "--yes", HEADGATE_URL=between.url)
    checks = [asked for asked, *_ in between.requests if "/validate" in asked]
    second = applied(cli, "--dry-run", "--exit-code", HEADGATE_URL=between.url)

    assert {step["result"] for step in first["steps"]} == {"done"}
    # Who and three lists; then three for each. How many texts a batch has time for is the machine's.
    assert first["requests"] - len(checks) <= 4 + 3 * count
    assert set(checks) == {"POST /api/v1/public/validate/batch?start=true"}
    assert (second["steps"], second["unchanged"]) == ([], count)
    assert second["requests"] <= 3
    there = configurations(cli)
    assert {configuration["published_version"] for configuration in there.values()} == {1}
    with cli.api() as api:
        tests = api.get(f"/configurations/{there['c0']['id']}/versions/1/tests").json()["items"]
    assert [configuration["name"] for configuration in tests] == ["body"]

    # Without what the state has seen, each is read.
    refreshed = applied(cli, "--dry-run", "--refresh", HEADGATE_URL=between.url)
    assert (refreshed["steps"], 2 * count < refreshed["requests"] <= 2 * count + 3) == ([], True)

    # A fresh clone without the state reads each of them, changes nothing, and knows them again from then on.
    shutil.rmtree(cli.folder / "all" / ".headgate")
    adopted = applied(cli, "--yes", HEADGATE_URL=between.url)
    assert (adopted["steps"], adopted["unchanged"]) == ([], count)
    assert applied(cli, "--dry-run", HEADGATE_URL=between.url)["requests"] <= 3


def test_what_somebody_changed_after_the_plan_is_not_overwritten(cli: Cli) -> None:
    filled(cli, 3, publish=False)
    applied(cli, "--yes")
    for n in range(3):
        cli.write(f"all/configurations/c{n}.yaml", EDGE.replace("5s", f"{n + 11}s"))
    theirs = EDGE.replace("5s", "99s")
    child = cli.terminal("apply", "-f", "all")
    child.expect("Apply 3 changes to ")
    with cli.api() as api:
        there = configurations(cli)
        path = f"/configurations/{there['c1']['id']}/versions/1"
        assert api.patch(path, json={"yaml": theirs}).is_success
        # A test of a draft counts as well.
        path = f"/configurations/{there['c2']['id']}/versions/1/tests/more"
        body = {"target_pipeline": "logs", "sample": "x", "rules": [{"name": "a", "condition": "true"}]}
        assert api.put(path, json=body).is_success
    child.sendline("y")
    code, said = until_end(child)

    assert code == 1
    assert said.count("somebody changed it after the plan was made") == 2
    assert "1 of 3 done" in said
    assert [cli.versions(there[name]["id"]) for name in ("c0", "c1")] == [[EDGE.replace("5s", "11s")], [theirs]]
    # The next plan shows what is there now.
    assert steps(applied(cli, "--dry-run")) == [
        "change configuration c1: planned",
        "change configuration c2: planned",
    ]


def test_nothing_is_changed_without_consent(cli: Cli) -> None:
    filled(cli, 1)
    unasked = cli.run("apply", "-f", "all")
    child = cli.terminal("apply", "-f", "all")
    child.expect("Apply 2 changes to ")
    child.sendline("n")
    code, _ = until_end(child)
    planned = cli.run("apply", "-f", "all", "--dry-run", "--exit-code")

    assert (unasked.code, "confirm with --yes" in unasked.err, code, planned.code) == (2, True, 1, 4)
    assert configurations(cli) == {}
    assert not (cli.folder / "all" / ".headgate").exists()


def test_an_invalid_text_stops_everything(cli: Cli) -> None:
    filled(cli, 2)
    cli.write("all/configurations/c1.yaml", EDGE.replace("5s", "5 parsecs"))
    done = cli.run("apply", "-f", "all", "--yes")

    assert (done.code, "Nothing was changed" in done.err) == (1, True)
    assert "configurations/c1.yaml:6:14: error:" in done.err
    assert configurations(cli) == {}


def test_fleets_groups_and_rollouts_come_from_the_folder_and_prune_removes_only_what_it_created(cli: Cli) -> None:
    filled(cli, 2)
    cli.write("all/fleets/servers.yaml", SERVERS)
    cli.write("all/fleets/clusters.yaml", CLUSTERS)
    by_hand = {"name": "by hand", "yaml": EDGE}
    with cli.api() as api:
        assert api.post("/configurations", json=by_hand).is_success
    missing = applied(cli, "--yes", code=1, API_KEY="of another")
    assert [step["reason"] for step in missing["steps"] if step["action"] == "refused"] == [
        "its secret API_KEY is not stored: set the variable HEADGATE_SECRET_API_KEY for this command"
    ]
    assert set(configurations(cli)) == {"by hand"}
    first = applied(cli, "--yes", HEADGATE_SECRET_API_KEY="s3cr3t")
    assert {step["result"] for step in first["steps"]} == {"done"}
    assert applied(cli, "--dry-run", "--exit-code")["steps"] == []
    with cli.api() as api:
        fleets = {one["label"]: one["id"] for one in api.get("/fleets").json()["items"]}
        groups = {one["name"]: one for one in api.get(f"/fleets/{fleets['servers']}/deployments").json()["items"]}
        env = api.get(f"/fleets/{fleets['servers']}/deployments/{groups['Default']['id']}/env").json()["items"]
        rollouts = api.get(f"/fleets/{fleets['servers']}/deployments/{groups['Default']['id']}/rollouts").json()
        # The folder does not know this one.
        web = {"name": "mine", "configuration_id": groups["web"]["configuration_id"], "version_number": 1}
        assert api.post(f"/fleets/{fleets['servers']}/deployments", json=web).is_success
    assert (groups["web"]["selector"], groups["web"]["version_number"]) == ({"role": "web"}, 1)
    assert [(one["name"], one["value"]) for one in env] == [("API_KEY", None), ("ZONE", "a")]
    assert [one["strategy"] for one in rollouts["items"]] == [None]

    # Another version by a rollout, and c1 goes while two groups run it.
    cli.write("all/configurations/c0.yaml", EDGE)
    (cli.folder / "all/configurations/c1.yaml").unlink()
    shutil.rmtree(cli.folder / "all/configurations/c1.tests")
    (cli.folder / "all/fleets/clusters.yaml").unlink()
    cli.write("all/fleets/servers.yaml", SERVERS.replace("c1", "c0"))
    kept = applied(cli, "--dry-run")
    in_use = applied(cli, "--prune", "--yes")
    with cli.api() as api:
        path = f"/fleets/{fleets['servers']}/deployments/{groups['Default']['id']}/rollouts"
        assert api.get(path).json()["items"][0]["strategy"]["steps"][0]["percent"] == 10
    assert [step["name"] for step in kept["steps"] if step["action"] == "kept"] == ["clusters/central", "clusters"]
    assert "left_out configuration c1: none" in steps(kept)
    assert [line for line in steps(in_use) if not line.endswith("done")] == ["left_out configuration c1: none"]
    assert "servers/mine runs it" in next(step["reason"] for step in in_use["steps"] if step["result"] == "none")
    with cli.api() as api:
        cleared = api.get(f"/fleets/{fleets['servers']}/deployments", params={"name": "mine"}).json()["items"][0]["id"]
        assert api.delete(f"/fleets/{fleets['servers']}/deployments/{cleared}").is_success
        assert [one["label"] for one in api.get("/fleets").json()["items"]] == ["servers"]
    assert steps(applied(cli, "--prune", "--yes")) == ["archive configuration c1: done"]
    assert set(configurations(cli)) == {"by hand", "c0"}
    assert set(configurations(cli, archived="true")) == {"c1"}

    # Whoever brings the file back gets the configuration back, with its versions.
    cli.write("all/configurations/c1.yaml", EDGE.replace("5s", "2s"))
    assert steps(applied(cli, "--yes")) == ["change configuration c1: done"]
    assert set(configurations(cli)) == {"by hand", "c0", "c1"}


def test_a_rollout_is_started_once_and_not_again_after_it_was_taken_back(cli: Cli) -> None:
    filled(cli, 1)
    hours = [f"{datetime.now(UTC) + timedelta(hours=ahead):%H:%M}" for ahead in (2, 3)]
    window = f'window: {{start: "{hours[0]}", end: "{hours[1]}", time_zone: UTC}}'
    cli.write("all/fleets/servers.yaml", f"groups:\n  Default: {{configuration: c0, rollout: {{{window}}}}}\n")
    applied(cli, "--yes")
    with cli.api() as api, httpx.Client(base_url=cli.url) as client:
        (fleet,) = api.get("/fleets").json()["items"]
        (group,) = api.get(f"/fleets/{fleet['id']}/deployments").json()["items"]
        Agent(post_to(client, api, fleet["id"], group["id"])).start()
        cli.write("all/configurations/c0.yaml", EDGE)
        started = applied(cli, "--yes", "-m", "Commit 1")
        again = applied(cli, "--dry-run", "--exit-code")
        rollouts = f"/fleets/{fleet['id']}/deployments/{group['id']}/rollouts"
        newest = api.get(rollouts).json()["items"][0]
        assert api.post(f"{rollouts}/{newest['id']}/abort").is_success
        taken_back = applied(cli, "--yes")

    assert steps(started)[-1] == "roll_out group servers/Default: done"
    assert (newest["version_number"], newest["message"]) == (2, "Commit 1")
    (step,) = again["steps"]
    assert (step["action"], "is under way (in progress)" in step["reason"]) == ("left_out", True)
    assert steps(taken_back) == ["left_out group servers/Default: none"]


def test_a_first_version_that_differs_from_what_an_adopted_host_runs_is_refused_in_the_plan(cli: Cli) -> None:
    filled(cli, 1)
    applied(cli, "--yes")
    with cli.api() as api, httpx.Client(base_url=cli.url) as client:
        body = {"label": "servers", "type": "server-supervisor", "mode": "observed"}
        fleet = api.post("/fleets", json=body).json()
        (group,) = api.get(f"/fleets/{fleet['id']}/deployments").json()["items"]
        Agent(post_observed(client, api, fleet["id"], group["id"]), host_name="web-1").start()
        assert api.put(f"/fleets/{fleet['id']}/mode", json={"mode": "managed"}).is_success
    cli.write("all/fleets/servers.yaml", "groups:\n  Default: {configuration: c0}\n")
    (at_once,) = applied(cli, "--yes", code=1)["steps"]
    cli.write("all/fleets/servers.yaml", "groups:\n  Default: {configuration: c0, rollout: {preset: fast}}\n")
    (differs,) = applied(cli, "--yes", code=1)["steps"]

    assert "add `rollout: {preset: canary}` to the group" in at_once["reason"]
    assert differs["reason"].startswith("The version is not what web-1 runs: only the version has ")
    started = cli.run(*shlex.split(re.findall("`headgate ([^`]*--force)`", differs["reason"])[0]))
    assert started.code == 0, started
    (under_way,) = applied(cli, "--yes")["steps"]
    assert (under_way["action"], "is under way" in under_way["reason"]) == ("left_out", True)


def test_a_name_that_is_held_twice_is_an_error(cli: Cli) -> None:
    filled(cli, 1)
    with cli.api() as api:
        for _ in range(2):
            assert api.post("/configurations", json={"name": "c0", "yaml": EDGE}).is_success
    done = cli.run("apply", "-f", "all", "--yes")

    assert done.code == 1
    assert "2 configurations on the server are called 'c0' (cfg_" in done.err


def test_policies_are_left_out_with_a_token_and_set_by_an_admin(
    service: LocalService, founder: Founder, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    token, admin = founder.admin("Applied")
    team = Cli(tmp_path / "work", service.base_url, token)
    team.write("all/policies.yaml", "severities: {insecure_tls: error}\n")
    by_token = applied(team, "--yes")
    headers = admin.headers
    stored = {
        "url": service.base_url,
        "value": headers["Authorization"].removeprefix("Bearer "),
        "organization_id": headers["X-Service-Org"],
    }
    team.write("../home/.config/headgate/credentials.json", json.dumps(stored))
    by_admin = applied(team, "--yes", SERVICE_API_TOKEN="")

    assert steps(by_token) == ["left_out policies policies: none"]
    assert steps(by_admin) == ["change policies policies: done"]
    assert applied(team, "--dry-run", "--exit-code")["steps"] == []
    with admin:
        assert admin.get("/policies").json()["settings"]["severities"] == {"insecure_tls": "error"}


@pytest.fixture
def between(cli: Cli) -> Iterator[Server]:
    """A way to the service that remembers the requests."""
    with serving() as server, httpx.Client(base_url=cli.url, timeout=120) as http:

        def forward(asked: str) -> Answer:
            method, path = asked.split(" ")
            _, headers, body = server.requests[-1]
            passed = {name: value for name, value in headers.items() if name not in ("Host", "Content-Length")}
            answer = http.request(method, path, headers=passed, content=body)
            kept = {name: answer.headers[name] for name in ("Content-Type", "ETag") if name in answer.headers}
            return answer.status_code, kept, answer.content

        server.answering = forward
        yield server


def test_a_draft_that_somebody_changes_before_it_is_published_is_not_published(cli: Cli, between: Server) -> None:
    filled(cli, 1, publish=False)
    applied(cli, "--yes")
    filled(cli, 3)
    cli.write("all/configurations/c1.yaml", EDGE.replace("5s", "11s"))
    forward, theirs = between.answering, EDGE.replace("5s", "99s")
    assert forward

    def change_first(asked: str) -> Answer:
        if asked.endswith("/publish"):
            with cli.api() as api:
                draft = asked.removeprefix("POST /api/v1/public").removesuffix("/publish")
                assert api.patch(draft, json={"yaml": theirs}).is_success
        return forward(asked)

    between.answering = change_first
    # A draft of an earlier apply, which this one does not read again, and two that are saved now.
    done = cli.run("apply", "-f", "all", "--yes", HEADGATE_URL=between.url)

    assert (done.code, done.out.count("somebody changed it after the plan was made")) == (1, 3), done
    assert {one["published_version"] for one in configurations(cli).values()} == {None}


@pytest.fixture
def breaking(between: Server) -> Server:
    """A way to the service that breaks behind the third configuration: it is created, and nobody is told."""
    forward, created = between.answering, set[bytes]()
    assert forward

    def forward_until_third(asked: str) -> Answer:
        answer = forward(asked)
        if asked == "POST /api/v1/public/configurations":
            created.add(between.requests[-1][2])
        return (0, {}, b"") if len(created) >= 3 else answer

    between.answering = forward_until_third
    return between


def test_one_that_is_interrupted_says_how_far_it_came_and_goes_on_when_it_is_applied_again(
    cli: Cli, breaking: Server
) -> None:
    filled(cli, 5)
    interrupted = cli.run("apply", "-f", "all", "--yes", HEADGATE_URL=breaking.url)
    assert interrupted.code == 1
    told = [line.partition(":")[0] for line in interrupted.out.splitlines() if line.startswith(("done", "not begun"))]
    assert told[:3] == ["done      configuration c0", "done      configuration c1", "not begun  configuration c2"]
    assert "2 of 10 done" in interrupted.err
    assert set(configurations(cli)) == {"c0", "c1", "c2"}

    again = applied(cli, "--yes")
    assert steps(again)[:3] == [
        "change configuration c2: done",
        "create configuration c3: done",
        "create configuration c4: done",
    ]
    assert len(configurations(cli)) == 5
    assert applied(cli, "--dry-run", "--exit-code")["steps"] == []
    # Also the one whose creation nobody was told of is one that apply created.
    cli.write("all/configurations/c0.yaml", EDGE)
    (cli.folder / "all/configurations/c2.yaml").unlink()
    shutil.rmtree(cli.folder / "all/configurations/c2.tests")
    assert "archive configuration c2: planned" in steps(applied(cli, "--prune", "--dry-run"))
