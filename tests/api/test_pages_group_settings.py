"""The forms of fleets and groups: create, rename, labels, variables, tokens, and what hosts take out of samples."""

import html
import re

import pytest

from fleets.app import app
from tests.support import configurations as cfg
from tests.support.fleet_of_agents import Fleet, ann, changes_of, fleet, version
from tests.support.fleets import create
from tests.support.in_process import TestClient
from tests.support.members import API
from tests.support.page_visitor import member_at, send_form

__all__ = ["ann", "fleet"]

SCRIPT = "<script>alert(1)</script>"
SECRET = "s3cret-of-the-group"


@pytest.fixture
def browser(fleet: Fleet) -> TestClient:
    return member_at(app, fleet.member.organization_id)


@pytest.fixture
def admin(fleet: Fleet) -> TestClient:
    return member_at(app, fleet.member.organization_id, role="admin")


@pytest.fixture
def here(fleet: Fleet) -> str:
    return f"/organizations/{fleet.member.organization_id}/fleets"


def group_of(fleet: Fleet, name: str) -> dict[str, object]:
    path = f"{API}/fleets/{fleet.id}/deployments"
    (found,) = fleet.member.http.get(path, params={"name": name}).json()["items"]
    return dict(found)


def settings_of(here: str, fleet: Fleet, deployment_id: str) -> str:
    return f"{here}/{fleet.id}/deployments/{deployment_id}/settings"


def test_a_fleet_is_created_by_a_form(fleet: Fleet, browser: TestClient, here: str) -> None:
    made = send_form(browser, here, "", label=f" New {SCRIPT} ", type="server-supervisor", expires_in="1y")
    again = send_form(browser, here, "", label=f"New {SCRIPT}", type="kubernetes-supervisor", expires_in="2y")

    assert made.status_code == 303
    assert "token expires at" in browser.get(made.headers["location"]).text
    assert again.status_code == 409
    assert "already exists" in again.text
    assert f'value="{html.escape(f"New {SCRIPT}")}"' in again.text
    assert '<option value="kubernetes-supervisor" selected>' in again.text
    assert SCRIPT not in again.text
    assert "fleet.created" in changes_of(fleet)


def test_a_group_is_created_with_a_configuration_by_its_name(fleet: Fleet, browser: TestClient, here: str) -> None:
    fleet.publish_up_to(2)
    named = fleet.member.http.get(f"{API}/configurations/{fleet.configuration_id}").json()["name"]
    typed = {"name": f"Web {SCRIPT}", "configuration_id": named, "message": "because"}
    made = send_form(browser, f"{here}/{fleet.id}/new-group", "", **typed)
    again = send_form(browser, f"{here}/{fleet.id}/new-group", "", **{**typed, "version_number": "1"})

    assert made.status_code == 303
    assert group_of(fleet, f"Web {SCRIPT}")["version_number"] == 2
    shown = browser.get(made.headers["location"]).text
    assert "because" in shown
    assert SCRIPT not in shown
    assert again.status_code == 409
    assert 'id="name-error"' in again.text
    assert 'value="because"' in again.text
    assert SCRIPT not in again.text
    assert "deployment.created" in changes_of(fleet)


@pytest.mark.parametrize(
    ("wrong", "field", "told"),
    [
        ({"name": " "}, "name", "This field is required"),
        ({"configuration_id": "of nobody"}, "configuration_id", "No configuration among those that you see"),
        ({"configuration_id": "cfg_00000000000000000000000000"}, "configuration_id", "no configuration with this id"),
        ({"version_number": "two"}, "version_number", "This must be a whole number"),
        ({"version_number": "7"}, "version_number", "No such version"),
        ({"message": "x" * 1_001}, "message", "at most 1,000 characters"),
    ],
)
def test_a_group_that_is_refused_keeps_what_was_typed(
    fleet: Fleet, browser: TestClient, here: str, wrong: dict[str, str], field: str, told: str
) -> None:
    typed = {"name": "kept name", "configuration_id": fleet.configuration_id, "message": "kept reason", **wrong}
    refused = send_form(browser, f"{here}/{fleet.id}/new-group", "", **typed)

    assert refused.status_code in (404, 422)
    assert re.search(rf'id="{field}-error">[^<]*{told}', refused.text)
    for name, value in typed.items():
        assert re.search(rf'name="{name}"[^>]* value="{re.escape(html.escape(value))}"', refused.text)


def test_two_configurations_of_one_name_are_told_apart_by_their_ids(
    fleet: Fleet, browser: TestClient, here: str
) -> None:
    for _ in range(2):
        cfg.publish(fleet.member, cfg.create(fleet.member, "Twin", version(1)))
    refused = send_form(browser, f"{here}/{fleet.id}/new-group", "", name="g", configuration_id="Twin")

    assert "More than one configuration has this name: give an id, such as cfg_" in refused.text


