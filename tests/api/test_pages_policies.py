"""The page of policies. The collector answers what a test wants."""

import re

import pytest
from httpx2 import Response

from configurations.app import app
from headgate.checker import CheckerBusy
from headgate.foundation import clock
from headgate.foundation.caller import Role
from headgate.foundation.principal import Principal
from headgate.identity import sessions
from headgate.policies import store
from headgate.policies.model import StoredPolicies
from headgate_engine.policies.model import PolicyChoices, PolicyRule
from tests.support.in_process import TestClient
from tests.support.page_visitor import SESSION, SITE
from tests.support.scripted_policies import Engine, scripted
from tests.support.world import joined

RULE = PolicyRule("no_debug", "'<debug>' in config.exporters", "Send it <b>somewhere</b>", "error", False, [])


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    return scripted(monkeypatch)


class Browser:
    """A member's, signed in."""

    def __init__(self, organization_id: str, role: Role) -> None:
        _, value = sessions.begin(joined(organization_id, role), "browser", clock.now())
        self.path = f"/organizations/{organization_id}/policies"
        self.http = TestClient(app, base_url=SITE, follow_redirects=False, raise_server_exceptions=False)
        self.http.cookies.set(SESSION, value)

    def page(self) -> Response:
        return self.http.get(self.path)

    def save(self, shown: str, **form: str) -> Response:
        """Post the form of a page that was shown."""
        hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', shown))
        etag = hidden["etag"].replace("&quot;", '"')
        fields = {name.replace("__", "."): value for name, value in form.items()}
        return self.http.post(self.path, data={"csrf": hidden["csrf"], "etag": etag, **fields})


@pytest.fixture
def admin(organization_id: str) -> Browser:
    return Browser(organization_id, "admin")


def test_everyone_reads_why_and_the_way_out_and_admins_get_a_form(admin: Browser, organization_id: str) -> None:
    member = Browser(organization_id, "contributor").page()

    assert member.status_code == 200
    for page in (member, admin.page()):
        assert "Title of insecure_tls" in page.text
        assert "The way out" in page.text
        assert "All of them are advice." in page.text
    assert "<select" not in member.text
    assert '<option value="warning" selected>Warning (default)</option>' in admin.page().text


def test_what_an_admin_saves_counts_and_rules_stay(admin: Browser, organization_id: str) -> None:
    before = StoredPolicies()
    by = Principal("user", "usr_x", "bob@example.com")
    store.save(organization_id, before, before.changed(PolicyChoices(rules=[RULE]), by, clock.now()))
    answer = admin.save(
        admin.page().text,
        severity__insecure_tls="error",
        severity__plain_http="warning",
        strict__insecure_tls="yes",
        requires__policies="yes",
        requires__tests="yes",
    )
    saved = store.get(organization_id).settings

    assert (answer.status_code, answer.headers["location"]) == (303, admin.path)
    assert saved == PolicyChoices({"insecure_tls": "error"}, ["insecure_tls"], [RULE], ["policies", "tests"])
    page = admin.page().text
    assert '<option value="error" selected>Error</option>' in page
    assert "Versions with errors of policies are not published" in page
    assert "Versions without evidence that their tests passed are not published" in page
    assert page.count(" checked>") == 3
    assert "Send it &lt;b&gt;somewhere&lt;/b&gt;" in page
    assert "<b>" not in page


def test_a_change_by_somebody_else_is_not_overwritten(admin: Browser, organization_id: str) -> None:
    shown = admin.page().text
    assert admin.save(shown, severity__plain_http="error").status_code == 303
    late = admin.save(shown, severity__insecure_tls="error")

    assert late.status_code == 412
    assert "Somebody changed the policies meanwhile" in late.text
    assert store.get(organization_id).settings.severities == {"plain_http": "error"}


def test_only_admins_may_save(admin: Browser, organization_id: str) -> None:
    member = Browser(organization_id, "contributor")
    csrf = re.search(r'name="csrf" value="([0-9a-f]{32})"', member.page().text)
    assert csrf is not None
    answer = member.http.post(member.path, data={"csrf": csrf[1], "etag": "*", "severity.insecure_tls": "off"})

    assert answer.status_code == 403
    assert store.get(organization_id).revision == 0


def test_an_outage_is_a_page(admin: Browser, engine: Engine) -> None:
    engine.answers["policy_list"] = CheckerBusy("busy")
    page = admin.page()

    assert page.status_code == 503
    assert "the policies are not known" in page.text
