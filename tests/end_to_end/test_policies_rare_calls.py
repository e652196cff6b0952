"""Requests that make the functions call what the other tests here do not; test_policies.py looks at what they called.

Here everything is in one process, so that AWS can be in a state that nobody gets it into from outside.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from nacl.signing import SigningKey

import rollout_steps.app
import run_steps.app
from application import first_organization
from headgate.fleets import service as fleets
from headgate.fleets import tokens
from headgate.flows.store import EXAMPLES_KEY
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.foundation.settings import settings
from headgate.identity import keys, member_store, proofs, sessions, signing
from headgate.identity import people as identity_people
from headgate.identity import service as identity
from headgate.identity.model import User
from headgate.rollouts import executions
from headgate.rollouts import service as rollouts
from headgate.runs.execution import RunGone
from headgate.runs.jobs import service as jobs
from headgate.runs.jobs import store as job_store
from headgate.runs.jobs.model import Job
from headgate.storage import aws, table
from headgate.webhooks.notifications import watching
from headgate_local import callers, template, user_pool
from tests.support import recorded_here
from tests.support.cloudformation import Answers, taking_answers
from tests.support.opamp_agent import Agent
from tests.support.recorded_here import API, LARGE, YAML, People, created
from tests.support.signing_host import signed
from tests.support.world import create_state_machines
from web.visitor import SESSION_COOKIE, VISIT_COOKIE

pytestmark = pytest.mark.end_to_end

RUN = {"sample": "a", "signal_type": "logs", "target_pipeline": "logs"}


@pytest.fixture(scope="module", autouse=True)
def recording(aws_here: template.Template, recorded_calls: Path) -> Iterator[None]:
    with recorded_here.recording(recorded_calls / "rare.jsonl"):
        yield


@pytest.fixture
def people(aws_here: template.Template) -> People:
    return recorded_here.people(aws_here)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (f"{API}/configurations", {"name": "Edge", "yaml": YAML}, 201),
        (f"{API}/configurations", {"name": "Edge", "yaml": LARGE}, 201),
        (f"{API}/fleets", {"label": "Edge", "type": "server-supervisor"}, 201),
        (f"{API}/testing/runs", {**RUN, "yaml": YAML, "collector_version": "0.0.1"}, 202),
    ],
    ids=["a configuration", "a large configuration", "a fleet", "a run"],
)
def test_a_create_that_is_sent_again_is_answered_again(
    people: People, path: str, body: dict[str, object], status: int
) -> None:
    first, again = (people.ann.post(path, json=body, headers={"Idempotency-Key": "k"}) for _ in range(2))

    assert (first.status_code, again.status_code) == (status, status), first.text
    assert (again.content, again.headers["Idempotency-Replayed"]) == (first.content, "true")


@pytest.mark.parametrize("path", [f"{API}/configurations", f"{API}/fleets", f"{API}/testing/runs"])
def test_a_create_that_failed_may_be_sent_again(people: People, path: str) -> None:
    answers = [people.ann.post(path, json={}, headers={"Idempotency-Key": "k"}) for _ in range(2)]

    assert [one.status_code for one in answers] == [422, 422]


@pytest.mark.parametrize("path", ["components", "configurations", "fleets", "flows", "identity", "testing/runs/run_0"])
def test_a_session_reads_in_every_group(people: People, path: str) -> None:
    assert people.ada.get(f"{API}/{path}").status_code in (200, 404)


def test_a_session_lints(people: People) -> None:
    answer = people.ada.post(f"{API}/ottl/lint", json={"context": "log", "conditions": ["true"]})

    assert (answer.status_code, answer.json()["valid"]) == (200, True)


def forget_signing_key() -> None:
    """As in a new deployment; and as in a new process, since here one process is every function."""
    key = {name: {"S": str(value)} for name, value in keys.signing_key().items()}
    aws.dynamodb().delete_item(TableName=settings().identity_table, Key=key)
    signing.signing_key.cache_clear()


@pytest.mark.parametrize(
    "path",
    ["/sign-in", "{organization}/configurations", "{organization}/fleets", "{configuration}/versions/1"],
    ids=["Application", "Configurations", "Fleets", "Testing"],
)
def test_the_first_form_of_a_new_deployment_makes_its_signing_key(people: People, path: str) -> None:
    user = User(new_id("usr"), f"{new_id('usr')}@example.com", clock.now())
    member_store.put_user(user)
    organization_id = identity.create_organization("Forms", user).id
    _, session = sessions.begin(user, "browser", clock.now())
    _, cli = sessions.begin(user, "cli", clock.now(), organization_id)
    headers = {"Authorization": f"Bearer {cli}", "X-Service-Org": organization_id}
    made = created(people.ann.post(f"{API}/configurations", json={"name": "Edge", "yaml": YAML}, headers=headers))
    organization = f"/organizations/{organization_id}"
    forget_signing_key()

    answer = people.ann.get(
        path.format(organization=organization, configuration=f"{organization}/configurations/{made}"),
        headers={"Cookie": f"{SESSION_COOKIE}={session}", "Authorization": ""},
    )

    assert answer.status_code == 200, answer.text
    assert aws.dynamodb().get_item(
        TableName=settings().identity_table, Key={"pk": {"S": "signing_key"}, "sk": {"S": "signing_key"}}
    )["Item"]


@pytest.mark.parametrize("path", ["components", "configurations", "fleets", "flows"])
def test_the_first_page_of_a_new_deployment_makes_its_signing_key(people: People, path: str) -> None:
    if path == "configurations":
        for name in ("Edge", "Core"):
            created(people.ann.post(f"{API}/{path}", json={"name": name, "yaml": YAML}))
    elif path == "fleets":
        for name in ("Edge", "Core"):
            created(people.ann.post(f"{API}/{path}", json={"label": name, "type": "server-supervisor"}))
    forget_signing_key()

    first = people.ann.get(f"{API}/{path}", params={"limit": 1}).json()
    second = people.ann.get(f"{API}/{path}", params={"limit": 1, "cursor": first["next_cursor"]}).json()
    assert first["items"] != second["items"]


def test_a_cursor_of_a_new_deployments_collector_versions_makes_its_signing_key(people: People) -> None:
    """Whether or not so many collectors are installed here that there is a second page."""
    listed = people.ann.get(f"{API}/collector-versions").json()
    forget_signing_key()
    answer = people.ann.get(f"{API}/collector-versions", params={"cursor": "bm90LW91cnM"})

    assert [item["version"] for item in listed["items"] if item["default"]] == [settings().collector_version]
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["query", "cursor"])


def test_a_token_is_known_and_refused_by_what_is_for_people(people: People) -> None:
    assert people.ann.get("/api/v1/app/session").status_code == 403


def test_a_token_that_is_renewed_without_grace_ends(people: People) -> None:
    fleet = created(people.ada.post(f"{API}/fleets", json={"label": "Edge", "type": "server-supervisor"}))

    assert people.ada.post(f"/api/v1/app/fleets/{fleet}/token", json={"grace": "none"}).status_code == 200


def test_a_webhooks_secret_is_renewed_once_under_a_key(people: People) -> None:
    webhook = created(
        people.ada.post(f"{API}/webhooks", json={"name": "on-call", "url": "https://hooks.example.com/x"})
    )
    path, key = f"{API}/webhooks/{webhook}/secret", {"Idempotency-Key": "k"}
    first, again = (people.ada.post(path, headers=key).json()["secret"] for _ in range(2))

    assert (first is None, again) == (False, None)


def test_a_wrong_code_for_a_new_password_is_noted_and_forgotten(people: People) -> None:
    user_pool.add_account("forgetful@example.com", "four words in a row")
    form = {"csrf": signing.sign("csrf", b"v" * 43).hex(), "email": "forgetful@example.com", "code": "123456"}
    form["request"] = proofs.of_mail("forgetful@example.com", clock.now())

    answer = people.ann.post(
        "/reset-password",
        data={**form, "password": "five words in a row"},
        headers={"Cookie": f"{VISIT_COOKIE}={'v' * 43}", "Authorization": ""},
    )

    assert answer.status_code == 422, answer.text


def test_a_session_ends_with_its_sign_out(people: People) -> None:
    assert people.ada.delete("/api/v1/app/session").status_code == 204


def test_a_flow_is_read_and_an_unknown_one_is_404(people: People) -> None:
    slug = people.ann.get(f"{API}/flows").json()["items"][0]["slug"]

    assert people.ann.get(f"{API}/flows/{slug}").status_code == 200
    assert people.ann.get(f"{API}/flows/nothing-of-that-name").status_code == 404


def test_an_example_is_looked_for_before_there_are_any(people: People) -> None:
    example = aws.s3().get_object(Bucket=settings().bucket, Key=EXAMPLES_KEY)["Body"].read()
    aws.s3().delete_object(Bucket=settings().bucket, Key=EXAMPLES_KEY)
    before = people.ann.get(f"{API}/components/processor/batch")
    aws.s3().put_object(Bucket=settings().bucket, Key=EXAMPLES_KEY, Body=example)
    after = people.ann.get(f"{API}/components/processor/batch")

    assert before.json()["example"] is None
    assert after.json()["example"]["yaml"].startswith("processors:")


def test_others_see_the_published_versions(people: People) -> None:
    made = created(people.ann.post(f"{API}/configurations", json={"name": "Edge", "yaml": LARGE}))
    people.ann.post(f"{API}/configurations/{made}/versions/1/publish").raise_for_status()

    seen = people.bob.get(f"{API}/configurations/{made}/versions").json()["items"]
    run = people.bob.post(f"{API}/testing/runs", json={**RUN, "configuration_id": made, "version_number": 1})

    assert [one["n"] for one in seen] == [1]
    # There is no state machine here; the version and its text were read.
    assert (run.status_code, run.json()["code"]) == (503, "testing_unavailable")


def test_a_deployment_group_takes_another_name(people: People) -> None:
    made = created(people.ann.post(f"{API}/fleets", json={"label": "Edge", "type": "server-supervisor"}))
    (group,) = people.ann.get(f"{API}/fleets/{made}/deployments").json()["items"]
    path = f"{API}/fleets/{made}/deployments/{group['id']}"

    assert people.ann.patch(path, json={"name": "Hosts"}).json()["name"] == "Hosts"


def test_the_page_of_a_fleet_reads_its_open_rollouts(people: People) -> None:
    configuration = created(people.ann.post(f"{API}/configurations", json={"name": "Edge", "yaml": YAML}))
    people.ann.post(f"{API}/configurations/{configuration}/versions/1/publish").raise_for_status()
    fleet = created(people.ann.post(f"{API}/fleets", json={"label": "Edge", "type": "server-supervisor"}))
    (group,) = people.ann.get(f"{API}/fleets/{fleet}/deployments").json()["items"]
    path = f"{API}/fleets/{fleet}/deployments/{group['id']}"
    people.ann.patch(path, json={"configuration_id": configuration}).raise_for_status()
    rollout = created(people.ann.post(f"{path}/rollouts", json={"version_number": 1}))

    page = people.ann.get(
        f"/organizations/{people.organization_id}/fleets/{fleet}",
        headers={"Cookie": f"{SESSION_COOKIE}={people.browser}", "Authorization": ""},
    )

    assert (page.status_code, rollout in page.text) == (200, True)


def installed(people: People) -> dict[str, Any]:
    """What is answered on how to install a host of a new fleet, which runs a large configuration."""
    configuration = created(people.ann.post(f"{API}/configurations", json={"name": "Edge", "yaml": LARGE}))
    people.ann.post(f"{API}/configurations/{configuration}/versions/1/publish").raise_for_status()
    fleet = created(people.ann.post(f"{API}/fleets", json={"label": "Edge", "type": "server-supervisor"}))
    (group,) = people.ann.get(f"{API}/fleets/{fleet}/deployments").json()["items"]
    path = f"{API}/fleets/{fleet}/deployments/{group['id']}"
    people.ann.patch(path, json={"configuration_id": configuration}).raise_for_status()
    answer = people.ann.post(f"{API}/fleets/{fleet}/install", json={"platform": "linux"})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_agents_are_counted_as_they_join_and_sent_a_text_that_is_beside_the_table(people: People) -> None:
    connection = installed(people)["connection"]
    headers = {
        "Authorization": f"Bearer {connection['token']}",
        "Content-Type": "application/x-protobuf",
        "X-Deployment-Id": connection["deployment_id"],
    }
    # The first counts who is there, the first of a minute puts its number, and another one adds to it.
    agents = [
        Agent(lambda message: people.ann.post("/v1/opamp", content=message, headers=headers).content) for _ in range(3)
    ]
    for agent in agents:
        agent.start()

    assert [agent.config for agent in agents] == [LARGE.encode()] * 3


def test_a_host_that_signs_is_sent_the_variables_that_belong_to_its_offer(people: People) -> None:
    connection = installed(people)["connection"]
    group = connection["deployment_id"]
    path = f"{API}/fleets/{connection['fleet_id']}/deployments/{group}"
    people.ann.patch(f"{path}/env", json={"secrets": {"KEY": "x"}}).raise_for_status()
    token, key, numbers = tokens.value_of(group, 1), SigningKey.generate(), iter(range(1, 100))

    def post(message: bytes) -> bytes:
        signature = signed(key, token, group, f"1.{next(numbers)}", message)
        headers = {"Authorization": f"Bearer {token}", "X-Deployment-Id": group, "X-Host-Signature": signature}
        return people.ann.post("/v1/opamp", content=message, headers=headers).content

    agent = Agent(post)
    agent.start()
    agent.tells(b'{"v":1,"supervisor":{"version":"1"},"can":["variables"]}')
    body = {"version_number": 1, "variables_revision": 1, "strategy": {"preset": "all_at_once"}}
    rollout = created(people.ann.post(f"{path}/rollouts", json=body))
    with callers.acting("RolloutStepsFunction"):
        rollouts.tick(connection["fleet_id"], group, rollout)
    answer = agent.heartbeat()

    assert "sealed" in json.loads(answer.custom_message.data)["variables"]


def test_an_install_link_is_read_by_another_process_before_anything_is_published(people: People) -> None:
    link = httpx2.URL(installed(people)["install_url"])
    signing.signing_key.cache_clear()

    answer = people.ann.get(link.raw_path.decode())

    assert answer.status_code in (404, 409, 503), answer.text


def test_a_run_whose_execution_does_not_start_leaves_nothing(people: People) -> None:
    answer = people.ann.post(f"{API}/testing/runs", json={**RUN, "yaml": YAML})

    assert (answer.status_code, answer.json()["code"]) == (503, "testing_unavailable")
    assert aws.dynamodb().scan(TableName=settings().runs_table)["Count"] == 0 or jobs.finish_unfinished() == 0


def test_variables_and_jobs_that_do_not_start_leave_nothing(people: People) -> None:
    run = people.ann.post(f"{API}/testing/runs", json={**RUN, "yaml": YAML, "env": {"NAME": "value"}})
    test = {"name": "one", "rules": [{"name": "any", "condition": "true"}], **RUN}
    suite = people.ann.post(f"{API}/testing/suites", json={"yaml": YAML, "tests": [test]})

    assert (run.status_code, suite.status_code) == (503, 503), suite.text
    left = aws.s3().list_object_versions(Bucket=settings().bucket, Prefix="variables/")
    assert not left.get("Versions")


def test_a_job_whose_variables_are_gone_is_gone() -> None:
    job = Job(
        id=new_id("job"),
        organization_id=new_id("org"),
        created_by=Principal("service_account", new_id("sva"), "ann"),
        published=False,
        kind="suite",
        status="Queued",
        configuration_id=None,
        version_number=None,
        created_at=clock.now(),
        secret=True,
    )
    job_store.create(job, jobs.path(job))

    with callers.acting("RunStepsFunction"), pytest.raises(RunGone):
        run_steps.app.handler({"step": "prepare", "run_id": job.id}, None)


def test_a_rollout_that_has_lost_its_execution_gets_another_one(people: People, aws_here: template.Template) -> None:
    create_state_machines(aws_here)
    execution = executions.new("flt_1", "dep_1", "rol_1")
    table.write(executions.write(execution, clock.now() - timedelta(hours=1)))

    with callers.acting("RolloutStepsFunction"):
        started = rollout_steps.app.handler({"step": "sweep"}, None)

    assert started == {"started": 1}


def test_former_tokens_that_no_host_uses_end(people: People) -> None:
    fleet = created(people.ann.post(f"{API}/fleets", json={"label": "Renewed", "type": "server-supervisor"}))
    (group,) = people.ann.get(f"{API}/fleets/{fleet}/deployments").json()["items"]
    # A group with secrets has a token of its own.
    path = f"fleets/{fleet}/deployments/{group['id']}"
    assert people.ann.patch(f"{API}/{path}/env", json={"secrets": {"KEY": "x"}}).status_code == 200
    for holder in (f"fleets/{fleet}", path):
        renewed = people.ada.post(f"{API.replace('public', 'app')}/{holder}/token", json={"grace": "unused"})
        assert renewed.status_code == 200, renewed.text

    with callers.acting("NotifyFunction"):
        at = clock.now().replace(minute=0)
        watching.watch(at, at)

    assert not fleets.of_organization(people.organization_id, fleet).previous_while_used


def as_running(run_id: str) -> None:
    """A refused run as it stands before its refusal is known."""
    aws.dynamodb().update_item(
        TableName=settings().runs_table,
        Key={"run_id": {"S": run_id}},
        UpdateExpression="SET #status = :running",
        ExpressionAttributeNames={"#status": "status"},
        ExpressionAttributeValues={":running": {"S": "Running"}},
    )


def test_a_step_that_fails_before_there_are_files_ends_the_run(people: People, aws_here: template.Template) -> None:
    answer = people.ann.post(f"{API}/testing/runs", json={**RUN, "yaml": YAML, "collector_version": "0.0.1"})
    run_id = created(answer)
    as_running(run_id)

    with callers.acting("RunStepsFunction"):
        failed = {"Error": "States.TaskFailed", "Cause": "gone"}
        run_steps.app.handler({"step": "fail", "run_id": run_id, "stage": "collect", "error": failed}, None)

    assert people.ann.get(f"{API}/testing/runs/{run_id}").json()["status"] == "Error"


def test_invitations_are_accepted_declined_and_withdrawn(people: People) -> None:
    user = User(new_id("usr"), f"{new_id('usr')}@example.com", clock.now())
    member_store.put_user(user)
    _, value = sessions.begin(user, "browser", clock.now())
    hers = {"Authorization": f"Bearer {value}"}
    path = f"/api/v1/app/invitations/{people.ada.get(f'{API}/identity').json()['organization_id']}"

    def invited(role: str) -> str:
        answer = people.ada.post("/api/v1/app/members", json={"email": user.email, "role": role})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    changed = people.ada.patch(f"/api/v1/app/members/{invited('contributor')}", json={"role": "admin"})
    assert changed.status_code == 200, changed.text
    assert people.ann.delete(path, headers=hers).status_code == 204
    assert people.ada.delete(f"/api/v1/app/members/{invited('contributor')}").status_code == 204
    for role in ("admin", "contributor"):
        invited(role)
        assert people.ann.post(f"{path}/accept", headers=hers).status_code == 200
        assert people.ada.delete(f"/api/v1/app/members/{user.id}").status_code == 204


def test_somebody_with_an_account_is_invited_to_another_organization(people: People) -> None:
    user_pool.add_account("known@example.com", "four words in a row")

    answer = people.ada.post("/api/v1/app/members", json={"email": "known@example.com", "role": "contributor"})

    assert answer.status_code == 201, answer.text


@pytest.fixture
def cloudformation() -> Iterator[tuple[str, Answers]]:
    with taking_answers() as taking:
        yield taking


def test_cloudformation_makes_the_first_organization_once(cloudformation: tuple[str, Answers]) -> None:
    """A deployment's own function, which a local service has no use for; its Admin had an account from a first try."""
    url, answers = cloudformation
    user_pool.add_account("first@example.com", "four words in a row")
    event = {
        "RequestType": "Create",
        "ResponseURL": url,
        "StackId": "stack",
        "RequestId": "request",
        "LogicalResourceId": "FirstOrganizationAndAdmin",
        "ResourceProperties": {
            "Organization": "Acme",
            "AdminEmail": "first@example.com",
            "Url": "https://headgate.example",
        },
    }
    with callers.acting("FirstOrganizationFunction"):
        # The first try, which came no further.
        identity_people.find_or_create("first@example.com", "https://headgate.example")
        first_organization.handler(event, None)
        first_organization.handler(event, None)

    assert [answer["Status"] for answer in answers] == ["SUCCESS", "SUCCESS"], answers


def test_a_token_and_its_service_account_are_deleted(people: People) -> None:
    accounts = "/api/v1/app/service-accounts"
    account = f"{accounts}/{created(people.ada.post(accounts, json={'name': 'ci'}))}"
    token = created(people.ada.post(f"{account}/tokens", json={"name": "t"}))

    assert people.ada.delete(f"{account}/tokens/{token}").status_code == 204
    created(people.ada.post(f"{account}/tokens", json={"name": "another"}))
    assert people.ada.delete(account).status_code == 204