def test_a_group_is_renamed_and_a_name_that_is_taken_stays_typed(fleet: Fleet, browser: TestClient, here: str) -> None:
    web, _ = fleet.add_group("web", 1), fleet.add_group("taken", 1)
    path = settings_of(here, fleet, web)
    taken = send_form(browser, path, "", name="taken")
    empty = send_form(browser, path, "", name=" ")
    renamed = send_form(browser, path, "", name=f"Renamed {SCRIPT}")

    assert (taken.status_code, empty.status_code, renamed.status_code) == (409, 422, 303)
    assert re.search(r'id="name-error">[^<]*already exists', taken.text)
    assert 'value="taken"' in taken.text
    assert "This must not be empty" in empty.text
    assert group_of(fleet, f"Renamed {SCRIPT}")["id"] == web
    assert SCRIPT not in browser.get(path).text
    assert "deployment.changed" in changes_of(fleet)


def test_a_kubernetes_group_has_a_role_replicas_and_a_namespace(fleet: Fleet, browser: TestClient, here: str) -> None:
    made = create(fleet.member, label="Cluster", type="kubernetes-supervisor").json()["id"]
    page = f"{here}/{made}/new-group"
    typed = {"name": "gate", "configuration_id": fleet.configuration_id, "role": "gateway", "replicas": "3"}
    refused = send_form(browser, page, "", **typed, namespace="Not One")
    group = send_form(browser, page, "", **typed, namespace="logs").headers["location"]
    cleared = send_form(browser, f"{group}/settings", "", name="gate", replicas="", namespace="")

    assert re.search(r'id="namespace-error">[^<]*lower-case letters', refused.text)
    assert 'value="3"' in refused.text
    assert '<option value="gateway" selected>' in refused.text
    assert cleared.status_code == 303
    shown = fleet.member.http.get(f"{API}/fleets/{made}/deployments").json()["items"][0]
    assert (shown["role"], shown["replicas"], shown["namespace"]) == ("gateway", None, None)


def test_an_assignment_is_ended_by_a_form(fleet: Fleet, browser: TestClient, here: str) -> None:
    path = settings_of(here, fleet, fleet.add_group("web", 1))
    ended = send_form(browser, path, "/clear")

    assert ended.status_code == 303
    assert group_of(fleet, "web")["configuration_id"] is None
    assert "End the assignment" not in browser.get(path).text


def test_labels_select_the_hosts_of_a_group(fleet: Fleet, browser: TestClient, here: str) -> None:
    web, other = fleet.add_group("web", 1), fleet.add_group("other", 1)
    path = settings_of(here, fleet, web)
    saved = send_form(browser, path, "/labels", labels="role = web, zone=<a>")
    same = send_form(browser, settings_of(here, fleet, other), "/labels", labels="zone=<a>,role=web")
    shown = group_of(fleet, "web")["selector"]
    cleared = send_form(browser, path, "/labels", labels="")

    assert (saved.status_code, same.status_code, cleared.status_code) == (303, 409, 303)
    assert shown == {"role": "web", "zone": "<a>"}
    assert "selected by the same labels" in same.text
    assert 'value="zone=&lt;a&gt;,role=web"' in same.text
    assert group_of(fleet, "web")["selector"] == {}
    assert "deployment.selector_changed" in changes_of(fleet)


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ("role", "Write each label as KEY=VALUE"),
        ("role=a, role=b", "The label role is given twice"),
        ("a b=c", "This must match the pattern"),
        (",".join(f"k{n}=v" for n in range(9)), "at most 8 entries"),
    ],
)
def test_labels_that_are_refused_stay_typed(
    fleet: Fleet, browser: TestClient, here: str, labels: str, told: str
) -> None:
    refused = send_form(browser, settings_of(here, fleet, fleet.add_group("web", 1)), "/labels", labels=labels)

    assert refused.status_code == 422
    assert re.search(rf'id="labels-error">[^<]*{told}', refused.text)
    assert f'value="{labels}"' in refused.text


def test_variables_are_set_and_removed_and_no_secret_is_shown(
    fleet: Fleet, browser: TestClient, admin: TestClient, here: str
) -> None:
    path = settings_of(here, fleet, web := fleet.add_group("web", 1))
    assert send_form(browser, path, "/variables", variable="ZONE", value=SCRIPT).status_code == 303
    assert send_form(browser, path, "/variables", variable="KEY", value=SECRET, secret="yes").status_code == 303
    shown = browser.get(path).text
    env = f"{API}/fleets/{fleet.id}/deployments/{web}/env"
    stored = fleet.member.http.get(env).json()["items"]
    renewed = send_form(admin, path, "/token", grace="none")
    removed = send_form(browser, path, "/variables/remove", variable="KEY")

    assert [(one["name"], one["value"]) for one in stored] == [("KEY", None), ("ZONE", SCRIPT)]
    assert html.escape(SCRIPT) in shown
    assert SCRIPT not in shown
    assert SECRET not in shown
    assert "only hosts with it belong to the group" in shown
    assert (renewed.status_code, removed.status_code) == (303, 303)
    assert [one["name"] for one in fleet.member.http.get(env).json()["items"]] == ["ZONE"]
    assert {"deployment.env_changed", "deployment.token_renewed"} <= changes_of(fleet).keys()
    assert SECRET not in str(changes_of(fleet))


