"""The pages of webhooks."""

import re
from collections.abc import Iterator

import pytest
from httpx2 import Response

from headgate.foundation import clock
from headgate.foundation.caller import Role
from headgate.identity import sessions
from tests.support import https_receiver
from tests.support.https_receiver import Receiver
from tests.support.in_process import TestClient
from tests.support.page_visitor import SESSION, SITE
from tests.support.webhooks import delivered
from tests.support.world import joined
from webhooks.app import app

URL = "https://hooks.example.com/services/planted"


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Receiver]:
    with https_receiver.receiving(tmp_path_factory.mktemp("receiver")) as receiver:
        yield receiver


class Browser:
    """A member's, signed in."""

    def __init__(self, organization_id: str, role: Role) -> None:
        _, value = sessions.begin(joined(organization_id, role), "browser", clock.now())
        self.path = f"/organizations/{organization_id}/webhooks"
        self.http = TestClient(app, base_url=SITE, follow_redirects=False, raise_server_exceptions=False)
        self.http.cookies.set(SESSION, value)

    def page(self, below: str = "") -> Response:
        return self.http.get(self.path + below)

    def post(self, below: str = "", **form: str) -> Response:
        csrf = re.search(r'name="csrf" value="([^"]+)"', self.page().text)
        assert csrf is not None
        fields = {name.replace("__", "."): value for name, value in form.items()}
        return self.http.post(self.path + below, data={"csrf": csrf[1], **fields})

    def add(self, url: str = URL, **form: str) -> str:
        """Add a webhook; the path of its page below that of the list."""
        answer = self.post(name="On <call>", url=url, **{"format": "cloudevents", **form})
        assert answer.status_code == 200, answer.text
        return "/" + re.findall(r"whk_[0-9a-z]{26}", self.page().text)[-1]


@pytest.fixture
def admin(organization_id: str) -> Browser:
    return Browser(organization_id, "admin")


def test_a_webhook_is_added_and_its_secret_is_shown_once(admin: Browser) -> None:
    made = admin.post(name="On <call>", url=URL, format="slack", **{"type__test.failed": "yes"})
    listed = admin.page().text
    own = admin.page("/" + re.findall(r"whk_[0-9a-z]{26}", listed)[0]).text

    assert re.search(r'id="secret"\n data-copy="the secret">whsec_', made.text)
    assert "Events: test.failed. Fleets: all." in own
    assert "On &lt;call&gt;" in listed
    for page in (listed, own):
        assert "whsec_" not in page
        assert "planted" not in page


@pytest.mark.parametrize(
    ("form", "status", "problem"),
    [
        ({"url": "http://hooks.example.com/planted"}, 422, "This must begin with https://"),
        ({"url": "https://10.0.0.1/planted"}, 422, "by its domain name"),
        ({"url": URL, "format": "pagerduty"}, 422, "PagerDuty needs the integration key"),
        ({"url": URL, "format": "carrier pigeon"}, 422, "Format: "),
        ({"url": URL, "name": " "}, 422, "Name: "),
        ({"url": URL, "fleet__x": "yes"}, 422, "Fleets: "),
        ({"url": URL, "fleet__flt_01m7xx1hyrfzpvacqe78v66545": "yes"}, 404, "Fleets: No such fleet"),
    ],
)
def test_what_a_webhook_cannot_be_is_told_on_the_form(
    admin: Browser, form: dict[str, str], status: int, problem: str
) -> None:
    answer = admin.post(**{"name": "n", "format": "cloudevents", **form})

    assert answer.status_code == status
    assert problem in answer.text
    assert "Add a webhook" in answer.text
    assert "planted" not in answer.text
    assert "None yet: add one below" in admin.page().text


