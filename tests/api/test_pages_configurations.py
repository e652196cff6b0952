"""The pages with the lists of configurations and of test runs, and the forms that archive, restore and delete."""

import re
from dataclasses import dataclass

import pytest

from configurations.app import app as configurations_app
from headgate.checker import verdicts
from headgate.foundation import clock
from headgate.foundation.settings import settings
from headgate.runs import store
from headgate_engine.validation.model import ValidationResult
from testing.app import app as app_of_runs
from tests.support import configurations as cfg
from tests.support.fleet_of_agents import Fleet, ann, fleet, now
from tests.support.in_process import TestClient
from tests.support.members import API, Member
from tests.support.page_visitor import member_at, send_form
from tests.support.runs import queued

__all__ = ["ann", "fleet", "now"]
HOSTILE = "<b>\u202e&"


@dataclass
class Pages:
    """What a contributor sees, who is a person of the organization and owns nothing."""

    http: TestClient
    home: str

    def shown(self, path: str) -> str:
        answer = self.http.get(f"{self.home}/{path}")
        assert answer.status_code == 200, answer.text
        return answer.text


@pytest.fixture
def pages(ann: Member) -> Pages:
    return Pages(member_at(configurations_app, ann.organization_id), f"/organizations/{ann.organization_id}")


@pytest.fixture
def run_pages(ann: Member) -> Pages:
    return Pages(member_at(app_of_runs, ann.organization_id), f"/organizations/{ann.organization_id}")


def published(member: Member, name: str, yaml: str = cfg.YAML) -> str:
    configuration_id = cfg.create(member, name, yaml)
    assert cfg.publish(member, configuration_id).status_code == 200
    return configuration_id


def seen(member: Member, yaml: str, *, valid: bool) -> None:
    """Somebody checked the text."""
    found = ValidationResult(valid, settings().collector_version, "otelcol-contrib", (), (), ())
    verdicts.remember(member.organization_id, yaml, found)


def rows(page: str) -> dict[str, str]:
    """The rows of the list by the configuration's name."""
    found = re.findall(r"<tr><td><a [^>]*><strong>(.*?)</strong>(.*?)</tr>", page, re.DOTALL)
    return dict(found)


def test_the_list_shows_owner_versions_and_where_each_runs(ann: Member, fleet: Fleet, pages: Pages) -> None:
    fleet.assign(1)
    agent = fleet.agent()
    agent.start()
    agent.applies()
    configuration_id = published(ann, HOSTILE)
    cfg.append(ann, configuration_id, "a: 2")
    listed = rows(pages.shown("configurations"))

    assert "ann" in listed["Edge"]
    assert "Default</a> of Edge: version 1" in listed["Edge"]
    assert "1 of 1 collector runs it" in listed["Edge"]
    hostile = listed["<bdi>&lt;b&gt;\u202e&amp;</bdi>"]
    assert "nowhere" in hostile
    assert re.search(r'>1 <span class="tag good">published', hostile)


def test_validity_is_green_only_if_the_collector_was_seen_to_accept_this_text(ann: Member, pages: Pages) -> None:
    for name, valid in (("Valid", True), ("Broken", False), ("Unchecked", None)):
        published(ann, name, f"# {name}\n")
        if valid is not None:
            seen(ann, f"# {name}\n", valid=valid)
    listed = rows(pages.shown("configurations"))

    assert '<span class="tag good">valid</span>' in listed["Valid"]
    assert '<span class="tag bad">0 errors</span>' in listed["Broken"]
    assert '<span class="tag ">not checked</span>' in listed["Unchecked"]


def test_the_list_is_searched_by_text_component_and_state(ann: Member, pages: Pages) -> None:
    published(ann, "Batch", "processors: {batch: {}}\n")
    archived = published(ann, "Archived", "# batch\n")
    assert ann.http.post(f"{API}/configurations/{archived}/archive").status_code == 200

    assert [*rows(pages.shown("configurations?text=BATCH"))] == ["Batch"]
    assert [*rows(pages.shown("configurations?component=batch&archived=all"))] == ["Batch"]
    assert [*rows(pages.shown("configurations?archived=true"))] == ["Archived"]
    assert "No configuration matches" in pages.shown("configurations?text=nowhere")