@pytest.mark.parametrize(
    ("typed", "field", "told"),
    [
        ({"variable": "1x", "value": "kept"}, "variable", "This must be letters, digits"),
        ({"variable": "", "value": "kept"}, "variable", "This must be letters, digits"),
        ({"variable": "X", "value": "\u2028"}, "value", "cannot contain line breaks"),
        ({"variable": "X", "value": "", "secret": "yes"}, "value", "This must not be empty"),
        ({"variable": "X", "value": f"{SECRET}\u2028", "secret": "yes"}, "value", "cannot contain line breaks"),
    ],
)
def test_a_variable_that_is_refused_stays_typed_and_a_secret_does_not(
    fleet: Fleet, browser: TestClient, here: str, typed: dict[str, str], field: str, told: str
) -> None:
    refused = send_form(browser, settings_of(here, fleet, fleet.add_group("web", 1)), "/variables", **typed)

    assert refused.status_code == 422
    assert re.search(rf'id="{field}-error">[^<]*{told}', refused.text)
    assert f'name="variable" value="{typed["variable"]}"' in refused.text
    assert f'name="value" value="{"" if "secret" in typed else typed["value"]}"' in refused.text
    assert SECRET not in refused.text


def test_variables_and_labels_exclude_each_other(fleet: Fleet, browser: TestClient, here: str) -> None:
    path = settings_of(here, fleet, fleet.add_group("web", 1))
    send_form(browser, path, "/labels", labels="role=web")
    refused = send_form(browser, path, "/variables", variable="X", value="1")

    assert refused.status_code == 409
    assert "Labels select the hosts of this group" in refused.text
    assert "The Default group is for hosts" in browser.get(settings_of(here, fleet, fleet.deployment_id)).text


def test_an_admin_says_what_hosts_take_out_of_samples(
    fleet: Fleet, browser: TestClient, admin: TestClient, here: str
) -> None:
    page = f"{here}/capture-redaction"
    typed = {"kind.card_numbers": "yes", "keys": f"customer.name\r\n{SCRIPT}\r\n"}
    saved = send_form(admin, page, "", **typed)
    seen = fleet.member.http.get(f"{API}/fleets/capture-redaction").json()
    long = send_form(admin, page, "", keys="kept\r\n" + "x" * 201)
    to_a_contributor = browser.get(page).text

    assert saved.status_code == 303
    assert seen == {"kinds": ["card_numbers"], "patterns": [], "keys": ["customer.name", SCRIPT]}
    assert re.search(r'id="keys-error">Line 2: [^<]*at most 200 characters', long.text)
    assert ">\nkept\r\nxxx" in long.text
    assert SCRIPT not in admin.get(page).text
    assert html.escape(SCRIPT) in to_a_contributor
    assert "<textarea" not in to_a_contributor


def test_what_only_admins_change_is_refused_to_others(
    fleet: Fleet, browser: TestClient, admin: TestClient, here: str
) -> None:
    path = settings_of(here, fleet, fleet.add_group("web", 1))
    send_form(browser, path, "/variables", variable="X", value="1")
    redaction = f"{here}/capture-redaction"
    of_form = {"csrf": re.findall(r'name="csrf" value="([0-9a-f]{32})"', browser.get(path).text)[0]}

    assert browser.post(redaction, data={**of_form, "keys": "a"}).status_code == 403
    assert browser.post(f"{path}/token", data={**of_form, "grace": "none"}).status_code == 403
    assert "Renew token" not in browser.get(path).text
    assert "Renew token" in admin.get(path).text


SETTINGS = "/{fleet.id}/deployments/{fleet.deployment_id}/settings"


@pytest.mark.parametrize(
    "form",
    [
        "",
        "/capture-redaction",
        "/{fleet.id}/new-group",
        *(f"{SETTINGS}{form}" for form in ("", "/labels", "/variables", "/variables/remove", "/token", "/clear")),
    ],
)
def test_a_form_of_another_site_changes_nothing(fleet: Fleet, admin: TestClient, here: str, form: str) -> None:
    before = changes_of(fleet)
    answer = admin.post(
        here + form.format(fleet=fleet), data={"label": "x", "name": "x", "variable": "X"}, follow_redirects=False
    )

    assert answer.status_code == 403
    assert "This form is no longer valid" in answer.text
    assert changes_of(fleet) == before


def test_an_observed_group_says_why_it_takes_no_variables(fleet: Fleet, browser: TestClient, here: str) -> None:
    fleet_id = create(fleet.member, "Seen", mode="observed").json()["id"]
    (group,) = fleet.member.http.get(f"{API}/fleets/{fleet_id}/deployments").json()["items"]
    page = browser.get(f"{here}/{fleet_id}/deployments/{group['id']}/settings").text

    assert "Headgate sends the collectors of an observed fleet nothing" in page
    assert 'aria-label="Set a variable"' not in page