def test_the_buttons_do_what_they_say(admin: Browser, receiver: Receiver) -> None:
    own = admin.add(receiver.url)
    assert admin.post(f"{own}/test").status_code == 303
    delivered()
    tested = admin.page(own).text
    (sent,) = set(re.findall(r"dlv_[0-9a-z]{26}", tested))

    assert "HTTP 204" in tested
    assert admin.post(f"{own}/deliveries/{sent}/resend").status_code == 303
    assert "whsec_" in admin.post(f"{own}/secret").text
    assert "The previous secret signs as well" in admin.page(own).text
    assert admin.post(f"{own}/switch", enabled="no").status_code == 303
    assert "Switch on" in admin.page(own).text
    assert admin.post(f"{own}/delete").status_code == 303
    assert admin.page(own).status_code == 404


def test_a_contributor_gets_no_page_and_no_tab(organization_id: str, admin: Browser) -> None:
    own = admin.add()
    member = Browser(organization_id, "contributor")

    for below in ("", own):
        answer = member.page(below)
        assert (answer.status_code, "/webhooks" in answer.text) == (403, False)


def test_a_webhook_is_changed_and_keeps_what_is_left_empty(admin: Browser, receiver: Receiver) -> None:
    own = admin.add(receiver.url, **{"type__test.failed": "yes"})
    shown = admin.page(own).text
    answer = admin.post(f"{own}/change", name="Night <shift>", **{"type__rollout.halted": "yes"})
    changed = admin.page(own).text
    admin.post(f"{own}/test")
    delivered()

    assert answer.status_code == 303
    assert 'name="type.test.failed" value="yes" checked' in shown
    assert "Night &lt;shift&gt;" in changed
    assert "Events: rollout.halted. Fleets: all." in changed
    assert "HTTP 204" in admin.page(own).text
    assert (receiver.url in shown + changed, "whsec_" in shown + changed) == (False, False)


def test_a_new_address_replaces_the_old_one_and_is_not_shown(admin: Browser) -> None:
    own = admin.add()
    answer = admin.post(f"{own}/change", name="n", url="https://other.example.com/planted")
    page = admin.page(own).text

    assert answer.status_code == 303
    assert "https://other.example.com" in page
    assert "planted" not in page


@pytest.mark.parametrize(
    ("form", "status", "problem"),
    [
        ({"url": "http://hooks.example.com/planted"}, 422, "Address: This must begin with https://"),
        ({"url": URL, "routing_key": "planted-key"}, 422, "Integration key: Only the format pagerduty takes"),
        ({"name": " "}, 422, "Name: This must not be empty"),
        ({"fleet__x": "yes"}, 422, "Fleets: This must be the id of a fleet"),
        ({"fleet__flt_01m7xx1hyrfzpvacqe78v66545": "yes"}, 404, "Fleets: No such fleet"),
    ],
)
def test_a_refused_change_names_its_field_and_changes_nothing(
    admin: Browser, form: dict[str, str], status: int, problem: str
) -> None:
    own = admin.add()
    answer = admin.post(f"{own}/change", **{"name": "Changed", **form})

    assert answer.status_code == status
    assert problem in answer.text
    assert "planted" not in answer.text
    assert "<h1>On &lt;call&gt;</h1>" in admin.page(own).text


def test_a_change_needs_an_admin_and_the_forms_token(organization_id: str, admin: Browser) -> None:
    own = admin.add()
    csrf = re.search(r'name="csrf" value="([^"]+)"', admin.page().text)
    assert csrf is not None
    forged = admin.http.post(f"{admin.path}{own}/change", data={"csrf": "0" * 32, "name": "Changed"})
    member = Browser(organization_id, "contributor")
    page = member.http.get("/organizations/" + organization_id + "/webhooks").text
    token = re.search(r'name="csrf" value="([^"]+)"', page)
    assert token is not None
    refused = member.http.post(f"{member.path}{own}/change", data={"csrf": token[1], "name": "Changed"})

    assert (forged.status_code, refused.status_code) == (403, 403)
    assert "This needs the Admin role" in refused.text
    assert "Changed" not in admin.page(own).text
