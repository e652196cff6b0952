"""However long the texts on them are, no page is wider than the screen."""

import os
import re
from collections.abc import Iterator

import pytest

from configurations.app import router as configurations_router
from fleets.app import routers as fleets_routers
from headgate import checker
from headgate.captures import service as captures
from headgate.captures.model import Redaction
from headgate.deployments import mounts, variables
from headgate.deployments.model import VolumeMount
from headgate.events.model import EVENT_TYPES
from headgate.flows import publish
from headgate.foundation import clock
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.foundation.settings import settings
from headgate.identity import member_store, sessions
from headgate.identity import service as identity
from headgate.identity.model import Member as Membership
from headgate.identity.model import User
from headgate.runs.rules import store as rules
from headgate.runs.rules.model import RuleSet, StoredRule
from headgate.webhooks import service as webhooks
from headgate.webhooks.service import WebhookSettings
from headgate_engine.rules.model import Rule
from headgate_local.options import read_options
from headgate_opamp import opamp_pb2 as wire
from tests.support import configurations as cfg
from tests.support.chromium import chromium
from tests.support.faults.every_page import HERE, PAGES
from tests.support.fleet_of_agents import API, make_fleet
from tests.support.in_process import TestClient
from tests.support.members import JoinWith
from tests.support.page_visitor import SESSION, site
from tests.support.service import ROOT

pytestmark = pytest.mark.end_to_end

COLLECTORS = read_options(os.environ).collectors
NAME = "x" * 200
LINE = "cannot-bind-to-the-address-" * 90
MESSAGE = f"{LINE}\n{LINE}\n  * error decoding 'exporters': {LINE}"
PIPELINE = f"logs/{'p' * 200}"
TEXT = f"""\
receivers: {{nop: }}  # {LINE}
exporters: {{nop: }}
service: {{pipelines: {{{PIPELINE}: {{receivers: [nop], exporters: [nop]}}}}}}
"""
# Cells of tables that are lower than what is in them, which then lies over the next one.
_LOW = """\
[...document.querySelectorAll("td")].filter(({scrollHeight, clientHeight}) => scrollHeight > clientHeight + 2).length"""
# Links and buttons at the end of a row that a narrow column breaks into letters.
_BROKEN = """\
[...document.querySelectorAll("td.end :is(a, button)")].filter(link => link.getClientRects().length > 2).length"""
# Those that somebody who is signed in finds in the organization; a table of all pages that a test keeps whole.
OF_AN_ORGANIZATION = {
    row.endpoint.partition(" ")[2]: row.ids for row in PAGES if row.endpoint.startswith(f"GET {HERE}")
}


@pytest.fixture(autouse=True)
def _no_checker_left() -> Iterator[None]:
    """The next test's is made with its own settings."""
    yield
    checker.close()


