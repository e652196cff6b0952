"""What an attacker would try on the application, each tried."""

import importlib
import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from botocore.exceptions import ClientError

from headgate.configurations import service as configurations
from headgate.deployments import assignments, mounts
from headgate.deployments import service as deployments
from headgate.deployments.model import VolumeMount
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.settings import settings
from headgate.identity import logins, member_store, service_account_store, sessions
from headgate.identity import service as identity
from headgate.runs.rules import store as rule_store
from headgate.runs.rules.model import RuleSet, StoredRule
from headgate.storage import aws
from headgate_engine.collector import DISTRIBUTION
from headgate_engine.rules.model import Rule
from scripts.openapi import FUNCTIONS
from tests.support.in_process import TestClient
from tests.support.page_visitor import (
    PASSWORD,
    SESSION,
    SITE,
    Person,
    ada,
    browser,
    csrf,
    http,
    sign_in,
    without_own_scripts,
)
from web.pages import PageRoute

__all__ = ["ada", "http"]


def page_paths(ada: Person, method: str) -> list[str]:
    files = [path.relative_to(FUNCTIONS).with_suffix("") for path in FUNCTIONS.rglob("*_pages.py")]
    modules = [importlib.import_module(".".join(file.parts)) for file in files]
    found = [
        route.path.format(
            organization_id=ada.organization_id,
            member_id=new_id("usr"),
            service_account_id=new_id("sva"),
            token_id=new_id("tok"),
            webhook_id=new_id("whk"),
            delivery_id=new_id("dlv"),
            configuration_id=new_id("cfg"),
            n=1,
            fleet_id=new_id("flt"),
            deployment_id=new_id("dep"),
            instance_id=new_id("ins"),
            rollout_id=new_id("rol"),
            capture_id=new_id("cap"),
            slug="host-logs",
            name="fleets",
            kind="receiver",
            type="otlp",
            component="transform",
            context="log",
        )
        for module in modules
        for route in module.router.routes
        if isinstance(route, PageRoute) and method in (route.methods or ())
    ]
    assert len(found) >= 15
    return found


# Session fixation, cookies, sign-out.


def test_the_session_cookie_is_out_of_reach_of_scripts_plain_http_and_other_sites(ada: Person) -> None:
    cookies = sign_in(browser(), ada.user.email).headers.get_list("set-cookie")
    session = next(cookie for cookie in cookies if cookie.startswith(SESSION))

    assert re.fullmatch(
        rf"{SESSION}=ss_[A-Za-z0-9_-]{{43}}; HttpOnly; Max-Age=43200; Path=/; SameSite=lax; Secure", session
    )


def test_a_session_that_somebody_planted_is_not_adopted(ada: Person) -> None:
    http = browser()
    planted = "ss_" + "a" * 43
    http.cookies.set(SESSION, planted)
    response = sign_in(http, ada.user.email)

    assert planted not in response.headers["set-cookie"]
    http.cookies.clear()
    http.cookies.set(SESSION, planted)
    assert http.get("/").headers["location"].startswith("/sign-in")


def test_signing_in_again_makes_a_new_session_and_ends_the_one_before(http: TestClient, ada: Person) -> None:
    before = http.cookies[SESSION]
    form = csrf(http, f"/organizations/{ada.organization_id}")
    http.post("/sign-in", data={"csrf": form, "email": ada.user.email, "password": PASSWORD})

    assert http.cookies[SESSION] != before
    old = browser()
    old.cookies.set(SESSION, before)
    assert old.get("/").headers["location"].startswith("/sign-in")


def test_sign_out_ends_the_session_wherever_its_cookie_was_copied(http: TestClient, ada: Person) -> None:
    copied = http.cookies[SESSION]
    http.post("/sign-out", data={"csrf": csrf(http, f"/organizations/{ada.organization_id}")})

    thief = browser()
    thief.cookies.set(SESSION, copied)
    assert thief.get("/").headers["location"].startswith("/sign-in")
    assert thief.get("/api/v1/app/session", headers={"Authorization": f"Bearer {copied}"}).status_code == 401


def test_the_command_lines_session_is_not_for_browsers(ada: Person) -> None:
    _, value = sessions.begin(ada.user, "cli", clock.now(), ada.organization_id)
    http = browser()
    http.cookies.set(SESSION, value)

    assert http.get("/").headers["location"].startswith("/sign-in")


# Cross-site request forgery.