def owner(pages: Pages, name: str = "Mine") -> str:
    """A configuration of the person's own, and its page."""
    headers = {"X-Service-Org": pages.home.rpartition("/")[2]}
    csrf = re.search(r'data-csrf="([^"]+)"', pages.shown("configurations"))
    assert csrf is not None
    made = pages.http.post(
        "/api/v1/app/public/configurations",
        json={"name": name, "yaml": cfg.YAML},
        headers={**headers, "X-CSRF-Token": csrf[1], "Origin": "https://testserver"},
    )
    assert made.status_code == 201, made.text
    return f"{pages.home}/configurations/{made.json()['id']}"


def test_a_draft_is_renamed_archived_restored_and_deleted_in_its_settings_only(pages: Pages) -> None:
    page = owner(pages)
    settings_page = f"{page}/settings"
    for place in ("", "/versions"):
        assert "Archive this configuration" not in pages.http.get(f"{page}{place}").text

    named = {"name": "Edge <b>", "description": "What it is for"}
    assert send_form(pages.http, page, "/settings", **named).headers["location"] == settings_page
    shown = pages.http.get(page).text
    assert "<h1>Edge &lt;b&gt; " in shown
    assert "What it is for" in shown
    refused = send_form(pages.http, page, "/settings", name=" ", description="stays")
    assert refused.status_code == 422
    assert 'id="name-error"' in refused.text
    assert "stays</textarea>" in refused.text

    for act, offered in (("archive", "Restore this configuration"), ("restore", "Archive this configuration")):
        assert send_form(pages.http, page, f"/{act}").headers["location"] == settings_page
        assert offered in pages.http.get(settings_page).text

    assert send_form(pages.http, page, "/delete").headers["location"] == f"{pages.home}/configurations"
    assert pages.http.get(page).status_code == 404


def test_each_tab_of_a_configuration_is_a_page_with_the_same_heading(
    ann: Member, pages: Pages, run_pages: Pages
) -> None:
    configuration_id = published(ann, "Edge")
    run = queued(ann, published=True, configuration_id=configuration_id, version_number=1, target_pipeline="logs")
    there = queued(ann, published=True, configuration_id=published(ann, "Core"), version_number=1)
    path = f"configurations/{configuration_id}"
    tabs = {
        "": pages.shown(path),
        "/versions": pages.shown(f"{path}/versions"),
        "/tests": run_pages.shown(f"{path}/tests"),
        "/runs": run_pages.shown(f"{path}/runs"),
    }
    for place, shown in tabs.items():
        assert f'href="{pages.home}/{path}{place}" aria-current="page"' in shown
        assert '<h1>Edge <span class="tag good">version 1 published</span>' in " ".join(shown.split())
        # Whoever may not change it has no settings.
        assert f"{path}/settings" not in shown
    assert run.id in tabs["/runs"]
    assert there.id not in tabs["/runs"]
    assert "Only its owner or an Admin" in pages.http.get(f"{pages.home}/{path}/settings").text


def test_versions_are_sorted_by_the_heads_of_their_table(ann: Member, pages: Pages) -> None:
    configuration_id = published(ann, "Edge")
    for n in (2, 3):
        cfg.append(ann, configuration_id, f"a: {n}")
        cfg.publish(ann, configuration_id, n)
    path = f"configurations/{configuration_id}/versions"

    def listed(query: str) -> list[str]:
        return re.findall(r"<strong>Version (\d+)", pages.shown(f"{path}{query}"))

    assert [listed(""), listed("?sort=n"), listed("?sort=-n")] == [["3", "2", "1"], ["1", "2", "3"], ["3", "2", "1"]]
    assert '<th scope="col" aria-sort="ascending"' in pages.shown(f"{path}?sort=n")
    assert "3 versions" in pages.shown(path)
    assert listed("?sort=nothing") == ["3", "2", "1"]
    # The browser refuses other numbers, for which there is no page.
    compared = re.findall(r'<input (id="(?:from|to)".*?)>', pages.shown(f"configurations/{configuration_id}/compare"))
    assert [re.findall(r'(?:type|min|max|value)="(\w+)"', field) for field in compared] == [
        ["number", "1", "3", "2"],
        ["number", "1", "3", "3"],
    ]


