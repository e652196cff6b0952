"""The API for the console's pages: by the session cookie, from this site, with the page's token, for reading too."""

import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from httpx2 import Response

from headgate.foundation import clock
from headgate.foundation.settings import settings
from headgate.http import browser as console
from headgate.http import credentials
from headgate.identity import checks, sessions
from headgate.identity import service as identity
from tests.support.aws import read_template
from tests.support.in_process import TestClient
from tests.support.page_visitor import Person, ada, browser, csrf, sign_in
from web import assets

__all__ = ["ada"]

API = "/api/v1/app/public"
PUBLIC = "/api/v1/public"
SITE = "https://testserver"
YAML = {"name": "Edge", "yaml": "a: b"}


class Page:
    """A page that a person has open."""

    def __init__(self, person: Person, http: TestClient | None = None) -> None:
        self.http = http or browser()
        if http is None:
            sign_in(self.http, person.user.email)
        self.organization_id = person.organization_id
        self.headers = {
            console.CSRF_HEADER: csrf(self.http, f"/organizations/{person.organization_id}"),
            credentials.ORGANIZATION_HEADER: person.organization_id,
        }

    def ask(self, method: str, path: str, headers: Mapping[str, str] | None = None, body: object = None) -> Response:
        return self.http.request(method, f"{API}{path}", headers={**self.headers, **(headers or {})}, json=body)


@pytest.fixture
def page(ada: Person) -> Page:
    return Page(ada)