def test_every_form_refuses_what_was_not_sent_from_its_own_page(http: TestClient, ada: Person) -> None:
    paths = page_paths(ada, "POST")
    stranger = csrf(browser())

    for path in paths:
        answers = [
            http.post(path, data={"name": "x"}),
            http.post(path, data={"csrf": ""}),
            http.post(path, data={"csrf": stranger}),
            http.post(path, content=b"{}", headers={"Content-Type": "application/json"}),
        ]
        assert [answer.status_code for answer in answers] == [403, 403, 403, 422], path


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_every_form_refuses_another_site_even_with_the_right_value(
    http: TestClient, ada: Person, headers: dict[str, str]
) -> None:
    form = csrf(http, f"/organizations/{ada.organization_id}")

    for path in page_paths(ada, "POST"):
        assert http.post(path, data={"csrf": form}, headers=headers).status_code == 403, path


def test_a_form_of_another_session_is_refused(http: TestClient, ada: Person) -> None:
    other = browser()
    sign_in(other, ada.user.email)
    path = f"/organizations/{ada.organization_id}"

    assert http.post(f"{path}/rename", data={"csrf": csrf(other, path), "name": "Mine"}).status_code == 403
    assert member_store.organization_name(ada.organization_id) == "Acme"


# Open redirects and pages in frames.


@pytest.mark.parametrize(
    "after",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/%0d%0aSet-Cookie:x=y\r\nX: y",
        " /x",
        "evil.example",
        "",
    ],
)
def test_a_sign_in_never_leads_to_another_site(ada: Person, after: str) -> None:
    assert sign_in(browser(), ada.user.email, next=after).headers["location"] in ("/", "/%0d%0aSet-Cookie:x=y")


def test_a_sign_in_leads_back_to_the_page_that_asked_for_it(ada: Person) -> None:
    http = browser()
    asked = http.get("/device?user_code=BCDF-GHJK").headers["location"]

    assert asked == "/sign-in?next=/device%3Fuser_code%3DBCDF-GHJK"
    assert sign_in(http, ada.user.email, next="/device?user_code=BCDF-GHJK").headers["location"] == (
        "/device?user_code=BCDF-GHJK"
    )


def test_no_page_runs_scripts_of_others_is_framed_or_kept(http: TestClient, ada: Person) -> None:
    for path in [*page_paths(ada, "GET"), "/nowhere"]:
        response = http.get(path)
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy, path
        assert "script-src 'self';" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert response.headers["x-frame-options"] == "DENY"
        assert response.headers["x-content-type-options"] == "nosniff"
        # The pages about the API are the same for everybody, and have an ETag.
        kept = "private, no-cache" if path.startswith("/docs") and response.status_code == 200 else "no-store"
        assert response.headers["cache-control"] == kept, path
        assert not re.search(r"<script|<style|\sstyle=|\son[a-z]+=", without_own_scripts(response.text)), path


def test_what_people_type_is_text_on_every_page(http: TestClient, ada: Person) -> None:
    evil = "<script>alert(1)</script>\"'{csrf}"
    home = f"/organizations/{ada.organization_id}"
    form = csrf(http, home)
    http.post(f"{home}/rename", data={"csrf": form, "name": evil})
    account = http.post(f"{home}/service-accounts", data={"csrf": form, "name": evil}).headers["location"]
    http.post(f"{account}/tokens", data={"csrf": form, "name": evil})

    for path in (home, f"{home}/members", f"{home}/service-accounts", account, f"{home}/changes", "/"):
        assert "<script" not in without_own_scripts(http.get(path).text), path
    assert "&lt;script&gt;" in http.get(account).text
    assert "<script" not in without_own_scripts(sign_in(browser(), evil).text)