@pytest.fixture
def ids(join: JoinWith, organization_id: str, fleets_without_collector: None) -> dict[str, str]:
    """An organization in which every text is as long as it may be; `session` is that of an Admin of it."""
    user = User(new_id("usr"), f"{new_id('usr')}{'a' * 34}@{'b' * 63}.{'c' * 63}.example", clock.now())
    member_store.put_user(user)
    principal = Principal("user", user.id, user.email)
    member_store.add_user(Membership(organization_id, principal, "admin", "active", clock.now()))
    session, value = sessions.begin(user, "browser", clock.now())
    caller = sessions.caller(session, organization_id)
    account = identity.create_service_account(organization_id, NAME)
    token, _ = identity.create_token(organization_id, account.id, name=NAME, access="read")

    ann = join([*fleets_routers, configurations_router], NAME)
    fleet = make_fleet(ann, label=NAME)
    long = cfg.create(ann, NAME, TEXT, description="d" * 2_000)
    assert cfg.publish(ann, long).status_code == 200
    stored = StoredRule(new_id("rul"), api_owned=False, rule=Rule("r" * 200, f"log.body == {LINE!r}", "log", "any"))
    rules.save(long, 1, RuleSet(PIPELINE, NAME, "logs", (stored,), 1))
    fleet.change(name=NAME, configuration_id=long, version_number=1)
    variables.change(caller, fleet.id, fleet.deployment_id, {"V" * 200: "v" * 4_000}, {"S" * 200: "s"})
    captures.change_redaction(caller, Redaction(("credentials",), (), ("k" * 200,)))
    mounts.add(caller, fleet.id, fleet.deployment_id, VolumeMount(f"/{'h' * 900}", f"/{'m' * 900}"))
    for state in (wire.RemoteConfigStatuses_FAILED, wire.RemoteConfigStatuses_APPLYING):
        agent = fleet.agent(host_name="h" * 255)
        agent.start()
        agent.report(state, MESSAGE)
    observed = make_fleet(ann, label=NAME[:-1] + "y", mode="observed")
    observed.agent(host_name="h" * 255).start()
    started = ann.http.post(
        f"{API}/fleets/{fleet.id}/deployments/{fleet.deployment_id}/rollouts",
        json={"version_number": 1, "message": "w" * 1_000},
    )
    assert started.status_code == 201, started.text
    response = ann.http.patch(f"{API}/configurations/{long}", json={"name": NAME[:-1] + "y"})
    assert response.status_code == 200, response.text
    host = f"https://{'.'.join(['h' * 63] * 3)}.example.com/"
    webhook, _ = webhooks.create(caller, WebhookSettings(NAME, host, types=EVENT_TYPES, fleet_ids=[fleet.id]))
    webhooks.send_test(caller, webhook.id, host)
    publish.upload(publish.build(ROOT / "flows"), settings().bucket)
    return {
        "organization_id": organization_id,
        "webhook_id": webhook.id,
        "configuration_id": long,
        "n": "1",
        "fleet_id": fleet.id,
        "deployment_id": fleet.deployment_id,
        "instance_id": str(fleet.instances()[0]["id"]),
        "observed_fleet_id": observed.id,
        "observed_instance_id": str(observed.instances()[0]["id"]),
        "rollout_id": started.json()["id"],
        "service_account_id": account.id,
        "token_id": token.id,
        "session": value,
        # The one with the longest names of settings, and many of them.
        "kind": "receiver",
        "slug": "multi-tenant-routing",
        "type": "filelog",
    }


@pytest.fixture
def with_collector(ids: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages of the reference need the one that what `ids` assigns does without."""
    monkeypatch.setenv("HEADGATE_COLLECTORS_DIR", str(COLLECTORS))
    settings.cache_clear()
    checker.close()


def test_no_page_scrolls_sideways(ids: dict[str, str], with_collector: None) -> None:
    of_version = {"configuration_id": ids["configuration_id"], "version_number": "1"}
    with TestClient(site(), base_url="https://testserver", cookies={SESSION: ids["session"]}) as http:
        shown = {
            path: http.get(
                path.format_map({**ids, **{name: ids.get(value, value) for name, value in own.items()}}),
                params={"pipeline": PIPELINE, "place": "transform/log", **of_version},
            )
            for path, own in OF_AN_ORGANIZATION.items()
        }
        style = http.get("/style.css").text
    assert {path: answer.status_code for path, answer in shown.items() if answer.status_code != 200} == {}
    assert len(shown) >= 12
    # A reader sees code as code; what is quoted from elsewhere stands in `pre`.
    outside = {path: re.sub(r"<pre.*?</pre>", "", answer.text, flags=re.DOTALL) for path, answer in shown.items()}
    ticks = {path: re.findall(r">([^<]*`[^<]*)<", text) for path, text in outside.items()}
    assert {path: texts for path, texts in ticks.items() if texts} == {}
    assert "cannot-bind-to-the-address" in shown[f"{HERE}/fleets/{{fleet_id}}/collectors"].text
    # A browser has an event loop of its own, beside which no page can be made in this thread.
    with chromium() as browser:
        for width in (390, 1280):
            opened = browser.new_context(viewport={"width": width, "height": 844}).new_page()
            widths: dict[str, int] = {}
            over: dict[str, int] = {}
            broken: dict[str, int] = {}
            for path, answer in shown.items():
                opened.set_content(re.sub("<link[^>]*>", lambda _: f"<style>{style}</style>", answer.text))
                widths[path] = opened.evaluate("document.documentElement.scrollWidth")
                over[path] = opened.evaluate(_LOW)
                broken[path] = opened.evaluate(_BROKEN)
            assert {path: found for path, found in widths.items() if found > width} == {}
            assert {path: cells for path, cells in over.items() if cells} == {}
            assert {path: links for path, links in broken.items() if links} == {}