def code(response: Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_a_page_reads_and_writes_as_its_person(page: Page, ada: Person) -> None:
    made = page.ask("POST", "/configurations", {"Idempotency-Key": "one"}, YAML)
    again = page.ask("POST", "/configurations", {"Idempotency-Key": "one"}, YAML)

    assert made.status_code == 201, made.text
    assert made.json()["owner"]["name"] == ada.user.email
    assert again.json()["id"] == made.json()["id"]
    assert [one["id"] for one in page.ask("GET", "/configurations").json()["items"]] == [made.json()["id"]]
    assert page.ask("GET", f"/configurations/{made.json()['id']}/versions/1").headers["etag"]


def test_the_next_page_of_a_list_is_had_by_its_cursor(page: Page) -> None:
    for name in ("A", "B"):
        page.ask("POST", "/configurations", body={**YAML, "name": name})
    first = page.ask("GET", "/configurations?limit=1").json()

    assert [one["name"] for one in first["items"]] == ["B"]
    second = page.ask("GET", f"/configurations?limit=1&cursor={first['next_cursor']}").json()
    assert [one["name"] for one in second["items"]] == ["A"]


@pytest.mark.parametrize(
    "headers",
    [
        {console.CSRF_HEADER: ""},
        {console.CSRF_HEADER: "0" * 32},
        {console.CSRF_HEADER: "é" * 16},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        # An address that somebody was led to type or open.
        {"Sec-Fetch-Site": "none"},
    ],
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/configurations"), ("POST", "/configurations")])
def test_what_another_site_could_send_is_refused(page: Page, method: str, path: str, headers: dict[str, str]) -> None:
    sent = {name: value.encode() for name, value in {**page.headers, **headers}.items()}
    refused = page.http.request(method, f"{API}{path}", headers=sent, json=YAML if method == "POST" else None)

    assert code(refused) == (403, "foreign_request")
    assert page.ask("GET", "/configurations").json()["items"] == []


def test_what_this_site_sends_is_accepted(page: Page) -> None:
    assert page.ask("GET", "/configurations", {"Origin": SITE, "Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_the_token_of_another_session_is_refused(page: Page, ada: Person) -> None:
    other = Page(ada)

    assert code(page.ask("GET", "/configurations", {console.CSRF_HEADER: other.headers[console.CSRF_HEADER]})) == (
        403,
        "foreign_request",
    )


def test_another_organization_is_refused(page: Page) -> None:
    other = identity.create_organization("Other").id

    assert page.ask("GET", "/configurations", {credentials.ORGANIZATION_HEADER: other}).status_code == 403
    assert page.ask("GET", "/configurations", {credentials.ORGANIZATION_HEADER: ""}).status_code == 400


def test_a_token_or_a_session_of_the_command_line_is_not_a_session_cookie(page: Page, ada: Person) -> None:
    account = identity.create_service_account(ada.organization_id, "ci").id
    token = identity.create_token(ada.organization_id, account, name="t", access="read_write")[1]
    _, of_cli = sessions.begin(ada.user, "cli", clock.now(), ada.organization_id)

    for value in (token, of_cli):
        bearer = browser().get(f"{API}/configurations", headers={**page.headers, "Authorization": f"Bearer {value}"})
        cookie = browser().get(
            f"{API}/configurations", headers={**page.headers, "Cookie": f"{console.SESSION_COOKIE}={value}"}
        )
        assert (bearer.status_code, cookie.status_code) == (401, 401)


def test_the_public_api_ignores_cookies(page: Page) -> None:
    assert page.http.get(f"{PUBLIC}/configurations", headers=page.headers).status_code == 401


def test_a_session_that_has_ended_is_401(page: Page, ada: Person) -> None:
    sessions.end_all(ada.user)

    assert page.ask("GET", "/configurations").status_code == 401


def test_no_answer_may_be_read_by_another_site(page: Page) -> None:
    answered = page.http.options(
        f"{API}/configurations",
        headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "GET"},
    )

    assert answered.status_code == 405
    assert not [name for name in answered.headers if name.startswith("access-control")]


def test_what_needs_no_credential_elsewhere_needs_the_session_here(page: Page) -> None:
    assert browser().get(f"{API}/components/schema.json").status_code == 401


def test_a_person_has_a_limit_of_their_own_over_all_sessions(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = Page(ada), Page(ada)
    monkeypatch.setenv("HEADGATE_PERSON_RATE_LIMIT_PER_MINUTE", "3")
    settings.cache_clear()
    at = clock.now().replace(second=40, microsecond=0)
    monkeypatch.setattr(credentials.clock, "now", lambda: at)
    answers = [page.ask("GET", "/configurations") for page in (one, other, one, other)]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert [answer.headers["ratelimit-limit"] for answer in answers] == ["3"] * 4
    assert answers[3].headers["retry-after"] == "20"
    # Reading pages, and tokens, do not depend on it.
    assert one.http.get(f"/organizations/{ada.organization_id}").status_code == 200


def test_the_checks_of_a_persons_sessions_are_counted_together(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_CHECKS_UNDER_WAY", "1")
    settings.cache_clear()
    page, other = Page(ada), sessions.begin(ada.user, "browser", clock.now())[0]
    with checks.under_way(sessions.caller(other, ada.organization_id)):
        assert code(page.ask("POST", "/validate", body={"yaml": "a: b"})) == (429, "too_many_checks_under_way")


def test_what_the_console_calls_is_recorded_as_its_person(page: Page, ada: Person) -> None:
    page.ask("POST", "/configurations", body=YAML)
    changes = page.http.get(f"/organizations/{ada.organization_id}/changes").text

    assert "configuration.created" in changes
    assert ada.user.email in changes


def test_every_public_route_leads_to_the_same_function_for_the_console() -> None:
    """Except those of the identity group: pages know who is signed in, and nobody needs the API's document there."""
    functions = {(route.method, route.path): route.function.logical_id for route in read_template().routes()}
    public = {at: name for at, name in functions.items() if at[1].startswith(PUBLIC) and name != "IdentityFunction"}
    # It has a route of its own for the sake of its throttling.
    del public["*", f"{PUBLIC}/components/schema.json"]

    assert len(public) > 15
    assert {(method, path.replace(PUBLIC, API, 1)): name for (method, path), name in public.items()} == {
        at: name for at, name in functions.items() if at[1].startswith(API)
    }


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of the only script that is built."""
    (tmp_path / "shell-ABCDEFGH.js").write_bytes(b"export {};")
    (tmp_path / "shell-ABCDEFGH.js.gz").write_bytes(gzip.compress(b"export {};"))
    (tmp_path / "manifest.json").write_text('{"shell": "shell-ABCDEFGH.js"}')
    monkeypatch.setattr(assets, "FOLDER", tmp_path)
    assets.forget()
    yield "/assets/shell-ABCDEFGH.js"
    assets.forget()


def test_a_script_is_kept_for_good_under_a_name_of_its_own(built: str) -> None:
    assert f'<script type="module" src="{built}"></script>' in browser().get("/sign-in").text
    plain = browser().get(built, headers={"Accept-Encoding": "identity"})
    compressed = browser().get(built, headers={"Accept-Encoding": "gzip"})

    for answer in (plain, compressed):
        assert answer.content == b"export {};"
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["content-type"].startswith("text/javascript")
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert "content-encoding" not in plain.headers
    assert compressed.headers["content-encoding"] == "gzip"


@pytest.mark.parametrize(
    "name", ["manifest.json", "..%2Fassets.py", "shell.js", "shell-AAAAAAAA.js", "shell-ABCDEFGH.js.gz", "a%00b"]
)
def test_nothing_but_a_built_script_is_served(built: str, name: str) -> None:
    assert browser().get(f"/assets/{name}").status_code == 404