def test_what_comes_by_the_api_is_text_on_every_page(
    http: TestClient, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADGATE_FLEET_ENDPOINT", SITE)
    settings.cache_clear()
    evil = "<script>alert(1)</script>\"'{csrf}"
    session, _ = sessions.begin(ada.user, "cli", clock.now(), ada.organization_id)
    caller = sessions.caller(session, ada.organization_id)
    text = f"# {evil}\nservice: {{pipelines: {{'logs/<script>': }}}}"
    made, _ = configurations.create(caller, evil, text, "otelcol-contrib", evil)
    configurations.append(caller, made.id, text, evil)
    stored = StoredRule(new_id("rul"), False, Rule(evil, evil, "log", "any"))
    rule_store.save(made.id, 1, RuleSet("logs/<script>", evil, "logs", (stored,), 1))
    fleet = deployments.create_fleet(caller, evil, "server-supervisor", "never")
    group = fleet.default_deployment_id or ""
    assignments.change(caller, fleet.id, group, {"name": evil})
    mounts.add(caller, fleet.id, group, VolumeMount(evil, evil))

    home = f"/organizations/{ada.organization_id}"
    version = f"{home}/configurations/{made.id}/versions/1"
    for path in (
        f"{home}/configurations",
        f"{home}/configurations/{made.id}",
        version,
        f"{version}/rules?pipeline=logs%2F%3Cscript%3E&rule={stored.id}",
        f"{home}/fleets",
        f"{home}/fleets/{fleet.id}",
        f"{home}/fleets/{fleet.id}/deployments/{group}",
    ):
        response = http.get(path)
        assert (response.status_code, "<script" in without_own_scripts(response.text)) == (200, False), path
        assert "&lt;script&gt;" in response.text, path


def test_an_organization_of_others_looks_like_none_at_all(http: TestClient) -> None:
    other = identity.create_organization("Other").id
    answers = [http.get(f"/organizations/{one}/members") for one in (other, new_id("org"), "Acme")]

    assert {answer.status_code for answer in answers} == {404}
    assert len({re.sub(r'value="[0-9a-f]{32}"', "", answer.text) for answer in answers}) == 1


# Nothing in the clear.


def test_passwords_codes_sessions_and_tokens_are_in_no_log_and_in_no_table(
    http: TestClient, ada: Person, capfd: pytest.CaptureFixture[str]
) -> None:
    home = f"/organizations/{ada.organization_id}"
    form = csrf(http, home)
    account = http.post(f"{home}/service-accounts", data={"csrf": form, "name": "ci"}).headers["location"]
    page = http.post(f"{account}/tokens", data={"csrf": form, "name": "t"}).text
    token = re.search(r'id="token" data-copy="the token">(sv_[A-Za-z0-9_-]{43})<', page)
    begun = http.post("/api/v1/app/device_authorization").json()
    assert token is not None
    sign_in(browser(), ada.user.email, "a wrong password")
    http.post("/api/v1/app/token", data={"grant_type": "authorization_code", "code": "A" * 26, "code_verifier": "v"})

    said = "".join(capfd.readouterr())
    kept = json.dumps(aws.dynamodb().scan(TableName=settings().identity_table)["Items"], default=str)
    secrets = [token[1], http.cookies[SESSION], begun["device_code"], begun["user_code"], PASSWORD, "a wrong password"]
    for secret in secrets:
        assert secret not in said
        assert secret not in kept
        assert secret.removeprefix("ss_").removeprefix("sv_") not in kept


# Logins of the command line.


def granted(http: TestClient, device_code: str) -> tuple[int, str]:
    grant = {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": device_code}
    response = http.post("/api/v1/app/token", data=grant)
    return response.status_code, response.json().get("error", "")


def test_an_approved_login_gives_one_session_however_many_ask_at_once(http: TestClient, ada: Person) -> None:
    begun = http.post("/api/v1/app/device_authorization").json()
    assert granted(http, begun["device_code"]) == (400, "authorization_pending")
    form = csrf(http, f"/device?user_code={begun['user_code']}")
    answer = {"csrf": form, "user_code": begun["user_code"], "answer": "approve"}
    assert http.post("/device", data=answer | {"organization_id": ada.organization_id}).status_code == 200

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: granted(http, begun["device_code"]), range(8)))
    assert sorted(answers) == [(200, ""), *[(400, "expired_token")] * 7]


