"""The link that the local service prints signs in once, soon, and from nowhere else; deployed functions have none."""

import re
from datetime import timedelta

import pytest
from starlette.types import ASGIApp

from headgate.foundation import clock
from headgate_local.sign_in_link import LIFETIME, PATH, SignInLink, WithLink
from tests.support.in_process import TestClient
from tests.support.page_visitor import SESSION, SITE, Person, ada, site

__all__ = ["ada"]


@pytest.fixture
def link(ada: Person) -> SignInLink:
    return SignInLink(ada.user.email, clock.now())


def browser(application: ASGIApp) -> TestClient:
    return TestClient(application, base_url=SITE, follow_redirects=False, raise_server_exceptions=False)


def test_the_link_signs_in_and_leads_to_the_organization(ada: Person, link: SignInLink) -> None:
    http = browser(WithLink(site(), link))

    answer = http.get(link.path, headers={"Sec-Fetch-Site": "none"})

    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert http.get("/").headers["location"] == f"/organizations/{ada.organization_id}"


def test_a_second_use_is_refused_with_the_way_out(link: SignInLink) -> None:
    application = WithLink(site(), link)
    assert browser(application).get(link.path).status_code == 303
    second = browser(application)

    answer = second.get(link.path)

    assert answer.status_code == 410
    assert "was used already" in answer.text
    assert "<code>make dev</code>" in answer.text
    assert 'href="/sign-in"' in answer.text
    assert SESSION not in second.cookies


@pytest.mark.parametrize(
    ("age", "code", "reason"),
    [
        (LIFETIME, "", "has expired"),
        (LIFETIME - timedelta(seconds=5), "x", "not copied as a whole"),
        (timedelta(0), "\u00e9" * 5_000, "not copied as a whole"),
    ],
)
def test_an_expired_or_wrong_link_is_refused(ada: Person, age: timedelta, code: str, reason: str) -> None:
    link = SignInLink(ada.user.email, clock.now() - age)
    http = browser(WithLink(site(), link))

    answer = http.get(PATH, params={"code": code}) if code else http.get(link.path)

    assert answer.status_code == 410
    assert reason in answer.text
    assert SESSION not in http.cookies


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://elsewhere.example"},
        {"Sec-Fetch-Site": "none", "Sec-Purpose": "prefetch;prerender"},
    ],
)
def test_another_site_and_a_browser_that_loads_ahead_do_not_use_it_up(
    link: SignInLink, headers: dict[str, str]
) -> None:
    http = browser(WithLink(site(), link))

    answer = http.get(link.path, headers=headers)

    assert answer.status_code == 403
    assert "paste it into the address bar" in answer.text
    assert http.get(link.path).status_code == 303


def test_only_reading_the_link_uses_it(link: SignInLink) -> None:
    http = browser(WithLink(site(), link))

    assert [http.head(link.path).status_code, http.post(link.path).status_code] == [403, 405]
    assert http.get(link.path).status_code == 303


def test_the_code_is_kept_as_a_hash_only(link: SignInLink) -> None:
    code = link.path.partition("=")[2]

    kept = [value for name, value in vars(link).items() if name != "path"]

    assert len(code) == 43
    assert not any(code in str(value) for value in kept)


def test_deployed_functions_have_no_such_link(link: SignInLink) -> None:
    http = browser(site())

    answer = http.get(link.path)

    assert answer.status_code == 404
    assert re.search("no page at this address", answer.text)
    assert SESSION not in http.cookies