def test_the_page_of_a_configuration_in_use_says_what_uses_it(ann: Member, fleet: Fleet, pages: Pages) -> None:
    page = owner(pages)
    configuration_id = page.rpartition("/")[2]
    csrf = re.search(r'data-csrf="([^"]+)"', pages.http.get(page).text)
    assert csrf is not None
    headers = {"X-Service-Org": ann.organization_id, "X-CSRF-Token": csrf[1], "Origin": "https://testserver"}
    made = pages.http.post(f"/api/v1/app/public/configurations/{configuration_id}/versions/1/publish", headers=headers)
    assert made.status_code == 200, made.text
    fleet.change(configuration_id=configuration_id, version_number=1)
    refused = send_form(pages.http, page, "/archive")

    assert refused.status_code == 409
    assert "the group Default of the fleet Edge is assigned version 1" in refused.text
    assert "Delete this configuration" not in refused.text


def test_somebody_else_sees_where_it_runs_and_no_forms(ann: Member, fleet: Fleet, pages: Pages) -> None:
    fleet.assign(1)
    shown = pages.shown(f"configurations/{fleet.configuration_id}")

    assert "<strong>Default</strong>" in shown
    assert "version 1" in shown
    assert "none reports" in shown
    assert "Archive this configuration" not in shown


def test_runs_are_listed_with_their_reason_and_a_way_to_use_the_sample_again(ann: Member, run_pages: Pages) -> None:
    configuration_id = published(ann, HOSTILE)
    run = queued(ann, published=True, configuration_id=configuration_id, version_number=1, target_pipeline="logs/<a>")
    store.update(run.fail("it broke <here>\nmore", clock.now()))
    shown = run_pages.shown("runs")

    assert "it broke &lt;here&gt;" in shown
    assert f"/configurations/{configuration_id}/versions/1/run?run={run.id}" in shown
    assert "&lt;b&gt;\u202e&amp;" in shown
    assert "logs/&lt;a&gt;" in shown
    assert run.id in run_pages.shown(f"runs?status=Error&configuration_id={configuration_id}")
    assert run.id not in run_pages.shown("runs?status=Fail")


def test_a_run_of_anothers_draft_is_not_listed_and_an_empty_list_says_what_to_do(ann: Member, run_pages: Pages) -> None:
    queued(ann, configuration_id=cfg.create(ann, "Secret"), version_number=1)
    shown = run_pages.shown("runs")

    assert "Secret" not in shown
    assert "None yet" in shown


def test_runs_are_filtered_by_the_name_of_their_configuration(ann: Member, run_pages: Pages) -> None:
    made = cfg.create(ann, "<i>Shop</i>")
    cfg.publish(ann, made)
    run = queued(ann, configuration_id=made, version_number=1, published=True)
    found = run_pages.shown("runs?configuration=%3Ci%3EShop%3C/i%3E")

    assert run.id in found
    assert 'value="&lt;i&gt;Shop&lt;/i&gt;"' in found
    assert "<i>Shop" not in found


@pytest.mark.parametrize("wrong", ["configuration_id=cfg_1", "configuration=%3Ci%3Enobodys"])
def test_a_name_of_no_configuration_is_told_at_its_field(run_pages: Pages, wrong: str) -> None:
    answer = run_pages.http.get(f"{run_pages.home}/runs?{wrong}")

    assert answer.status_code == 422
    assert 'id="configuration-error">No configuration among those that you see has this name' in answer.text
    assert "<i>" not in answer.text
