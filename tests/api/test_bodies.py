"""Bodies that are not the UTF-8 text of JSON."""

import pytest

from headgate.foundation import clock
from headgate.identity import sessions
from tests.support.page_visitor import Person, ada, browser

__all__ = ["ada"]


HALF = r"\ud83d"
PUBLIC = "/api/v1/public"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (f"{PUBLIC}/configurations", '{"name": "x", "yaml": "a: b", "collector_distribution": "HALF"}'),
        (f"{PUBLIC}/configurations", '{"name": "HALF", "yaml": "a: b"}'),
        (f"{PUBLIC}/configurations", '{"name": "x", "yaml": "a: b", "HALF": 1}'),
        (
            f"{PUBLIC}/testing/runs",
            '{"yaml": "a", "sample": {"HALF": 1}, "signal_type": "logs", "target_pipeline": "logs", '
            '"rules": [{"name": "n", "condition": "true"}]}',
        ),
        (f"{PUBLIC}/ottl/lint", '{"context": "log", "conditions": ["HALF"]}'),
        ("/api/v1/app/service-accounts", '{"name": "HALF"}'),
    ],
)
def test_half_a_character_is_refused_wherever_it_stands(path: str, body: str, ada: Person) -> None:
    _, value = sessions.begin(ada.user, "cli", clock.now(), ada.organization_id)
    headers = {"Authorization": f"Bearer {value}", "X-Service-Org": ada.organization_id}
    headers["Content-Type"] = "application/json"

    answer = browser().post(path, content=body.replace("HALF", HALF).encode(), headers=headers)

    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["body"]), answer.text


@pytest.mark.parametrize(
    "body",
    [
        b'{"name": "x", "yaml": "a: b", "collector_distribution": "\xed\xa0\xbd"}',
        rf'{{"name": "x", "yaml": "a: b", "collector_distribution": "{HALF}"}}'.encode("utf-16"),
        rf'{{"name": "x", "yaml": "a: b", "collector_distribution": "{HALF}"}}'.encode("utf-32-le"),
        b'{"name": "\xff", "yaml": "a: b"}',
    ],
)
def test_a_body_is_in_utf8(body: bytes, ada: Person) -> None:
    _, value = sessions.begin(ada.user, "cli", clock.now(), ada.organization_id)
    headers = {"Authorization": f"Bearer {value}", "X-Service-Org": ada.organization_id}

    answer = browser().post(
        f"{PUBLIC}/configurations", content=body, headers={**headers, "Content-Type": "application/json"}
    )

    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["body"]), answer.text


def test_both_halves_of_a_character_are_a_text(ada: Person) -> None:
    _, value = sessions.begin(ada.user, "cli", clock.now(), ada.organization_id)
    headers = {"Authorization": f"Bearer {value}", "X-Service-Org": ada.organization_id}
    headers["Content-Type"] = "application/json"
    body = rf'{{"name": "{HALF}\ude00 \\ud83d", "yaml": "a: b"}}'

    answer = browser().post(f"{PUBLIC}/configurations", content=body.encode(), headers=headers)

    assert (answer.status_code, answer.json()["name"]) == (201, r"😀 \ud83d")
