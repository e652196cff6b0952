"""What Slack and PagerDuty get of a message, and the example of docs/webhooks.md, which has to take what we send."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from headgate.events.model import EVENT_TYPES
from headgate.webhooks import bodies, signing

PAGE = Path(__file__).parents[2] / "docs" / "webhooks.md"
FLEET = {"id": "flt_1", "name": "prod <!channel>", "link": "https://headgate.example/f"}


def document(kind: str = "instance.stale", count: int = 12, **data: Any) -> dict[str, Any]:
    items = [{"instance": {"id": f"ins_{n}", "name": f"web-{n} & co"}} for n in range(min(count, 10))]
    whole = {"link": "https://headgate.example/f", "count": count, "items": items, "fleet": FLEET, **data}
    return {"id": "evt_1", "type": kind, "time": "2026-11-22T17:00:00.000Z", "data": whole}


def slack(**of: Any) -> str:
    body, content_type = bodies.body("slack", document(**of), "")
    assert content_type == "application/json"
    text: str = json.loads(body)["text"]
    return text


def pager(**of: Any) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(bodies.body("pagerduty", document(**of), "planted-key")[0])
    return event


def test_slack_gets_a_line_for_each_that_is_listed_and_the_number_of_the_others() -> None:
    lines = slack().splitlines()

    assert lines[0] == "*<https://headgate.example/f|12 hosts are stale in fleet prod &lt;!channel&gt;>*"
    assert lines[1] == "• web-0 &amp; co"
    assert (len(lines), lines[-1]) == (12, "… and 2 more")


def test_a_name_calls_nobody_and_is_not_a_link() -> None:
    named = {"configuration": {"id": "cfg_1", "name": "<!here> <https://evil.example|click>"}, "version_number": 3}
    text = slack(kind="configuration.published", count=1, items=[named])

    assert "<!" not in text
    assert text.count("<") == 1
    assert "click&gt; v3" in text


def test_a_hosts_name_makes_no_further_line_and_turns_none_around() -> None:
    named = {"instance": {"id": "ins_1", "name": "web-1\n*All hosts are well*\u202e\u2028"}}

    assert slack(count=1, items=[named]).splitlines()[1:] == ["• web-1 *All hosts are well* "]
    assert pager(count=1, items=[named])["payload"]["summary"].isprintable()


def test_a_fleet_that_was_deleted_meanwhile_is_named_by_its_id() -> None:
    gone = {"id": "flt_1", "link": FLEET["link"]}

    assert "12 hosts are stale in fleet flt_1" in slack(fleet=gone)
    assert pager(fleet=gone)["payload"]["summary"].startswith("12 hosts are stale in fleet flt_1")


def test_pagerduty_gets_an_event_with_the_key_and_a_summary_that_fits() -> None:
    items = [{"instance": {"id": "ins_1", "name": "w" * 3_000}}]
    event = pager(count=1, items=items)

    assert (event["routing_key"], event["event_action"], event["dedup_key"]) == ("planted-key", "trigger", "evt_1")
    assert event["payload"]["severity"] == "error"
    assert len(event["payload"]["summary"]) == 1_024
    assert event["links"] == [{"href": "https://headgate.example/f", "text": "Open in Headgate"}]


@pytest.mark.parametrize("kind", EVENT_TYPES)
@pytest.mark.parametrize("count", [1, 2])
def test_every_type_has_words_for_one_and_for_several(kind: str, count: int) -> None:
    one = {"at": "2026-11-22T17:00:00.000Z", "figures": {"tests": 3}, "reason": "Because"}

    assert slack(kind=kind, count=count, items=[one] * count).startswith("*<https://headgate.example/f|")
    assert pager(kind=kind, count=count, items=[one] * count)["payload"]["class"] == kind


def test_the_page_says_every_type() -> None:
    told = set(re.findall(r"`([a-z]+\.[a-z_]+)`", PAGE.read_text(encoding="utf-8").partition("## What is sent")[0]))

    assert told == set(EVENT_TYPES)


@pytest.fixture(scope="module")
def is_ours() -> Callable[..., bool]:
    """The function of the page, as a reader copies it."""
    (source,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(source, str(PAGE), "exec"), names)
    found: Callable[..., bool] = names["is_ours"]
    return found


def test_the_example_takes_what_is_sent_and_nothing_else(is_ours: Callable[..., bool]) -> None:
    old, new, other = (signing.new_secret() for _ in range(3))
    body, now = b'{"a": "\xc3\xa4"}', datetime.now(UTC)
    headers = signing.headers("evt_1", now, body, [new, old])

    assert is_ours(headers, body, new)
    assert is_ours(headers, body, old)
    assert not is_ours(headers, body, other)
    assert not is_ours(headers, body + b" ", new)
    assert not is_ours(headers | {"webhook-id": "evt_2"}, body, new)
    assert not is_ours(signing.headers("evt_1", now - timedelta(minutes=6), body, [new]), body, new)


def test_the_example_of_the_specification_has_our_signature() -> None:
    """github.com/standard-webhooks/standard-webhooks, spec: "Signature scheme"."""
    at = datetime.fromtimestamp(1_614_265_330, UTC)
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    headers = signing.headers("msg_p5jXN8AQM9LWM0D4loKWxJek", at, b'{"test": 2432232314}', [secret])

    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
