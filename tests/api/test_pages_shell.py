"""What all pages have around them: the sidebar, how they look, and the files that no build makes."""

import re

import pytest

from tests.support.in_process import TestClient
from tests.support.page_visitor import SITE, Person, ada, browser, csrf, http, send_form, sign_in
from web.assets import STATIC

__all__ = ["ada", "http"]

HERE = "/organizations/{}"


def places(page: str) -> list[str]:
    return re.findall(r'<li><a href="[^"]*"[^>]*title="([^"]*)"', page)


def test_the_sidebar_has_the_pages_in_three_groups(http: TestClient, ada: Person) -> None:
    page = http.get(f"/organizations/{ada.organization_id}/members").text

    assert re.findall(r'<h2 id="nav-[a-z]+">([A-Za-z]+)</h2>', page) == ["Build", "Run", "Administer"]
    assert places(page) == [
        *("Configurations", "Test runs", "Flows", "Components", "Policies"),
        *("Fleets", "Changes"),
        *("Members", "Service accounts", "Webhooks", "Settings"),
    ]
    assert re.findall(r'aria-current="page" title="([^"]*)"', page) == ["Members"]


@pytest.mark.parametrize("path", ["nowhere", "fleets/flt_01kyqzq3dbepyjf8jkf2gqv6rg", "configurations/x"])
def test_an_error_in_an_organization_keeps_the_sidebar(http: TestClient, ada: Person, path: str) -> None:
    answer = http.get(f"/organizations/{ada.organization_id}/{path}")

    assert answer.status_code == 404
    assert "Service accounts" in places(answer.text)


def test_a_stranger_has_no_sidebar_and_learns_of_no_organization(ada: Person) -> None:
    answer = browser().get(f"/organizations/{ada.organization_id}/nowhere")

    assert answer.status_code == 404
    assert 'class="side"' not in answer.text


def test_a_form_outlives_its_session_and_is_sent_again_as_it_was_typed(http: TestClient, ada: Person) -> None:
    path = f"/organizations/{ada.organization_id}/service-accounts"
    typed = {"csrf": csrf(http, path), "name": "Typed for an hour"}
    of_browser = {"origin": SITE, "referer": SITE + path}
    http.post("/sign-out", data={"csrf": typed["csrf"]})

    ended = http.post(path, data=typed, headers=of_browser)
    assert (ended.status_code, ended.headers["location"]) == (303, f"/sign-in?next={path}&notice=ended")
    assert "Your session has ended, and the form was not saved" in http.get(ended.headers["location"]).text
    for referer in ("http://[", "//elsewhere.example//evil", "\\"):
        astray = http.post(path, data=typed, headers=of_browser | {"referer": referer})
        assert (astray.status_code, astray.headers["location"]) == (303, "/sign-in?next=/&notice=ended")
    assert sign_in(http, ada.user.email, next=path).headers["location"] == path

    again = http.post(path, data=typed, headers=of_browser)
    assert again.status_code == 403
    assert "You signed in again after this form was opened: send it again" in again.text
    assert 'value="Typed for an hour"' in again.text
    fresh = re.findall(r'action="[^"]*/service-accounts".*?name="csrf" value="([0-9a-f]{32})"', again.text)[0]
    assert http.post(path, data={**typed, "csrf": fresh}, headers=of_browser).status_code == 303


def test_a_form_without_its_page_is_not_shown_with_what_it_brings(http: TestClient, ada: Person) -> None:
    path = f"/organizations/{ada.organization_id}/service-accounts"
    answer = http.post(path, data={"csrf": "0" * 32, "name": "Typed elsewhere"})

    assert answer.status_code == 403
    assert "Typed elsewhere" not in answer.text


def test_how_pages_look_is_kept_in_this_browser(http: TestClient, ada: Person) -> None:
    home = f"/organizations/{ada.organization_id}"
    before = http.get(home).text
    saved = send_form(http, "/account", "/look", theme="dark", density="comfortable", zone="utc")

    assert '<html lang="en" data-theme="system" data-density="compact" data-zone="local">' in before
    assert (saved.status_code, saved.headers["location"]) == (303, "/account?notice=saved")
    assert '<html lang="en" data-theme="dark" data-density="comfortable" data-zone="utc">' in http.get(home).text


@pytest.mark.parametrize("value", ["", "dark", "x.y.z", '"><script>', "dark." * 1_000])
def test_an_unknown_look_is_the_default_one(value: str) -> None:
    page = browser().get("/sign-in", headers={"cookie": f"__Host-headgate-look={value}"}).text

    assert re.search(r'<html lang="en" data-theme="(system|dark)" data-density="compact" data-zone="local">', page)


def test_what_a_page_links_to_is_served_for_a_year() -> None:
    page = browser().get("/sign-in").text
    linked = re.findall(r'<link rel="(?:icon|preload)" href="([^"]*)"', page)
    answers = {path: browser().get(path) for path in linked}

    assert {path: answer.headers["content-type"] for path, answer in answers.items()} == {
        "/assets/favicon.svg": "image/svg+xml",
        "/assets/inter-5.3.0.woff2": "font/woff2",
    }
    assert all("immutable" in answer.headers["cache-control"] for answer in answers.values())
    assert linked[1] in browser().get("/style.css").text
    assert len(answers[linked[1]].content) <= 50_000


def test_the_typeface_and_the_icons_have_their_licences_beside_them() -> None:
    assert "SIL Open Font License" in (STATIC / "inter-OFL.txt").read_text()
    assert "ISC License" in (STATIC / "lucide-ISC.txt").read_text()
    assert browser().get("/assets/inter-OFL.txt").status_code == 404