def test_a_login_that_collides_with_another_of_the_same_person_is_granted_all_the_same(
    ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, _ = sessions.begin(ada.user, "browser", clock.now())
    code = logins.begin_code(
        sessions.caller(session, ada.organization_id), logins.challenge_of("verifier"), clock.now()
    ).replace("-", "")[:26]
    # Moto carries out one transaction after another; where two touch the same person at once, DynamoDB refuses one.
    refusals = [{"Code": "TransactionConflict"}, *[{"Code": "None"}] * 3]
    collision = ClientError(
        {"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": refusals}, "TransactWriteItems"
    )
    collided: list[bool] = []
    original = aws.dynamodb().transact_write_items

    def transact(**request: Any) -> Any:
        if not collided:
            collided.append(True)
            raise collision
        return original(**request)

    monkeypatch.setattr(aws.dynamodb(), "transact_write_items", transact)

    granted = logins.redeem_code(code, "verifier", clock.now())
    assert (collided, granted.session.user.id) == ([True], ada.user.id)


def test_a_login_cannot_be_approved_for_an_organization_of_others(http: TestClient) -> None:
    begun = http.post("/api/v1/app/device_authorization").json()
    form = csrf(http, f"/device?user_code={begun['user_code']}")
    answer = {"csrf": form, "user_code": begun["user_code"], "answer": "approve", "organization_id": new_id("org")}

    assert http.post("/device", data=answer).status_code == 404
    assert granted(http, begun["device_code"]) == (400, "authorization_pending")


def test_a_login_expires_after_five_minutes(http: TestClient, ada: Person) -> None:
    at = clock.now()
    begun = logins.begin_device("192.0.2.1", at)
    with pytest.raises(logins.Expired):
        logins.redeem_device(begun.device_code, at + logins.LIFETIME)


def test_a_stolen_code_is_worth_nothing_without_its_verifier_and_is_used_up(ada: Person) -> None:
    session, _ = sessions.begin(ada.user, "browser", clock.now())
    caller = sessions.caller(session, ada.organization_id)
    code = logins.begin_code(caller, logins.challenge_of("verifier"), clock.now()).replace("-", "")[:26]

    for verifier in ("another", "verifier"):
        with pytest.raises(logins.InvalidGrant):
            logins.redeem_code(code, verifier, clock.now())


def test_a_pasted_code_works_once(ada: Person) -> None:
    session, _ = sessions.begin(ada.user, "browser", clock.now())
    caller = sessions.caller(session, ada.organization_id)
    code = logins.begin_code(caller, logins.challenge_of("verifier"), clock.now()).replace("-", "")[:26]

    assert logins.redeem_code(code, "verifier", clock.now()).organization_id == ada.organization_id
    with pytest.raises(logins.InvalidGrant):
        logins.redeem_code(code, "verifier", clock.now())


# Malformed input.


@pytest.mark.usefixtures("aws_here")
@pytest.mark.parametrize(
    ("path", "form", "expected"),
    [
        ("/forgot-password", {"email": ""}, 303),
        ("/forgot-password", {"email": " "}, 303),
        ("/reset-password", {"email": "", "code": "1", "password": PASSWORD}, 422),
        ("/reset-password", {"email": "a@example.com", "code": " ", "password": PASSWORD}, 422),
        ("/sign-in", {"email": "", "password": ""}, 403),
    ],
)
def test_a_stranger_sets_off_no_alarm_with_an_empty_field(path: str, form: dict[str, str], expected: int) -> None:
    # Alarms count what is answered 5xx, and undo deployments.
    http = browser()

    assert http.post(path, data={"csrf": csrf(http), **form}).status_code == expected


@pytest.mark.parametrize("after", ["abc", "1", "-5", "\u0661", "~", "v#00000001", "member#usr_", "x" * 1_000, "\0"])
def test_a_page_of_a_list_begins_where_a_page_said_only(after: str, ada: Person, http: TestClient) -> None:
    # Elsewhere the table refuses the place, which would count as a fault of ours.
    caller = sessions.caller(sessions.begin(ada.user, "browser", clock.now())[0], ada.organization_id)
    created, _ = configurations.create(caller, "a", "a: b", DISTRIBUTION, None)
    home = f"/organizations/{ada.organization_id}"
    versions = f"configurations/{created.id}/versions"
    lists = ["members", "changes", "service-accounts", "configurations", versions, "fleets"]

    answers = {http.get(f"{home}/{name}", params={"after": after}).status_code for name in lists}

    assert answers == {422}


def test_a_malformed_service_account_id_is_not_looked_up(
    ada: Person, http: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A key of more than a kilobyte is a fault to the table, and would be counted as one of ours.
    def looks(*_: object) -> None:
        raise AssertionError("the table was asked")

    monkeypatch.setattr(service_account_store, "get", looks)
    home = f"/organizations/{ada.organization_id}/service-accounts"
    token = csrf(http, f"/organizations/{ada.organization_id}/members")

    for account in ("x" * 2_000, new_id("tok"), f"{new_id('sva')}%0A"):
        assert http.get(f"{home}/{account}").status_code == 404
        assert http.post(f"{home}/{account}/delete", data={"csrf": token}).status_code == 404
        assert http.post(f"{home}/{account}/tokens", data={"csrf": token, "name": "a"}).status_code == 404
    path = f"{home}/{new_id('sva')}/tokens/{'x' * 2_000}/delete"
    assert http.post(path, data={"csrf": token}).status_code == 404
