"""The record of changes by person, object and time: over the application's API, and on its page."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from application.app import app
from headgate.audit import service as audit
from headgate.audit import store
from headgate.audit.model import AuditRecord
from headgate.foundation.ids import new_id
from headgate.foundation.principal import Principal
from headgate.identity import sessions
from headgate.storage import table
from tests.support.in_process import TestClient
from tests.support.organization_members import APP, Browser, ada, con
from tests.support.page_visitor import SESSION, SITE
from tests.support.world import joined

__all__ = ["ada", "con"]

SCRIPT: Final = "<script>alert(1)</script>"
BEGAN: Final = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
FLEET: Final = "fleets/flt_01m82fxexdenr8htg56g9pvgky"


def put(ada: Browser, number: int, by: str, target: str, **details: str) -> None:
    actor = Principal("user", f"usr_{by}", f"{by}@example.com")
    at = BEGAN + timedelta(hours=number)
    audit_id = new_id("aud", at)
    name = actor.name
    record = AuditRecord(audit_id, ada.organization_id, at, actor, "ses_x", name, "fleet.created", target, details)
    table.write(store.put(record))


@pytest.fixture
def recorded(ada: Browser) -> Browser:
    """Six changes, one an hour, by two people, of three objects."""
    for number in range(6):
        put(ada, number, ("ann", "bob")[number % 2], f"{FLEET}{number % 3}", name=f"Fleet {number % 3} {SCRIPT}")
    return ada


def hours(ada: Browser, **filters: str) -> list[int]:
    """The hours of the changes that the API lists, page by page."""
    found: list[int] = []
    cursor: str | None = ""
    while cursor is not None:
        more = {"cursor": cursor} if cursor else {}
        answer = ada.app.get(f"{APP}/changes", params={"limit": "2", **filters, **more})
        assert answer.status_code == 200, answer.text
        found += [datetime.fromisoformat(one["at"]).hour - 12 for one in answer.json()["items"]]
        cursor = answer.json()["next_cursor"]
    return found


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, [5, 4, 3, 2, 1, 0]),
        ({"by": "ANN"}, [4, 2, 0]),
        ({"by": "usr_bob"}, [5, 3, 1]),
        ({"about": "fleet 1"}, [4, 1]),
        ({"about": f"{FLEET}2"}, [5, 2]),
        ({"by": "bob", "about": "fleet 1"}, [1]),
        ({"since": "2026-11-01T14:00:00Z"}, [5, 4, 3, 2]),
        ({"until": "2026-11-01T14:00:00Z"}, [1, 0]),
        ({"since": "2026-11-01T13:00:00Z", "until": "2026-11-01T15:00:00Z", "by": "bob"}, [1]),
        ({"by": "carl"}, []),
    ],
)
def test_changes_are_listed_by_person_object_and_time(
    recorded: Browser, filters: dict[str, str], found: list[int]
) -> None:
    assert hours(recorded, **filters) == found


def test_a_page_looks_through_a_bounded_number_of_records(recorded: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "_MOST_READ", 2)
    first = recorded.app.get(f"{APP}/changes", params={"about": f"{FLEET}0"}).json()

    assert first["items"] == []
    assert first["next_cursor"] is not None
    assert hours(recorded, about=f"{FLEET}0") == [3, 0]


@pytest.mark.parametrize("query", [{"since": "yesterday"}, {"by": ""}, {"about": "x" * 255}])
def test_a_wrong_filter_is_named(recorded: Browser, query: dict[str, str]) -> None:
    answer = recorded.app.get(f"{APP}/changes", params=query)

    assert answer.status_code == 422
    assert [one["loc"] for one in answer.json()["errors"]] == [["query", *query]]


@pytest.fixture
def page(recorded: Browser) -> TestClient:
    _, value = sessions.begin(joined(recorded.organization_id, "admin"), "browser", datetime.now(UTC))
    return TestClient(app, base_url=f"{SITE}/organizations/{recorded.organization_id}", cookies={SESSION: value})


def test_the_page_filters_links_and_escapes(page: TestClient) -> None:
    shown = page.get("changes", params={"by": "ann", "since": "2026-11-01T13:00"}).text

    assert "2 changes" in shown
    assert f'/{FLEET}2" title="{FLEET}2">Fleet 2 &lt;script&gt;' in shown
    assert SCRIPT not in shown
    assert 'value="2026-11-01T13:00"' in shown
    oldest = page.get("changes", params={"by": "ann", "since": "2026-11-01T13:00", "sort": "at"}).text
    fleets = re.compile(f'title="({FLEET}[0-9])"')
    assert fleets.findall(oldest) == fleets.findall(shown)[::-1] != []


def test_a_version_is_named_by_its_configuration(ada: Browser, page: TestClient) -> None:
    put(ada, 7, "ann", "configurations/cfg_01m82fxexdenr8htg56g9pvgky/versions/2", name="Shop")

    assert ">Shop version 2</a>" in page.get("changes", params={"about": "shop"}).text


def test_the_page_tells_what_was_so_before(recorded: Browser, page: TestClient, con: Browser) -> None:
    recorded.app.patch(f"{APP}/members/{con.user.id}", json={"role": "admin"})
    recorded.app.patch(f"{APP}/organization", json={"name": f"Renamed {SCRIPT}"})
    shown = page.get("changes").text

    assert "role: contributor → admin" in shown
    assert "→ Renamed &lt;script&gt;" in shown


def test_a_wrong_time_is_told_at_its_field(page: TestClient) -> None:
    answer = page.get("changes", params={"until": "tomorrow"})

    assert answer.status_code == 422
    assert 'id="until-error">Give a time in UTC' in answer.text
