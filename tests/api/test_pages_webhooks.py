"""The pages of webhooks."""

import re
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response

from headgate.foundation import clock
from headgate.foundation.caller import Role
from headgate.identity import sessions
from tests.support import https_receiver
from tests.support.https_receiver import Receiver
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

    assert re.search(r'id="secret">whsec_', made.text)
    assert "Events: test.failed. Fleets: all." in own
    assert "On &lt;call&gt;" in listed
    for page in (listed, own):
        assert "whsec_" not in page
        assert "planted" not in page


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"url": "http://hooks.example.com/"}, "This must begin with https://"),
        ({"url": "https://10.0.0.1/"}, "by its domain name"),
        ({"url": URL, "format": "pagerduty"}, "PagerDuty needs the integration key"),
        ({"url": URL, "format": "carrier pigeon"}, "Format: "),
        ({"url": URL, "name": " "}, "Name: "),
        ({"url": URL, "fleet__x": "yes"}, "Fleets: "),
    ],
)
def test_what_a_webhook_cannot_be_is_told_on_the_form(admin: Browser, form: dict[str, str], problem: str) -> None:
    answer = admin.post(**{"name": "n", "format": "cloudevents", **form})

    assert answer.status_code == 422
    assert problem in answer.text
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
